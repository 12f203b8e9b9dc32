"""Java's hashes, the order of its maps, and its numbers."""

from __future__ import annotations

import pytest

from barnabas.kernel.java.hash_map import hash_code, hash_map_order, partition_map_order
from barnabas.kernel.java.numbers import double_text


def test_hashes_are_those_of_java() -> None:
    # From the documentation of String.hashCode: s[0]*31^(n-1) + ...
    assert hash_code("") == 0
    assert hash_code("ab") == ord("a") * 31 + ord("b")
    assert hash_code("polygenelubricants") == 0x80000000
    assert hash_code("\N{GRINNING FACE}") == 0xD83D * 31 + 0xDE00


def test_the_order_is_the_one_in_which_kafkas_tool_described_these_topics() -> None:
    names = ["__consumer_offsets", "__transaction_state", "a_b.c", "aa"]
    assert hash_map_order(names, len(names)) == ["aa", "a_b.c", "__consumer_offsets", "__transaction_state"]


def test_a_map_grows_with_its_keys_and_loses_none() -> None:
    names = [f"topic-{number}" for number in range(1000)]
    assert sorted(hash_map_order(names)) == sorted(names)
    partitions = [("t1", 0), ("t2", 0), ("t1", 3)]
    # As kafka-delete-records printed them.
    assert partition_map_order(partitions) == [("t1", 3), ("t1", 0), ("t2", 0)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (100.0, "100.0"),
        (12.5, "12.5"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (12345678.9, "1.23456789E7"),
        (-2e9, "-2.0E9"),
        (0.001, "0.001"),
        (0.0001, "1.0E-4"),
    ],
)
def test_numbers_are_written_as_java_writes_them(value: float, text: str) -> None:
    assert double_text(value) == text
