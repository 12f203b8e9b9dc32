"""JSON: what columns are made of, and how they are written."""

from __future__ import annotations

import json
import math
from decimal import Decimal as Exact
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams_sql.formats.library import format_of
from streams_sql.formats.serde import Undecodable
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
    Field,
    Map,
    SqlType,
    Struct,
)
from tests.streams_sql.formats.layouts import EVERY_TYPE, PERSON, decode_one, encode_one, layout_of

JSON = FormatUse("JSON")
ALONE = FormatUse("JSON", is_wrapped=False)
MIXED = Struct((Field("A", INTEGER), Field("b", STRING)))


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        (BOOLEAN, "true", True),
        (INTEGER, "1", 1),
        (INTEGER, "1.9", 1),
        (INTEGER, "-1.9", -1),
        (INTEGER, '"-12"', -12),
        (INTEGER, "-2147483648", -(2**31)),
        (INTEGER, "2147483647.9", 2**31 - 1),
        (BIGINT, "9223372036854775807", 2**63 - 1),
        (BIGINT, "1e3", 1000),
        (BIGINT, '"7"', 7),
        (DOUBLE, "1", 1.0),
        (DOUBLE, "0.1", 0.1),
        (DOUBLE, '" 1.5f"', 1.5),
        (DOUBLE, '"-Infinity"', -math.inf),
        (STRING, '"x"', "x"),
        (STRING, "12", "12"),
        (STRING, "1.10", "1.10"),
        (STRING, "true", "true"),
        (STRING, '{"a": [1.50, null, true, "é"]}', '{"a":[1.50,null,true,"é"]}'),
        (STRING, '[1.50, null, "x", {"a": 1}]', '[1.50, null, x, {"a":1}]'),
        (Decimal(5, 2), "1.5", Exact("1.50")),
        (Decimal(5, 2), "-3", Exact("-3.00")),
        (Decimal(5, 2), '"1e2"', Exact("100.00")),
        (Decimal(38, 3), "12345678901234567890123.125", Exact("12345678901234567890123.125")),
        (BYTES, '"AP8="', b"\x00\xff"),
        (TIME, "86399999", 86_399_999),
        (TIME, '"5"', 5),
        (DATE, "-7", -7),
        (TIMESTAMP, "1700000000123", 1_700_000_000_123),
        (TIMESTAMP, "-1.5", -1),
        (Array(INTEGER), '[1, null, "2"]', [1, None, 2]),
        (Map(STRING, Decimal(4, 1)), '{"k": 1.5, "l": null}', {"k": Exact("1.5"), "l": None}),
        (MIXED, '{"a": 1, "b": "x", "c": 2}', {"A": 1, "b": "x"}),
        (MIXED, '{"B": "not that"}', {"A": None, "b": None}),
        (Array(MIXED), '[null, {"A": "2"}]', [None, {"A": 2, "b": None}]),
    ],
    ids=str,
)
def test_values_are_coerced_as_ksqldb_does(type_: SqlType, text: str, value: Any) -> None:
    layout = layout_of({"V": type_}, JSON)
    for name in ("V", "v"):
        found = decode_one(layout, f'{{"{name}": {text}, "other": 1}}'.encode())
        assert found == (value,)
        assert isinstance(found, tuple)
        assert type(found[0]) is type(value)


@pytest.mark.parametrize(
    ("type_", "text", "reason"),
    [
        (BOOLEAN, '"true"', "Can't convert type. sourceType: TextNode, requiredType: BOOLEAN, path: $.V"),
        (INTEGER, "true", "Can't convert type. sourceType: BooleanNode, requiredType: INTEGER, path: $.V"),
        (INTEGER, '" 1"', "Can't coerce string to type. targetType: INTEGER, path: $.V"),
        (
            INTEGER,
            "99999999999",
            "Number out of range: 99999999999: INTEGER holds -2147483648 to 2147483647. Use BIGINT, path: $.V",
        ),
        (INTEGER, "1e10", "Number out of range: 1E+10"),
        (BIGINT, "9223372036854775808", "Number out of range: 9223372036854775808: BIGINT holds"),
        (BIGINT, "18446744073709551615", "Number out of range: 18446744073709551615"),
        (BIGINT, "1e5000", "Number out of range: 1E+5000"),
        (BIGINT, "-1e400", "Number out of range: -1E+400"),
        (DATE, "2147483648", "Number out of range: 2147483648"),
        (TIMESTAMP, "1e19", "Number out of range: 1E+19"),
        (DOUBLE, "1e400", "Number out of range: 1E+400: DOUBLE holds"),
        (DOUBLE, f"-{10**400}", "Number out of range: -1000"),
        (DOUBLE, '"1e400"', "Can't coerce string to type. targetType: DOUBLE, path: $.V"),
        (INTEGER, '"2147483648"', "Can't coerce string to type. targetType: INTEGER, path: $.V"),
        (DOUBLE, '"one"', "Can't coerce string to type. targetType: DOUBLE, path: $.V"),
        (Decimal(4, 2), "1.001", "Cannot fit decimal '1.001' into DECIMAL(4, 2) without rounding., path: $.V"),
        (Decimal(4, 2), "0.1000000000000000055", "without rounding"),
        (Decimal(4, 2), "123", "Numeric field overflow"),
        (Decimal(4, 2), "1e999999", "Numeric field overflow"),
        (BYTES, '"***"', "Value is not a valid Base64 encoded string: ***, path: $.V"),
        (TIME, "86400001", "Time values must use number of milliseconds"),
        (Array(INTEGER), '{"a": 1}', "sourceType: ObjectNode, requiredType: ARRAY<INTEGER>, path: $.V"),
        (Array(INTEGER), '[1, "x"]', "targetType: INTEGER, path: $.V[1]"),
        (Map(STRING, INTEGER), '{"k": "x"}', "targetType: INTEGER, path: $.V.k.value"),
        (Array(PERSON), '[{"age": "x"}]', "targetType: INTEGER, path: $.V[0].AGE"),
        (STRING, '"\\ud800"', "half of a surrogate pair"),
        (DOUBLE, "NaN", "The record is not JSON"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_told_with_its_place(type_: SqlType, text: str, reason: str) -> None:
    found = decode_one(layout_of({"V": type_}, JSON), f'{{"V": {text}}}'.encode())
    assert isinstance(found, Undecodable)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("payload", "row"),
    [
        (None, None),
        (b"{}", (None, None)),
        (b'{"a": 1, "A": 2, "s": "x"}', (2, "x")),
        (b'{"A": null, "a": 2}', (None, None)),
        (b'{"a": 1, "a": 2}', (2, None)),
        (b' {"a": 1} what follows does not count', (1, None)),
    ],
    ids=str,
)
def test_fields_are_found_by_their_names(payload: bytes | None, row: Any) -> None:
    assert decode_one(layout_of({"A": INTEGER, "S": STRING}, JSON), payload) == row


@pytest.mark.parametrize("payload", [b"", b"null", b"[]", b"1", b"{bad", b"\xff", b"[" * 100_000, b'{"A":' * 100_000])
def test_bytes_that_are_no_object_are_undecodable(payload: bytes) -> None:
    assert isinstance(decode_one(layout_of({"A": INTEGER, "S": STRING}, JSON), payload), Undecodable)


@pytest.mark.parametrize(
    ("use", "is_key", "payload", "row"),
    [
        (JSON, True, b'"k"', ("k",)),
        (JSON, True, b"12", ("12",)),
        (JSON, True, b"null", (None,)),
        (JSON, True, b"", ("",)),
        (ALONE, False, b'"k"', ("k",)),
        (JSON, False, b'{"k": "x"}', ("x",)),
    ],
    ids=str,
)
def test_single_columns_may_stand_alone(use: FormatUse, is_key: bool, payload: bytes, row: Any) -> None:
    assert decode_one(layout_of({"K": STRING}, use, is_key=is_key), payload) == row


def test_thousands_of_shapes_of_objects_are_no_trouble() -> None:
    payloads = [f'{{"x{number}": 0, "a": {number}}}'.encode() for number in range(2_500)]
    decode = format_of("JSON").decoder(layout_of({"A": INTEGER}, JSON))
    assert decode(payloads) == [(number,) for number in range(2_500)]


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        (DOUBLE, 1.0, "1.0"),
        (DOUBLE, 1e10, "1.0E10"),
        (DOUBLE, 1e-4, "1.0E-4"),
        (DOUBLE, math.nan, '"NaN"'),
        (DOUBLE, -math.inf, '"-Infinity"'),
        (Decimal(10, 2), Exact("1.50"), "1.50"),
        (Decimal(10, 8), Exact("1E-8"), "0.00000001"),
        (BYTES, b"\x00\xff", '"AP8="'),
        (Array(Decimal(3, 1)), [Exact("0.0"), None], "[0.0,null]"),
        (Map(STRING, DOUBLE), {"k": 1e10, "l": None}, '{"k":1.0E10,"l":null}'),
        (PERSON, {"NAME": "é", "AGE": None}, '{"NAME":"é","AGE":null}'),
        (Struct((Field("X", Decimal(3, 1)), Field("S", STRING))), {"X": Exact("1.0"), "S": "x"}, '{"X":1.0,"S":"x"}'),
        (STRING, None, "null"),
    ],
    ids=str,
)
def test_values_are_written_as_java_does(type_: SqlType, value: Any, text: str) -> None:
    assert encode_one(layout_of({"V": type_}, JSON), (value,)) == f'{{"V":{text}}}'.encode()
    alone = encode_one(layout_of({"V": type_}, ALONE), (value,))
    assert alone == (None if value is None else text.encode())


def test_a_map_may_have_null_for_a_key() -> None:
    layout = layout_of({"M": Map(STRING, INTEGER)}, FormatUse("JSON"))
    assert encode_one(layout, ({None: 1, "a": 2},)) == b'{"M":{"null":1,"a":2}}'


def test_tombstones_are_no_records() -> None:
    assert encode_one(layout_of({"V": STRING}, JSON), None) is None


_TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
_ROWS = st.tuples(
    st.none() | st.integers(-(2**31), 2**31 - 1),
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.none() | st.floats(allow_nan=False),
    st.none() | st.booleans(),
    st.none() | _TEXT,
    st.none() | st.decimals(-(10**35) + 1, 10**35 - 1, places=3),
    st.none() | st.binary(max_size=8),
    st.none() | st.integers(0, 86_399_999),
    st.none() | st.integers(-(2**31), 2**31 - 1),
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.none()
    | st.lists(st.none() | st.fixed_dictionaries({"NAME": _TEXT, "AGE": st.none() | st.integers(0, 99)}), max_size=3),
    st.none() | st.lists(st.none() | st.integers(0, 99), max_size=3),
    st.none() | st.dictionaries(_TEXT, st.none() | st.decimals(-999, 999, places=1), max_size=3),
    st.none() | st.fixed_dictionaries({"NAME": st.none() | _TEXT, "AGE": st.none() | st.integers(0, 99)}),
)


@given(_ROWS)
def test_what_is_written_is_read_again(row: tuple[Any, ...]) -> None:
    layout = layout_of(EVERY_TYPE, JSON)
    payload = encode_one(layout, row)
    assert payload is not None
    assert list(json.loads(payload)) == list(EVERY_TYPE)
    assert decode_one(layout, payload) == row


@given(
    st.binary(max_size=30)
    | _TEXT.map(str.encode)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | _TEXT,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from([*EVERY_TYPE, "i", "n", "name"]), inner, max_size=4)
        ),
    ).map(lambda value: json.dumps(value).encode())
)
def test_no_bytes_break_the_decoder(payload: bytes) -> None:
    found = decode_one(layout_of(EVERY_TYPE, JSON), payload)
    assert isinstance(found, Undecodable) or (found is not None and len(found) == len(EVERY_TYPE))
