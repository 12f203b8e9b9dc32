from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import bulk, durable, java
from benchmarks.job import LoadFailed

SUMMARY = (
    "60000 records sent, 11999.2 records/sec (11.72 MB/sec), 1200.1 ms avg latency, 1900.0 ms max latency.\n"
    "200000 records sent, 61234.5 records/sec (59.80 MB/sec), 412.40 ms avg latency, 911.00 ms max latency, "
    "405 ms 50th, 740 ms 95th, 802 ms 99th, 890 ms 99.9th.\n"
    "100000 steady state records sent, 81234.5 records/sec (79.33 MB/sec), 312.40 ms avg latency, 811.00 ms max latency, "
    "305 ms 50th, 640 ms 95th, 702 ms 99th, 790 ms 99.9th.\n"
)


def test_every_row_has_a_name_of_its_own() -> None:
    names = [row.name for row in (*bulk.ROWS, *durable.ROWS, *java.rows(Path("jars")))]
    assert len(set(names)) == len(names)


def test_the_figures_of_the_java_producer_are_those_of_its_steady_state() -> None:
    figures = java.parse(SUMMARY)
    assert figures["mb_s"] == pytest.approx(81234.5 * 1024 / 1e6)
    assert (figures["mean_ms"], figures["p50_ms"], figures["p99_ms"]) == (312.4, 305, 702)


def test_a_java_producer_without_a_summary_has_failed() -> None:
    with pytest.raises(LoadFailed, match="no summary"):
        java.parse("org.apache.kafka.common.errors.TimeoutException: Topic x not present")
