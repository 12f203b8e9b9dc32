"""The metrics of quotas: what each client that has one uses, and its pauses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from core_broker.metrics.families import Sample, counters, gauges
from core_broker.quotas.client_quotas import ClientQuotas, ClientUsage

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

_QUOTA: Final = "kafka_server_quota_"


def quota_families(quotas: ClientQuotas) -> Iterator[Metric]:
    now_ms = quotas.clock_ms()
    produce = list(quotas.produce.usage(now_ms))
    fetch = list(quotas.fetch.usage(now_ms))
    request = list(quotas.request.usage(now_ms))
    mutations = list(quotas.mutation_usage(now_ms))
    kinds = {"Produce": produce, "Fetch": fetch, "Request": request, "ControllerMutation": mutations}
    yield gauges(
        f"{_QUOTA}byte_rate",
        "Bytes per second of clients that have a quota.",
        [*_values("Produce", produce), *_values("Fetch", fetch)],
    )
    yield gauges(f"{_QUOTA}request_time", "Percent of the event loop's time.", _values("Request", request))
    yield gauges(
        f"{_QUOTA}tokens", "Partitions that may be created or deleted now.", _values("ControllerMutation", mutations)
    )
    yield gauges(
        f"{_QUOTA}throttle_time",
        "Average pause in milliseconds, of those that were not zero.",
        [
            (_labels(kind, usage), usage.throttled_ms / usage.throttled)
            for kind, usages in kinds.items()
            for usage in usages
            if usage.throttled
        ],
    )
    yield counters(
        f"{_QUOTA}throttles_total",
        "Pauses.",
        [(_labels(kind, usage), usage.throttled) for kind, usages in kinds.items() for usage in usages],
    )


def _values(kind: str, usages: Iterable[ClientUsage]) -> list[Sample]:
    return [(_labels(kind, usage), usage.value) for usage in usages]


def _labels(kind: str, usage: ClientUsage) -> dict[str, str]:
    return {"resource": kind, "user": usage.client.user, "clientId": usage.client.client_id}
