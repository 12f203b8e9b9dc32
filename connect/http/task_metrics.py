"""What tasks count, for Prometheus: `connect_task_…` with the connector and the task as labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from connect.tasks.spec import TaskId
from connect.tasks.task_metrics import METRICS

_TOTAL = "-total"
_NAMES = {"seconds-since-last-record": "last-record-age-seconds"}
"""What a unit does not stand at the end of."""


def families(metrics: Callable[[], Mapping[TaskId, Mapping[str, float]]]) -> Callable[[], Iterator[Metric]]:
    def collect() -> Iterator[Metric]:
        found: dict[str, Metric] = {}
        for task, values in metrics().items():
            for name, value in values.items():
                family = found.get(name)
                if family is None:
                    family = found[name] = _family(name)
                family.add_metric([task.connector, str(task.number)], value)  # type: ignore[attr-defined]  # both kinds have it
        yield from found.values()

    return collect


def _family(name: str) -> Metric:
    labels = ["connector", "task"]
    metric = f"connect_task_{_NAMES.get(name, name).removesuffix(_TOTAL).replace('-', '_')}"
    doc = METRICS[name]
    if name.endswith(_TOTAL):
        return CounterMetricFamily(metric, doc, labels=labels)
    return GaugeMetricFamily(metric, doc, labels=labels)
