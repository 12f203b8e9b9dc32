"""JSON that is read as columns, and written many records at once, is what it is one by one."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from decimal import Decimal as PythonDecimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams_sql.formats.json.columns import FAILURES_MAX, NAMES_MAX, json_columns
from streams_sql.formats.json.reading import json_decoder
from streams_sql.formats.json.writing import json_encoder, single_encoder
from streams_sql.formats.serde import DecodeColumns, Encode, Layout, Values
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
    SqlType,
)
from tests.streams_sql.formats.layouts import layout_of

JSON = FormatUse("JSON")
PLAIN = layout_of({"I": INTEGER, "L": BIGINT, "D": DOUBLE, "O": BOOLEAN, "S": STRING}, JSON)
SPELT = layout_of({"I": INTEGER, "i": BIGINT, "s": STRING}, JSON)

WHOLE = st.sampled_from([0, 1, -1, 2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 2**70])
TEXTS_OF_NUMBERS = ("-0", "-0.0", "1.0", "1e2", "1E400", "1e-400", "01", "1.", "+1", "NaN", "1152921504606846977.0")
OTHERS = st.sampled_from([None, True, 0.1, 1.5, "", "7", "é", "\U0001f600", [1], {}, {"i": 1}])
NAMES = st.sampled_from(["I", "i", "l", "L", "d", "o", "S", "s", "z", "é", 'q"'])
LINES = st.sampled_from(
    [
        *(f'{{"d":{text},"i":1}}'.encode() for text in TEXTS_OF_NUMBERS),
        *(f'{{"i":{text}}}'.encode() for text in TEXTS_OF_NUMBERS),
        *(b"", b" ", b"null", b"7", b"[]", b'["i"]', b'{"i": ', b'{"i": 1} {"i": 2}', b'{"i":1}x', b"\xef\xbb\xbf{}"),
        *(b'{"i":1,"i":2}', b'{"i":"x","i":2}', b'{"i":1,"I":2}', b'{"\\u0069":3}', b'{"z":"\xff"}', b'{"z\xff":1}'),
        *(
            b'{"S":"\\ud800"}',
            b'{"z":"\\ud800"}',
            b'{"z":"\\ud83d\\ude00"}',
            b'{"s":"a\x01"}',
            b'{"s":"\\x"}',
            b'{"z":}',
        ),
        *(
            b'{"s":"a\x00"}',
            b'{"z":[1,]}',
            b'{"z":{"a":1,}}',
            b'{"i":1,}',
            b"{'i':1}",
            b'{"i":1/**/}',
            b"\x00",
            b"\xff",
        ),
        *(b'{"z":' + b"[" * 990 + b"]" * 990 + b"}", b'{"z":' + b"[" * 1100 + b"]" * 1100 + b"}"),
    ]
)
OBJECTS = st.dictionaries(NAMES, WHOLE | OTHERS).map(json.dumps).map(str.encode)
ORDINARY = st.fixed_dictionaries({"i": st.none() | st.integers(-9, 9), "d": st.floats(-9, 9), "s": st.text()}).map(
    lambda found: json.dumps(found).encode()
)
BATCHES = st.lists(st.lists(ORDINARY, max_size=4) | st.lists(st.none() | OBJECTS | LINES, max_size=4), max_size=6)


def columns_of(layout: Layout) -> DecodeColumns:
    found = json_columns(layout)
    assert found is not None
    return found


def rows_of(columns: Sequence[Sequence[Any]] | None) -> list[Values] | None:
    return None if columns is None else list(zip(*columns, strict=True))


@given(BATCHES)
def test_columns_are_those_of_the_records_one_by_one(batches: list[list[bytes | None]]) -> None:
    for layout in (PLAIN, SPELT):
        decode, reference = columns_of(layout), json_decoder(layout)
        for payloads in batches:
            found = rows_of(decode(payloads))
            assert found is None or repr(found) == repr(reference(payloads))


def test_names_are_learned_however_they_are_spelt_and_when_new_ones_come() -> None:
    decode = columns_of(PLAIN)
    assert rows_of(decode([b'{"i":1,"s":"x"}', b'{"l":2}'])) == [
        (1, None, None, None, "x"),
        (None, 2, None, None, None),
    ]
    assert rows_of(decode([b'{"D":1,"new":[{"i":7}]}'])) == [(None, None, 1.0, None, None)]
    assert rows_of(decode([b'{"i":5,"new":null}'])) == [(5, None, None, None, None)]


def test_a_name_that_comes_in_two_spellings_is_left_to_the_reference() -> None:
    decode = columns_of(PLAIN)
    assert decode([b'{"i":1,"I":2}']) is None
    assert decode([b'{"i":1}']) is None


def test_one_column_may_be_named_like_another_but_for_the_case() -> None:
    assert columns_of(SPELT)([b'{"i":1}']) is None
    assert rows_of(columns_of(SPELT)([b'{"i":1,"I":2}'])) is None
    assert json_decoder(SPELT)([b'{"i":1,"I":2}']) == [(2, 1, None)]


def test_records_with_ever_new_names_do_not_make_ever_larger_decoders() -> None:
    decode = columns_of(PLAIN)
    for number in range(NAMES_MAX):
        decode([f'{{"i":1,"n{number}":0}}'.encode()])
    assert decode([b'{"i":1}']) is None


def test_after_many_bad_records_good_ones_are_read_as_columns() -> None:
    decode = columns_of(PLAIN)
    assert rows_of(decode([b'{"i":1}'])) is not None
    for _ in range(2 * FAILURES_MAX):
        assert decode([b'{"i":']) is None
    assert rows_of(decode([b'{"i":1}'])) is not None


@pytest.mark.parametrize("columns", [{"A": Array(INTEGER), "I": INTEGER}, {"M": Decimal(4, 2), "I": INTEGER}], ids=str)
def test_columns_that_are_not_plain_are_left_to_the_reference(columns: dict[str, SqlType]) -> None:
    assert json_columns(layout_of(columns, JSON)) is None


WRITTEN = layout_of(
    {
        **dict(zip("ILDOSB", (INTEGER, BIGINT, DOUBLE, BOOLEAN, STRING, BYTES), strict=True)),
        'q"é\n': STRING,
        **dict(zip("THCM", (TIMESTAMP, DATE, TIME, Decimal(20, 3)), strict=True)),
    },
    JSON,
)
DOUBLES = st.floats() | st.sampled_from([0.0, -0.0, 1e-3, 9.99e-4, 1e7, 9999999.9, 1e16, 1e22, math.inf, -math.inf])
TEXTS = st.text(max_size=5) | st.sampled_from(["\n", "\\n", '"', "\x7f", "\u2028", "\ud800"])
ROWS = st.lists(
    st.none()
    | st.tuples(
        *(st.none() | st.integers(-(2**31), 2**31 - 1), st.none() | st.integers(-(2**63), 2**63 - 1)),
        *(st.none() | DOUBLES, st.none() | st.booleans(), st.none() | TEXTS, st.none() | st.binary(max_size=5)),
        *(st.none() | TEXTS, st.none() | st.integers(0, 2**40), st.integers(-9, 9), st.integers(0, 86_399_999)),
        st.none() | st.sampled_from([PythonDecimal("1.500"), PythonDecimal("-0.001"), PythonDecimal("1E+3")]),
    ),
    max_size=5,
)


def outcome(encode: Encode, rows: list[Values | None]) -> list[bytes | None] | str:
    try:
        return encode(rows)
    except TypeError as error:
        return str(error)


@given(ROWS)
def test_many_rows_are_written_as_each_alone(rows: list[Values | None]) -> None:
    assert outcome(json_encoder(WRITTEN), rows) == outcome(single_encoder(WRITTEN), rows)


def test_records_without_columns_are_written_as_well() -> None:
    assert json_encoder(layout_of({}, JSON))([(), None]) == [b"{}", None]
