"""Every metric that a service tells, with its labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from barnabas.kernel.http.metrics import RequestMetrics
from barnabas.reference.broker_metrics import broker_families
from barnabas.reference.markdown import cell, code, page, table
from connect.http import task_metrics
from connect.tasks.spec import TaskId
from connect.tasks.task_metrics import METRICS
from schema_registry.http.service import FIGURES as REGISTRY_FIGURES
from schema_registry.http.service import figure
from streams_sql.engine.metrics import EngineMetrics
from streams_sql.http import query_metrics

_HEADS: Final = ("metric", "type", "labels", "meaning")
# Those of a histogram's and a summary's own samples.
_PARTS: Final = ("le", "quantile")
_INTRODUCTION: Final = """\
Each service tells its metrics to Prometheus at `/metrics` of its listener; the broker at `metrics.listener` (`barnabas up --metrics-listener http://127.0.0.1:9404`), since its own listener speaks Kafka's protocol.
Configurations of Prometheus, alerts and dashboards that use them lie in [deploy](../../deploy)."""
_BROKER: Final = """\
The names are those that Prometheus' jmx_exporter gives Kafka's own metrics, so that dashboards made for Kafka work. What can be no other number on one node is told all the same, since alerts compare it.
Series of single partitions (`kafka_log_log_…`) are told with `metrics.per.partition=true` alone. Of topics there is also a series without a label, for all of them together."""
_HTTP: Final = (
    "The registry, the REST proxy, Connect and SQL tell these of their requests, each with the prefix of its own:"
)
_PROCESS: Final = "All services tell these of their process:"


def metric_page() -> str:
    broker = broker_families()
    return page(
        "Metrics",
        _INTRODUCTION,
        "## Broker",
        _BROKER,
        _families(family for family in broker if not family.name.startswith("process_")),
        "## Every HTTP service",
        _HTTP,
        _families(_requests()),
        "## Schema Registry",
        _families(figure(name, 0) for name in REGISTRY_FIGURES),
        "## Connect",
        "Of each task, under the names of Kafka Connect's metrics; they begin anew when a task does.",
        _families(task_metrics.families(lambda: {TaskId("", 0): dict.fromkeys(METRICS, 0.0)})()),
        "## SQL",
        "Of a query, its figures are those since this server runs it, or of its last batch.",
        _families(query_metrics.families(EngineMetrics)()),
        "## Processes",
        _PROCESS,
        _families(family for family in broker if family.name.startswith("process_")),
    )


def _requests() -> Iterator[Metric]:
    metrics = RequestMetrics("…")
    metrics.of("GET", None).count(200, 0.0)
    return (family for family in metrics.families() if not family.name.startswith("process_"))


def _families(families: Iterable[Metric]) -> str:
    rows = [
        (code(_name(family)), family.type, ", ".join(map(code, _labels(family))), cell(family.documentation))
        for family in families
    ]
    return table(_HEADS, rows)


def _name(family: Metric) -> str:
    """As queries write it."""
    return f"{family.name}_total" if family.type == "counter" else family.name


def _labels(family: Metric) -> tuple[str, ...]:
    if isinstance(family, CounterMetricFamily | GaugeMetricFamily):
        return tuple(family._labelnames)
    named = dict.fromkeys(label for sample in family.samples for label in sample.labels)
    return tuple(label for label in named if label not in _PARTS)
