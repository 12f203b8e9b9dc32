"""Reads a page of metrics as Prometheus does."""

from __future__ import annotations

import http.client
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from prometheus_client.parser import text_string_to_metric_families

from tests.core_broker.faults.hosted_broker import HostedBroker

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

DEADLINE_S = 90

Series = tuple[str, frozenset[tuple[str, str]]]


class Page:
    def __init__(self, text: str) -> None:
        self.families: dict[str, Metric] = {family.name: family for family in text_string_to_metric_families(text)}
        self._values: dict[Series, float] = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in self.families.values()
            for sample in family.samples
        }

    def value(self, name: str, **labels: str) -> float | None:
        return self._values.get((name, frozenset(labels.items())))

    def names(self) -> set[str]:
        return {name for name, _ in self._values}

    def series(self, name: str) -> Iterator[Mapping[str, str]]:
        return (dict(labels) for own, labels in self._values if own == name)


def ask(
    port: int, method: str = "GET", path: str = "/metrics", headers: Mapping[str, str] | None = None
) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)
    try:
        connection.request(method, path, headers=dict(headers or {}))
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()


def port_of(hosted: HostedBroker) -> int:
    assert hosted.broker.metrics is not None
    return hosted.broker.metrics.port


def scrape(hosted: HostedBroker) -> Page:
    answer, body = ask(port_of(hosted))
    assert answer.status == 200, body
    return Page(body.decode())
