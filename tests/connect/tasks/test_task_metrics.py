"""What a task tells of itself once a second."""

from __future__ import annotations

import pytest

from connect.tasks import task_metrics as metrics
from connect.tasks.task_metrics import METRICS, TaskMetrics

RATE = "source-record-write-rate"


def test_rates_are_those_of_a_time_that_says_something(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0
    monkeypatch.setattr(metrics, "monotonic", lambda: now_s)
    told = TaskMetrics(is_source=True)
    told.batch_handed_over(2000, 0.001)
    now_s += 0.002
    assert told.report().values[RATE] == 0.0
    now_s += 0.998
    assert told.report().values[RATE] == 2000.0
    told.batch_handed_over(10, 0.001)
    now_s += 0.1
    assert told.report().values[RATE] == 2000.0
    now_s += 0.9
    assert told.report().values[RATE] == 10.0


def test_what_is_told_is_what_is_declared() -> None:
    """The page of metrics takes its words from there."""
    source, sink = TaskMetrics(is_source=True), TaskMetrics(is_source=False)
    sink.lag_records = 0
    assert {*source.report().values, *sink.report().values} == set(METRICS)
