"""The figures of kafka-producer-perf-test: windows while it runs, a summary at the end, latencies in whole milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TextIO

SAMPLES_MAX: Final = 500_000
PERCENTILES: Final = (0.5, 0.95, 0.99, 0.999)
MEGABYTE: Final = 1024.0 * 1024.0


class ProducerStats:
    """Counts acknowledged records. `now_ms` is the clock that windows and the total are measured by."""

    def __init__(
        self,
        records: int,
        interval_ms: int,
        out: TextIO,
        now_ms: Callable[[], int],
        *,
        steady: bool = False,
    ) -> None:
        self._out = out
        self._now_ms = now_ms
        self._interval_ms = interval_ms
        self._steady = steady
        self._start_ms = self._window_start_ms = now_ms()
        self._sampling = records // min(records, SAMPLES_MAX)
        self._latencies_ms: list[int] = []
        self._count = self._bytes = self._total_ms = self._max_ms = 0
        self._window_count = self._window_bytes = self._window_total_ms = self._window_max_ms = 0
        self.prints_windows = True

    def record(self, latency_ms: int, records: int, size_bytes: int, now_ms: int) -> None:
        """`records` of together `size_bytes` took so long."""
        first = -self._count % self._sampling
        sampled = max(0, -(-(records - first) // self._sampling))
        self._latencies_ms.extend([latency_ms] * sampled)
        self._count += records
        self._bytes += size_bytes
        self._total_ms += latency_ms * records
        self._max_ms = max(self._max_ms, latency_ms)
        self._window_count += records
        self._window_bytes += size_bytes
        self._window_total_ms += latency_ms * records
        self._window_max_ms = max(self._window_max_ms, latency_ms)
        if now_ms - self._window_start_ms >= self._interval_ms:
            if self.prints_windows:
                self._print_window()
            self._window_start_ms = self._now_ms()
            self._window_count = self._window_bytes = self._window_total_ms = self._window_max_ms = 0

    def print_total(self) -> None:
        elapsed_ms = max(self._now_ms() - self._start_ms, 1)
        middle, high, higher, highest = percentiles(self._latencies_ms)
        self._out.write(
            f"{self._count}{' steady state' if self._steady else ''} records sent, "
            f"{1000.0 * self._count / elapsed_ms:f} records/sec "
            f"({1000.0 * self._bytes / elapsed_ms / MEGABYTE:.2f} MB/sec), "
            f"{_average(self._total_ms, self._count, 2)} ms avg latency, {self._max_ms:.2f} ms max latency, "
            f"{middle} ms 50th, {high} ms 95th, {higher} ms 99th, {highest} ms 99.9th.\n"
        )

    def _print_window(self) -> None:
        elapsed_ms = max(self._now_ms() - self._window_start_ms, 1)
        if self._steady and self._window_count == self._count:
            self._out.write("In steady state.\n")
        self._out.write(
            f"{self._window_count} records sent, {1000.0 * self._window_count / elapsed_ms:.1f} records/sec "
            f"({1000.0 * self._window_bytes / elapsed_ms / MEGABYTE:.2f} MB/sec), "
            f"{_average(self._window_total_ms, self._window_count, 1)} ms avg latency, "
            f"{self._window_max_ms:.1f} ms max latency.\n"
        )
        self._out.flush()


def percentiles(latencies_ms: Sequence[int]) -> list[int]:
    """The latencies at Kafka's percentiles; zeros when nothing was measured."""
    ordered = sorted(latencies_ms)
    return [ordered[int(part * len(ordered))] if ordered else 0 for part in PERCENTILES]


def _average(total: int, count: int, digits: int) -> str:
    return f"{total / count:.{digits}f}" if count else "NaN"
