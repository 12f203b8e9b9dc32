"""One scheme of names for the metrics of all services. Those of the broker are Kafka's, as jmx_exporter makes them."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Iterator

import pytest
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import exposition
from prometheus_client.openmetrics import parser as open_metrics
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from barnabas.embedded.broker import EmbeddedBroker
from connect.http import task_metrics
from connect.tasks.spec import TaskId
from streams_sql.engine.metrics import EngineMetrics
from streams_sql.http import query_metrics
from tests.connect_service import ConnectProcess
from tests.deploy.test_files import TASK_FIGURES
from tests.ports import free_port
from tests.registry import RegistryProcess
from tests.rest import RestProcess

MORE_FIGURES = ("seconds-since-last-record", "source-record-poll-rate", "offset-commit-success-total", "running")
PREFIXES = ("schema_registry_", "rest_proxy_", "connect_", "streams_sql_", "barnabas_", "process_")
UNITS = ("seconds", "bytes")
OTHER_UNITS = re.compile(r"_(ms|millis|milliseconds|micros|us|minutes|kb|mb|kilobytes|megabytes)(_|$)")
LABELS = {"method", "route", "status", "le", "connector", "task", "query", "kind", "state", "view", "version"}
"""What is bounded by what somebody has made. A client's id, an address or a path would have values without end."""


class Families(Collector):
    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> list[Metric]:
        return self._families


def page(url: str) -> list[Metric]:
    with urllib.request.urlopen(f"{url}/metrics") as answer:
        return list(text_string_to_metric_families(answer.read().decode()))


@pytest.fixture(scope="module")
def told(
    registry: RegistryProcess, rest_service: RestProcess, connect_service: ConnectProcess
) -> dict[str, list[Metric]]:
    """The families of each service."""
    address = f"http://127.0.0.1:{free_port()}"
    with EmbeddedBroker({"metrics.listener": address}):
        broker = page(address)
    figures = {TaskId("c", 0): dict.fromkeys((*TASK_FIGURES, *MORE_FIGURES), 1.0)}
    return {
        "broker": broker,
        "registry": page(registry.url),
        "rest": page(rest_service.url),
        "connect": [*page(connect_service.url), *task_metrics.families(lambda: figures)()],
        "sql": list(query_metrics.families(EngineMetrics)()),
    }


def problems(family: Metric) -> Iterator[str]:
    name = family.name
    if not name.startswith(PREFIXES) or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        yield "it begins with the service and has lower case alone"
    if OTHER_UNITS.search(name):
        yield "times are in seconds, sizes in bytes"
    if any(f"_{unit}_" in name for unit in UNITS):
        yield "a unit stands at the end"
    if family.type != "counter" and name.endswith("_total"):
        yield "only counters end in _total"
    if family.type not in ("counter", "gauge", "histogram"):
        yield f"its type is {family.type}"
    strange = {label for sample in family.samples for label in sample.labels} - LABELS
    if strange:
        yield f"labels that nobody has bounded: {strange}"


def test_names_units_types_and_labels(told: dict[str, list[Metric]]) -> None:
    ours = [family for service, families in told.items() if service != "broker" for family in families]
    assert len(ours) > 60
    assert {family.name: found for family in ours if (found := list(problems(family)))} == {}


@pytest.mark.parametrize(
    "family",
    [
        Metric("other_things", "x", "gauge"),
        Metric("connect_wait_ms", "x", "gauge"),
        Metric("connect_seconds_since_x", "x", "gauge"),
        Metric("connect_x_total", "x", "gauge"),
        Metric("connect_x", "x", "untyped"),
    ],
    ids=lambda family: family.name,
)
def test_the_rules_find_what_breaks_them(family: Metric) -> None:
    assert list(problems(family))


def test_every_family_is_told_once_and_explained(told: dict[str, list[Metric]]) -> None:
    for service, families in told.items():
        names = [family.name for family in families]
        assert len(names) == len(set(names)), service
        assert [
            family.name for family in families if len(family.documentation.split()) < 2 and service != "broker"
        ] == []
        assert [family.name for family in families if not family.documentation] == []


def test_the_version_is_told_by_all(told: dict[str, list[Metric]]) -> None:
    for service in ("broker", "registry", "rest", "connect"):
        assert "barnabas_build_info" in [family.name for family in told[service]], service


@pytest.mark.parametrize("service", ["broker", "registry", "rest", "connect", "sql"])
def test_a_strict_reader_understands_them(told: dict[str, list[Metric]], service: str) -> None:
    """OpenMetrics' rules are the stricter ones: endings by type, no name within another's, labels in order."""
    text = exposition.generate_latest(Families(told[service])).decode()  # type: ignore[no-untyped-call]
    found = open_metrics.text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
    assert [family.name for family in found] == [family.name for family in told[service]]
