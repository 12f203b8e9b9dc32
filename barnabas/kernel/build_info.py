"""A metric that all services tell alike: which version runs."""

from __future__ import annotations

from importlib.metadata import version

from prometheus_client.metrics_core import GaugeMetricFamily, Metric


def build_info() -> Metric:
    told = GaugeMetricFamily("barnabas_build_info", "1, with the version that runs as a label.", labels=["version"])
    told.add_metric([version("barnabas")], 1)
    return told
