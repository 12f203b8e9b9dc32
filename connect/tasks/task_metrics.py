"""The metrics of a task, under the names of Kafka Connect's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Final

from connect.tasks.messages import MetricsReport

REPORT_INTERVAL_S: Final = 1.0
MEASURED_MIN_S: Final = 0.5
"""Rates are those of at least such a time."""
_MS_PER_S: Final = 1000.0
METRICS: Final[Mapping[str, str]] = {
    "source-record-poll-total": "Records that a source task has read.",
    "source-record-poll-rate": "Records a second that a source task reads.",
    "source-record-write-total": "Records that a source task has written to Kafka.",
    "source-record-write-rate": "Records a second that a source task writes to Kafka.",
    "seconds-since-last-record": "Time since a source task has read something.",
    "sink-record-read-total": "Records that a sink task has read from Kafka.",
    "sink-record-read-rate": "Records a second that a sink task reads from Kafka.",
    "sink-record-send-total": "Records that a sink task has handed to its target.",
    "sink-record-send-rate": "Records a second that a sink task hands to its target.",
    "sink-record-lag": "Records in the partitions of a sink task that it has not read yet, once that is known.",
    "put-batch-avg-time-ms": "Average time that the target takes for a batch.",
    "put-batch-max-time-ms": "The longest time that the target took for a batch.",
    "retries-total": "Operations that were tried again.",
    "record-failures-total": "Records that failed, whether or not that ended the task.",
    "records-skipped-total": "Records that were left out because of errors.",
    "errors-logged-total": "Errors that were tolerated and logged.",
    "deadletterqueue-produce-total": "Records that went to the dead letters.",
    "offset-commit-success-total": "Commits of offsets.",
    "offset-commit-failure-total": "Commits of offsets that failed.",
    "running": "1 while a task runs, 0 while it is paused.",
}
"""What a task reports, and what it is. All of it begins anew when a task does."""


class TaskMetrics:
    """Counters since the task started. They are plain numbers that the task's own thread changes once for each batch."""

    def __init__(self, is_source: bool) -> None:
        self.records_read = 0
        self.records_written = 0
        self.failures = 0
        self.skipped = 0
        self.retries = 0
        self.dead_letters = 0
        self.errors_logged = 0
        self.commits = 0
        self.failed_commits = 0
        self.lag_records: int | None = None
        self.is_paused = False
        self._is_source = is_source
        self._batches = 0
        self._batch_s = 0.0
        self._batch_s_max = 0.0
        self._last_record_at: float | None = None
        self._rates = _Rates()

    def batch_read(self, records: int) -> None:
        self.records_read += records
        self._last_record_at = monotonic()

    def batch_handed_over(self, records: int, seconds: float) -> None:
        self.records_written += records
        self._batches += 1
        self._batch_s += seconds
        self._batch_s_max = max(self._batch_s_max, seconds)

    def report(self) -> MetricsReport:
        read_rate, write_rate = self._rates.since_last(self.records_read, self.records_written)
        average_s = self._batch_s / self._batches if self._batches else 0.0
        shared = {
            "retries-total": self.retries,
            "record-failures-total": self.failures,
            "records-skipped-total": self.skipped,
            "errors-logged-total": self.errors_logged,
            "deadletterqueue-produce-total": self.dead_letters,
            "offset-commit-success-total": self.commits,
            "offset-commit-failure-total": self.failed_commits,
            "running": 0 if self.is_paused else 1,
        }
        if self._is_source:
            own = {
                "source-record-poll-total": self.records_read,
                "source-record-poll-rate": read_rate,
                "source-record-write-total": self.records_written,
                "source-record-write-rate": write_rate,
                "seconds-since-last-record": self._idle_s(),
            }
        else:
            own = {
                "sink-record-read-total": self.records_read,
                "sink-record-read-rate": read_rate,
                "sink-record-send-total": self.records_written,
                "sink-record-send-rate": write_rate,
                "put-batch-avg-time-ms": average_s * _MS_PER_S,
                "put-batch-max-time-ms": self._batch_s_max * _MS_PER_S,
            }
            if self.lag_records is not None:
                own["sink-record-lag"] = self.lag_records
        return MetricsReport({**own, **shared})

    def _idle_s(self) -> float:
        return 0.0 if self._last_record_at is None else monotonic() - self._last_record_at


class _Rates:
    """Records a second between two reports. One that follows at once, as the first does, would see a burst or nothing: it repeats the last."""

    def __init__(self) -> None:
        self._at = monotonic()
        self._totals = (0, 0)
        self._rates = [0.0, 0.0]

    def since_last(self, *totals: int) -> list[float]:
        now = monotonic()
        seconds = now - self._at
        if seconds >= MEASURED_MIN_S:
            self._rates = [(total - before) / seconds for total, before in zip(totals, self._totals, strict=True)]
            self._at, self._totals = now, (totals[0], totals[1])
        return self._rates


class MetricsReporter:
    """Report the metrics about once a second, when the task calls it."""

    def __init__(self, metrics: TaskMetrics, tell: Callable[[object], None]) -> None:
        self._metrics = metrics
        self._tell = tell
        self._next_at = 0.0

    def is_due(self) -> bool:
        return monotonic() >= self._next_at

    def send(self) -> None:
        self._next_at = monotonic() + REPORT_INTERVAL_S
        self._tell(self._metrics.report())
