"""The transaction index collects aborted transactions, and its bytes are Kafka's."""

from __future__ import annotations

import struct

import pytest

from core_broker.log.transaction_index import AbortedTransaction, TransactionIndex

FIRST = AbortedTransaction(producer_id=1, first_offset=10, last_offset=19, last_stable_offset=15)
SECOND = AbortedTransaction(producer_id=2, first_offset=15, last_offset=30, last_stable_offset=31)


def collected(first_offset: int, end_offset: int) -> tuple[list[AbortedTransaction], bool]:
    found: list[AbortedTransaction] = []
    complete = TransactionIndex([FIRST, SECOND]).collect(first_offset, end_offset, found)
    return found, complete


def test_an_entry_is_a_version_and_four_numbers_in_big_endian() -> None:
    assert TransactionIndex([FIRST]).unwritten() == struct.pack(">hqqqq", 0, 1, 10, 19, 15)


def test_what_was_written_is_read_back() -> None:
    parsed = TransactionIndex.parse(TransactionIndex([FIRST, SECOND]).unwritten(), base_offset=0)
    assert parsed is not None
    assert parsed.entries == [FIRST, SECOND]
    assert parsed.unwritten() == b""


@pytest.mark.parametrize(
    ("first_offset", "end_offset", "expected"),
    [
        (0, 10, ([], True)),
        (0, 11, ([FIRST], True)),
        (0, 16, ([FIRST, SECOND], True)),
        (20, 31, ([SECOND], True)),
        (20, 32, ([SECOND], False)),
        (31, 40, ([], False)),
    ],
)
def test_transactions_that_overlap_a_range_are_collected(
    first_offset: int, end_offset: int, expected: tuple[list[AbortedTransaction], bool]
) -> None:
    assert collected(first_offset, end_offset) == expected


def test_entries_from_an_offset_on_can_be_dropped_and_then_the_file_is_written_anew() -> None:
    index = TransactionIndex([FIRST, SECOND])
    index.written = 2
    index.keep_below(30)
    assert index.entries == [FIRST]
    assert len(index.unwritten()) == 34


@pytest.mark.parametrize(
    "data",
    [
        b"\0" * 33,
        struct.pack(">hqqqq", 1, 1, 10, 19, 15),
        struct.pack(">hqqqq", 0, 1, 10, 19, 15) * 2,
        bytes(34),
        struct.pack(">hqqqq", 0, 1, 20, 19, 15),
    ],
    ids=["torn", "another version", "marker stands still", "zeros", "begins after its end"],
)
def test_damage_is_noticed(data: bytes) -> None:
    assert TransactionIndex.parse(data, base_offset=5) is None
