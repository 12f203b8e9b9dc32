"""The offset index finds positions, and its bytes are Kafka's."""

from __future__ import annotations

import struct

import pytest

from core_broker.log.offset_index import OffsetEntry, OffsetIndex

SEGMENT_BYTES = 1_000_000


def index(*entries: tuple[int, int]) -> OffsetIndex:
    made = OffsetIndex()
    for relative_offset, position in entries:
        made.append(relative_offset, position)
    return made


def test_entries_are_pairs_of_big_endian_numbers() -> None:
    assert index((49, 5762), (99, 11524)).unwritten() == struct.pack(">iiii", 49, 5762, 99, 11524)


def test_only_what_is_not_in_the_file_is_to_be_written() -> None:
    made = index((1, 10), (2, 20))
    made.written = 2
    made.append(3, 30)
    assert made.unwritten() == struct.pack(">ii", 3, 30)


def test_what_was_written_is_read_back() -> None:
    made = index((5, 100), (9, 5000), (1000, 999_999))
    parsed = OffsetIndex.parse(made.unwritten(), SEGMENT_BYTES)
    assert parsed is not None
    assert (parsed.offsets, parsed.positions) == (made.offsets, made.positions)
    assert parsed.written == 3


@pytest.mark.parametrize(
    ("relative_offset", "position"), [(0, 0), (4, 0), (5, 100), (8, 100), (9, 5000), (10_000, 5000)]
)
def test_a_look_up_starts_at_a_batch_that_does_not_lie_above(relative_offset: int, position: int) -> None:
    assert index((5, 100), (9, 5000)).position_at_or_below(relative_offset) == position


def test_the_last_entry_is_known() -> None:
    assert index().last() is None
    assert index((5, 100), (9, 5000)).last() == OffsetEntry(9, 5000)


def test_entries_from_a_position_on_can_be_dropped_and_then_the_file_is_written_anew() -> None:
    made = index((5, 100), (9, 5000), (12, 9000))
    made.written = 3
    made.keep_below(5000)
    assert made.unwritten() == struct.pack(">ii", 5, 100)


def test_dropping_nothing_leaves_the_file_alone() -> None:
    made = index((5, 100))
    made.written = 1
    made.keep_below(101)
    assert made.unwritten() == b""


@pytest.mark.parametrize(
    "data",
    [
        b"\0" * 7,
        struct.pack(">iiii", 5, 100, 5, 200),
        struct.pack(">iiii", 5, 100, 6, 100),
        struct.pack(">iiii", 5, 100, 0, 0),
        struct.pack(">ii", 5, SEGMENT_BYTES),
    ],
    ids=["torn", "offset stands still", "position stands still", "zeros at the end", "beyond the segment"],
)
def test_damage_is_noticed(data: bytes) -> None:
    assert OffsetIndex.parse(data, SEGMENT_BYTES) is None
