"""Offsets by timestamp: always the record itself, wherever it stands in its batch."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core_broker.log.config import LogConfig
from core_broker.log.partition_log import PartitionLog
from core_broker.log.timestamps import TimestampedOffset, largest_timestamp
from tests.core_broker.log.batches import START_MS, append, batch, open_log

DENSE = LogConfig(index_interval_bytes=100)


@pytest.fixture
def log(tmp_path: Path) -> PartitionLog:
    return open_log(tmp_path / "topic-0", DENSE)


def filled(log: PartitionLog, batches: list[list[int]], rolls: set[int], compression: int = 0) -> list[int]:
    for number, times in enumerate(batches):
        append(log, batch(timestamps=[START_MS + time for time in times], compression=compression))
        if number in rolls:
            log.roll()
    return [START_MS + time for times in batches for time in times]


def expected_from(times: list[int], timestamp: int, start: int = 0) -> int | None:
    return next((offset for offset, time in enumerate(times) if time >= timestamp and offset >= start), None)


@settings(max_examples=60, deadline=None)
@given(
    batches=st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=4), min_size=1, max_size=30),
    rolls=st.sets(st.integers(0, 29)),
    compression=st.sampled_from([0, 1, 4]),
    start=st.integers(0, 20),
    closes=st.booleans(),
)
def test_look_ups_agree_with_a_list(
    tmp_path_factory: pytest.TempPathFactory,
    batches: list[list[int]],
    rolls: set[int],
    compression: int,
    start: int,
    closes: bool,
) -> None:
    folder = tmp_path_factory.mktemp("log") / "topic-0"
    log = open_log(folder, DENSE)
    times = filled(log, batches, rolls, compression)
    if closes:
        log.close()
        log = open_log(folder, DENSE, clean=True)
    start = log.delete_records_before(min(start, log.log_end_offset))
    for timestamp in range(START_MS, START_MS + 52):
        found = log.offset_for_timestamp(timestamp)
        offset = expected_from(times, timestamp, start)
        assert (found.offset if found else None) == offset
        assert found is None or found.timestamp == times[found.offset]
    largest = log.offset_of_max_timestamp()
    assert largest == TimestampedOffset(times.index(max(times)), max(times), 0)
    log.close()


def test_the_epoch_is_that_of_the_record(log: PartitionLog) -> None:
    append(log, batch(timestamps=[START_MS]))
    log.assign_epoch(3)
    append(log, batch(timestamps=[START_MS + 5]))
    assert log.offset_for_timestamp(START_MS) == TimestampedOffset(0, START_MS, 0)
    assert log.offset_for_timestamp(START_MS + 1) == TimestampedOffset(1, START_MS + 5, 3)


def test_an_empty_log_and_records_without_timestamps_have_none(log: PartitionLog) -> None:
    assert log.offset_for_timestamp(0) is None
    assert log.offset_of_max_timestamp() is None
    append(log, batch(timestamps=[-1]))
    assert log.offset_of_max_timestamp() is None


def test_the_time_of_the_last_change_stands_in_for_missing_timestamps(log: PartitionLog, tmp_path: Path) -> None:
    append(log, batch(timestamps=[-1]))
    os.utime(tmp_path / "topic-0" / f"{0:020d}.log", ns=(5_000_000, 7_000_000))
    assert largest_timestamp(log, log.active) == 7


def test_the_largest_timestamp_of_a_sealed_segment_is_read_alone(tmp_path: Path) -> None:
    log = open_log(tmp_path / "topic-0", DENSE)
    filled(log, [[5], [9], [7]], {2})
    log.close()
    again = open_log(tmp_path / "topic-0", DENSE, clean=True)
    assert largest_timestamp(again, again.segments[0]) == START_MS + 9
    assert again.segments[0].offset_index is None, "the whole index was read for one number"
