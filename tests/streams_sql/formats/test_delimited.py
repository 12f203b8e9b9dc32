"""DELIMITED, by the rules of Apache Commons CSV."""

from __future__ import annotations

from decimal import Decimal as Exact
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams_sql.formats.serde import Undecodable
from streams_sql.problem import SqlProblem
from streams_sql.sources import FormatUse
from streams_sql.sql_types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Decimal,
    Map,
    SqlType,
)
from tests.streams_sql.formats.layouts import PERSON, decode_one, encode_one, layout_of

COMMA = FormatUse("DELIMITED")
TAB = FormatUse("DELIMITED", delimiter="\t")
COLUMNS: dict[str, SqlType] = {"S": STRING, "I": INTEGER, "X": Decimal(4, 2)}


@pytest.mark.parametrize(
    ("payload", "row"),
    [
        (None, None),
        (b"a,1,1.5", ("a", 1, Exact("1.50"))),
        (b",,", (None, None, None)),
        (b'"",1,1', (None, 1, Exact("1.00"))),
        (b'"a,""b""" ,1,', ('a,"b"', 1, None)),
        (b'"a\r\nb",1,-2.5\r\nthe next line', ("a\r\nb", 1, Exact("-2.50"))),
        (b"\n\na,1,1\nb,2,3", ("a", 1, Exact("1.00"))),
        (b' "a",1,1', (' "a"', 1, Exact("1.00"))),
        (b"a\xff,1,1", ("a\ufffd", 1, Exact("1.00"))),
    ],
    ids=str,
)
def test_lines_are_split(payload: bytes | None, row: Any) -> None:
    assert decode_one(layout_of(COLUMNS, COMMA), payload) == row


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", "No fields in record"),
        (b"\n", "No fields in record"),
        (b"a,1", "Column count mismatch on deserialization. expected: 3, got: 2"),
        (b'"a"b,1,1', "a quote at 0 does not end, or text follows behind it"),
        (b'x,"1', "a quote at 2 does not end"),
        (b"a,b,1", "'b' is no INTEGER, column: I"),
        (b"a, 1,1", "' 1' is no INTEGER, column: I"),
        (b"a,1,1.555", "without rounding. column: X"),
        (b"a,99999999999,1", "'99999999999' is no INTEGER, column: I"),
        (b"a,1,100", "Numeric field overflow"),
    ],
    ids=str,
)
def test_what_is_wrong_is_told(payload: bytes, reason: str) -> None:
    found = decode_one(layout_of(COLUMNS, COMMA), payload)
    assert isinstance(found, Undecodable)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("type_", "text"),
    [(BIGINT, "9223372036854775808"), (DOUBLE, "1e400"), (DATE, "2147483648"), (TIME, "86400001"), (TIMESTAMP, "1e3")],
    ids=str,
)
def test_a_number_that_the_column_cannot_hold_is_undecodable(type_: SqlType, text: str) -> None:
    assert isinstance(decode_one(layout_of({"V": type_}, COMMA), text.encode()), Undecodable)


@pytest.mark.parametrize(
    ("use", "row", "payload"),
    [
        (COMMA, ("a", 1, Exact("1.50")), b"a,1,1.50"),
        (COMMA, (None, None, None), b",,"),
        (COMMA, ("", -5, None), b'"",-5,'),
        (COMMA, ("-a", 1, None), b'"-a",1,'),
        (COMMA, ("é", 1, None), '"é",1,'.encode()),
        (COMMA, ("x ", 1, None), b'"x ",1,'),
        (COMMA, ('a"b,c', 1, None), b'"a""b,c",1,'),
        (TAB, ("a,b", 1, None), b"a,b\t1\t"),
        (TAB, ("a\tb", 1, None), b'"a\tb"\t1\t'),
    ],
    ids=str,
)
def test_texts_are_quoted_where_commons_csv_does(use: FormatUse, row: Any, payload: bytes) -> None:
    layout = layout_of(COLUMNS, use)
    assert encode_one(layout, row) == payload
    assert decode_one(layout, payload) == tuple(value or None if value == "" else value for value in row)


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        (BOOLEAN, True, "true"),
        (BIGINT, -(2**63), '"-9223372036854775808"'),
        (DOUBLE, 1e10, "1.0E10"),
        (BYTES, b"\x00\xff", "AP8="),
        (TIME, 5, "5"),
        (DATE, 7, "7"),
        (TIMESTAMP, 1_700_000_000_123, "1700000000123"),
    ],
    ids=str,
)
def test_types_have_their_texts(type_: SqlType, value: Any, text: str) -> None:
    layout = layout_of({"V": type_}, COMMA)
    assert encode_one(layout, (value,)) == text.encode()
    assert decode_one(layout, text.encode()) == (value,)


@pytest.mark.parametrize(
    ("type_", "word"), [(Array(STRING), "ARRAY"), (Map(STRING, STRING), "MAP"), (PERSON, "STRUCT")]
)
def test_nested_types_are_refused(type_: SqlType, word: str) -> None:
    with pytest.raises(SqlProblem, match=f"does not support type '{word}', column: `V`"):
        decode_one(layout_of({"V": type_}, COMMA), b"x")
    with pytest.raises(SqlProblem, match=word):
        encode_one(layout_of({"V": type_}, COMMA), (None,))


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=6), min_size=3, max_size=3))
def test_texts_come_back(texts: list[str]) -> None:
    layout = layout_of({"A": STRING, "B": STRING, "C": STRING}, FormatUse("DELIMITED", delimiter=";"))
    payload = encode_one(layout, tuple(texts))
    assert decode_one(layout, payload) == tuple(texts)
