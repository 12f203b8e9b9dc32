"""Rows as a client reads them, and the texts of their types."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from typing import Any

import pytest

from streams_sql.clients.failures import Refused, ServerUnreachable
from streams_sql.clients.protocol import LineCutter
from streams_sql.clients.rows import RowReader, insertable
from streams_sql.clients.types import parse_type


def read(type_: str, value: str) -> Any:
    head = {"queryId": "q", "columnNames": ["C"], "columnTypes": [type_]}
    return RowReader(json.dumps(head).encode()).row(f"[{value}]".encode())[0]


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        ("DOUBLE", "1", 1.0),
        ("DOUBLE", '"Infinity"', float("inf")),
        (
            "DECIMAL(38, 10)",
            "1234567890123456789012345678.0123456789",
            Decimal("1234567890123456789012345678.0123456789"),
        ),
        ("DECIMAL(4, 0)", "12", Decimal(12)),
        ("TIMESTAMP", '"0001-01-01T00:00:00.000"', datetime.datetime(1, 1, 1, tzinfo=datetime.UTC)),
        ("TIMESTAMP", '"10000-01-01T00:00:00.001"', 253_402_300_800_001),
        ("DATE", '"-0001-12-31"', -719_529),
        ("TIME", '"12:30"', datetime.time(12, 30)),
        ("ARRAY<MAP<STRING, TIME>>", '[{"a": "01:02:03"}, null]', [{"a": datetime.time(1, 2, 3)}, None]),
        (
            "STRUCT<`a b` DATE, `T``` TIMESTAMP>",
            '{"a b": 1, "T`": null}',
            {"a b": datetime.date(1970, 1, 2), "T`": None},
        ),
        ("STRUCT<`T` TIMESTAMP>", f'{{"T": {10**15}}}', {"T": 10**15}),
        ("STRUCT< >", "{}", {}),
        ("BYTES", '"AP8="', b"\x00\xff"),
    ],
)
def test_values_have_the_types_of_python(type_: str, text: str, value: Any) -> None:
    assert read(type_, text) == value


@pytest.mark.parametrize("text", ["", "FLOAT", "ARRAY<", "ARRAY<STRING", "DECIMAL(1)", "STRING STRING", "MAP<STRING>"])
def test_a_text_that_is_no_type_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="is no type"):
        parse_type(text)


@pytest.mark.parametrize("line", [b"", b"<html>", b"[]", b"{}"])
def test_what_begins_otherwise_comes_from_no_sql_server(line: bytes) -> None:
    with pytest.raises(ServerUnreachable):
        RowReader(line)


def test_a_first_line_may_be_an_error() -> None:
    with pytest.raises(Refused, match="no room"):
        RowReader(b'{"@type":"generic_error","error_code":42900,"message":"no room"}')


def test_what_no_column_can_hold_is_no_row() -> None:
    with pytest.raises(TypeError, match="set"):
        insertable({"a": {1}})


def test_lines_are_cut_at_newlines_alone() -> None:
    cutter = LineCutter()
    pieces = ["a", "b\n\nc\u2028", "d", "\n", "e"]
    assert [cutter.cut(piece.encode()) for piece in pieces] == [[], [b"ab"], [], ["c\u2028d".encode()], []]
