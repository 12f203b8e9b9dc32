"""Formats and columns that are guessed from a sample of payloads."""

from __future__ import annotations

import struct

import pytest

from streams_sql.topics.payloads import COLUMNS_MAX, PartSchema, guessed


def part_of(*payloads: bytes | None, is_key: bool = False) -> str:
    found = guessed(payloads, is_key=is_key)
    return "" if found is None else f"{found.format.name}: {', '.join(map(str, found.columns))}"


@pytest.mark.parametrize(
    ("payloads", "part"),
    [
        ([], ""),
        ([None, None], ""),
        ([b'{"a": 1}', None, b'{"b": "x"}'], "JSON: `A` BIGINT, `B` STRING"),
        ([b'{"a": 1}', b'{"a": 2}', b"broken"], "JSON: `A` BIGINT"),
        ([b'{"a": 1}', b"broken", b"too"], "KAFKA: `ROWVAL` STRING"),
        ([b"[1, 2]"], "JSON: `ROWVAL` ARRAY<BIGINT>"),
        ([b'"x"'], "JSON: `ROWVAL` STRING"),
        ([b'{"a": 1}', b"[1]"], "JSON: `ROWVAL` STRING"),
        ([b'{"a": 1}', b"[1]", b'{"b": 2}'], "JSON: `A` BIGINT, `B` BIGINT"),
        ([b"[1]", b"[2]", b'{"a": 1}'], "JSON: `ROWVAL` STRING"),
        ([b"{}"], "JSON: `ROWVAL` MAP<STRING, STRING>"),
        ([b"12", b"x;y\n"], "KAFKA: `ROWVAL` STRING"),
        ([b""], "KAFKA: `ROWVAL` STRING"),
        ([struct.pack(">i", 7), struct.pack(">i", -1)], "KAFKA: `ROWVAL` INTEGER"),
        ([struct.pack(">q", 7)], "KAFKA: `ROWVAL` BIGINT"),
        ([struct.pack(">d", 7.5), struct.pack(">d", -0.25)], "KAFKA: `ROWVAL` DOUBLE"),
        ([b"abcd"], "KAFKA: `ROWVAL` STRING"),
        ([b"\x00\x01\x02"], "KAFKA: `ROWVAL` BYTES"),
    ],
)
def test_values(payloads: list[bytes | None], part: str) -> None:
    assert part_of(*payloads) == part


def test_keys_are_one_column() -> None:
    assert part_of(b'{"id": 1}', is_key=True) == "JSON: `ROWKEY` STRUCT<`ID` BIGINT>"
    assert part_of(b"a-1", is_key=True) == "KAFKA: `ROWKEY` STRING"


def test_very_many_fields_are_data() -> None:
    record = b"{" + b",".join(b'"k%d": 1' % number for number in range(COLUMNS_MAX + 1)) + b"}"
    assert part_of(record) == "JSON: `ROWVAL` MAP<STRING, BIGINT>"


def test_it_is_told_what_the_guess_is_made_from() -> None:
    found = guessed([b'{"a": 1}', None, b'{"a": 2}'], is_key=False)
    assert isinstance(found, PartSchema)
    assert found.origin == "a sample of 2 JSON records"
