"""PROTOBUF_NOSR: Protobuf's bytes without a registry, with Google's own library on the other side."""

from __future__ import annotations

from decimal import Decimal as Exact
from typing import Any

import pytest
from google.protobuf.wrappers_pb2 import Int32Value, StringValue

from streams_sql.formats.serde import Undecodable
from streams_sql.sources import FormatUse
from streams_sql.sql_types import BIGINT, INTEGER, STRING, Array, Field, Map, SqlType, Struct
from tests.streams_sql.formats.layouts import EVERY_TYPE, decode_one, encode_one, layout_of

FULL_ROW: tuple[Any, ...] = (
    1,
    2**40,
    1.5,
    True,
    "é",
    Exact("-12.125"),
    b"\x00\xff",
    5,
    -7,
    1_700_000_000_123,
    [{"NAME": "x", "AGE": 1}],
    [1, 2],
    {"k": Exact("1.5")},
    {"NAME": "y", "AGE": 2},
)
USE = FormatUse("PROTOBUF_NOSR")


@pytest.mark.parametrize("nullable_as", [None, "OPTIONAL", "WRAPPER"])
def test_rows_come_back(nullable_as: str | None) -> None:
    layout = layout_of(EVERY_TYPE, FormatUse("PROTOBUF_NOSR", nullable_as=nullable_as))
    assert decode_one(layout, encode_one(layout, FULL_ROW)) == FULL_ROW
    assert encode_one(layout, None) is None
    assert decode_one(layout, None) is None


@pytest.mark.parametrize(
    ("nullable_as", "row"),
    [(None, (0, "")), ("OPTIONAL", (None, None)), ("WRAPPER", (None, None))],
)
def test_what_is_not_there(nullable_as: str | None, row: tuple[Any, ...]) -> None:
    """Protobuf takes it for zero, unless the fields may say that they are not there."""
    layout = layout_of({"A": INTEGER, "B": STRING}, FormatUse("PROTOBUF_NOSR", nullable_as=nullable_as))
    assert encode_one(layout, (None, None)) == b""
    assert decode_one(layout, b"") == row


def test_fields_are_numbered_by_the_columns() -> None:
    layout = layout_of({"A": INTEGER, "B": STRING, "C": Array(INTEGER), "M": Map(STRING, INTEGER)}, USE)
    row = (150, "hi", [1, 300], {"k": 1})
    # Written by hand by the rules of the encoding: a tag is the number of the field and its kind, numbers have seven bits a byte.
    payload = b"\x08\x96\x01" + b"\x12\x02hi" + b"\x1a\x03\x01\xac\x02" + b"\x22\x05\x0a\x01k\x10\x01"
    assert encode_one(layout, row) == payload
    assert decode_one(layout, payload) == row


def test_wrappers_are_messages_of_their_own() -> None:
    layout = layout_of({"A": INTEGER, "B": STRING}, FormatUse("PROTOBUF_NOSR", nullable_as="WRAPPER"))
    inner = [Int32Value(value=7).SerializeToString(), StringValue(value="x").SerializeToString()]
    payload = b"".join(bytes((tag, len(each))) + each for tag, each in zip((0x0A, 0x12), inner, strict=True))
    assert encode_one(layout, (7, "x")) == payload
    assert decode_one(layout, payload) == (7, "x")


@pytest.mark.parametrize("nullable_as", [None, "OPTIONAL", "WRAPPER"])
@pytest.mark.parametrize(
    ("number", "is_integer"), [(2**31 - 1, True), (-(2**31), True), (2**31, False), (-(2**40), False)]
)
def test_numbers_that_are_no_integer_are_undecodable(nullable_as: str | None, number: int, is_integer: bool) -> None:
    use = FormatUse("PROTOBUF_NOSR", nullable_as=nullable_as)
    for type_, row in (
        (lambda scalar: scalar, (number,)),
        (Array, ([number],)),
        (lambda scalar: Map(STRING, scalar), ({"k": number},)),
        (lambda scalar: Struct((Field("X", scalar),)), ({"X": number},)),
    ):
        payload = encode_one(layout_of({"A": type_(BIGINT)}, use), row)
        found = decode_one(layout_of({"A": type_(INTEGER)}, use), payload)
        if is_integer:
            assert found == row
        else:
            assert isinstance(found, Undecodable)
            assert f"Number out of range: {number}: INTEGER holds" in found.reason


@pytest.mark.parametrize("payload", [b"\xff", b"\x08", b"\x12\x7fx"])
def test_bytes_that_are_no_message_are_undecodable(payload: bytes) -> None:
    assert isinstance(decode_one(layout_of({"A": INTEGER, "B": STRING}, USE), payload), Undecodable)


def test_columns_that_were_added_later_are_not_there() -> None:
    columns: dict[str, SqlType] = {"A": INTEGER}
    payload = encode_one(layout_of(columns, USE), (1,))
    assert decode_one(layout_of({**columns, "B": Array(INTEGER)}, USE), payload) == (1, [])
