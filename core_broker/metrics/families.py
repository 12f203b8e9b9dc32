"""Metric families, as the Prometheus library knows them. This and what imports it is loaded when metrics are switched on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from prometheus_client.metrics_core import Metric

from core_broker.metrics.histogram import Histogram

QUANTILES: Final = {"0.50": 0.5, "0.75": 0.75, "0.95": 0.95, "0.98": 0.98, "0.99": 0.99, "0.999": 0.999}
"""Those of Kafka's histograms, with the labels that the exporter gives them."""

Labels = Mapping[str, str]
Sample = tuple[Labels, float]
NO_LABELS: Final[Labels] = {}


def gauge(name: str, doc: str, value: float) -> Metric:
    return gauges(name, doc, [(NO_LABELS, value)])


def gauges(name: str, doc: str, samples: Iterable[Sample]) -> Metric:
    metric = Metric(name, doc, "gauge")
    for labels, value in samples:
        metric.add_sample(name, dict(labels), value)
    return metric


def counter(name: str, doc: str, value: float) -> Metric:
    return counters(name, doc, [(NO_LABELS, value)])


def counters(name: str, doc: str, samples: Iterable[Sample]) -> Metric:
    """The name ends in `_total`."""
    metric = Metric(name.removesuffix("_total"), doc, "counter")
    for labels, value in samples:
        metric.add_sample(name, dict(labels), value)
    return metric


class Distribution:
    """Histograms of one name. `scale` turns the unit in which they count into the unit of the name."""

    def __init__(self, name: str, doc: str, scale: float, now_s: float) -> None:
        self.metric = Metric(name, doc, "summary")
        self._name = name
        self._scale = scale
        self._now_s = now_s

    def add(self, labels: Labels, histogram: Histogram, count: int) -> None:
        """`count` is how many there were in all: more than the histogram has seen, if that is of a sample."""
        values = histogram.quantiles(list(QUANTILES.values()), self._now_s)
        for label, value in zip(QUANTILES, values or (), strict=False):
            self.metric.add_sample(self._name, {**labels, "quantile": label}, value * self._scale)
        self.metric.add_sample(f"{self._name}_count", dict(labels), count)
