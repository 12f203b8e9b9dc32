"""The page of metrics, in Prometheus' text format, with the names that Kafka dashboards know.

A JMX metric of Kafka, `kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec,topic=t`, becomes what the configuration that
Prometheus' jmx_exporter brings for Kafka in KRaft mode makes of it (Strimzi's is the same):
`kafka_server_brokertopicmetrics_messagesin_total{topic="t"}`. The rules:

| in JMX | here |
|---|---|
| `...PerSec`, attribute Count | name without PerSec, `_total`, a counter: take its `rate()` |
| a gauge's Value | the name, a gauge |
| a histogram's `99thPercentile` and Count | the name with `quantile="0.99"`, and `_count`: a summary (0.50, 0.75, 0.95, 0.98, 0.99, 0.999) |
| `...Percent` of the idle meters | `..._percent`, from 0 to 1 |
| other properties of the name (topic, request, version, error, listener...) | labels of the same name |

Which there are stands in `docs/reference/metrics.md`, which `python -m barnabas.reference` makes of a page. Numbers that cannot be other than 0 or 1 on one node are told all the same: alerts compare them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from time import monotonic
from typing import TYPE_CHECKING

from prometheus_client.exposition import generate_latest
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from barnabas.kernel.build_info import build_info
from core_broker.metrics.loop_share import LoopShare
from core_broker.metrics.partition_families import partition_families
from core_broker.metrics.quota_families import quota_families
from core_broker.metrics.state_families import (
    controller_families,
    group_families,
    log_families,
    metadata_families,
    network_families,
    purgatory_families,
    replica_families,
    transaction_families,
)
from core_broker.metrics.traffic_families import request_families, topic_families

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from core_broker.broker import Broker
    from core_broker.commit import GroupCommit
    from core_broker.server import Server


class Exposition:
    """Collects on the event loop, which owns every number, with a pause after each family; another thread writes the text."""

    def __init__(self, broker: Broker, server: Server, commits: GroupCommit, *, per_partition: bool) -> None:
        self._broker = broker
        self._server = server
        self._commits = commits
        self._per_partition = per_partition
        self._share = LoopShare()
        self._process = ProcessCollector(registry=None)

    async def page(self) -> bytes:
        families = []
        for family in self._families():
            if family is not None:
                families.append(family)
            await asyncio.sleep(0)
        return await self._broker.loop.run_in_executor(None, _text, families)

    def _families(self) -> Iterator[Metric | None]:
        broker, server = self._broker, self._server
        now_s = monotonic()
        yield build_info()
        yield from controller_families(broker)
        yield from metadata_families(broker, now_s)
        yield from replica_families(broker)
        yield from topic_families(broker)
        if server.observer is not None:
            yield from request_families(broker, server.dispatcher, server.observer, now_s)
        yield from network_families(broker, server, self._share.idle())
        yield from purgatory_families(broker)
        yield from log_families(broker, self._commits, now_s)
        yield from group_families(broker)
        yield from transaction_families(broker)
        yield from quota_families(broker.quotas)
        if self._per_partition:
            yield from partition_families(broker)
        yield from self._process.collect()


class _Families(Collector):
    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> list[Metric]:
        return self._families


def _text(families: list[Metric]) -> bytes:
    return generate_latest(_Families(families))
