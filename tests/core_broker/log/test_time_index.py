"""The time index finds offsets, and its bytes are Kafka's."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core_broker.log.time_index import TimeEntry, TimeIndex, parse_entry


def index(*entries: tuple[int, int]) -> TimeIndex:
    made = TimeIndex()
    for timestamp, relative_offset in entries:
        made.append(timestamp, relative_offset)
    return made


def test_entries_are_a_timestamp_and_an_offset_in_big_endian() -> None:
    data = index((1_700_000_000_000, 49), (1_700_000_000_001, 99)).unwritten()
    assert data == struct.pack(">qiqi", 1_700_000_000_000, 49, 1_700_000_000_001, 99)
    assert parse_entry(data[12:]) == TimeEntry(1_700_000_000_001, 99)


def test_only_a_larger_timestamp_is_entered() -> None:
    made = index((100, 1), (100, 2), (99, 3), (101, 4))
    assert list(zip(made.timestamps, made.offsets, strict=True)) == [(100, 1), (101, 4)]


@given(st.sets(st.integers(0, 2**62)), st.integers(0, 3))
def test_what_was_written_is_read_back(timestamps: set[int], written: int) -> None:
    made = index(*((timestamp, number * 7) for number, timestamp in enumerate(sorted(timestamps))))
    whole = made.unwritten()
    parsed = TimeIndex.parse(whole)
    assert parsed is not None
    assert (parsed.timestamps, parsed.offsets) == (made.timestamps, made.offsets)
    made.written = min(written, len(made))
    assert made.unwritten() == whole[12 * made.written :]


@pytest.mark.parametrize(("timestamp", "offset"), [(0, 0), (99, 0), (100, 5), (149, 5), (150, 9), (10_000, 9)])
def test_a_look_up_finds_the_last_entry_that_is_not_larger(timestamp: int, offset: int) -> None:
    assert index((100, 5), (150, 9)).offset_at_or_below(timestamp) == offset


def test_entries_from_an_offset_on_can_be_dropped_and_then_the_file_is_written_anew() -> None:
    made = index((100, 5), (150, 9))
    made.written = 2
    made.keep_below(9)
    assert made.last() == TimeEntry(100, 5)
    assert made.unwritten() == struct.pack(">qi", 100, 5)


@pytest.mark.parametrize(
    "data",
    [b"\0" * 11, struct.pack(">qiqi", 100, 5, 100, 6), struct.pack(">qiqi", 100, 5, 101, 4), bytes(24)],
    ids=["torn", "timestamp stands still", "offset goes back", "zeros"],
)
def test_damage_is_noticed(data: bytes) -> None:
    assert TimeIndex.parse(data) is None
