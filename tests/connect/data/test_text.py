"""Values as text, and headers parsed again."""

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.kernel.java.numbers import double_text
from connect.data.header_parsing import parse_header
from connect.data.mismatch import Mismatch
from connect.data.schema import (
    BOOLEAN,
    DATE_SCHEMA,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Schema,
    array_of,
    decimal,
    map_of,
)
from connect.data.text import header_text, text_of


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (0.001, "0.001"),
        (0.00012, "1.2E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (-12345678.9, "-1.23456789E7"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (5e-324, "4.9E-324"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_numbers_are_written_as_in_java(number: float, text: str) -> None:
    assert double_text(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_keep_their_digits(number: float) -> None:
    assert float(double_text(number)) == number


def test_a_number_of_32_bits_is_short() -> None:
    assert text_of(0.10000000149011612, FLOAT32) == "0.1"


def test_what_has_no_text() -> None:
    with pytest.raises(Mismatch, match="has a text"):
        text_of(object())


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("", STRING, ""),
        ("  ", STRING, "  "),
        ("null", None, None),
        ("true", BOOLEAN, True),
        (" false ", BOOLEAN, False),
        ("true}", STRING, "true}"),
        ("127", INT8, 127),
        ("-129", INT16, -129),
        ("+40000", INT32, 40000),
        ("2147483648", INT64, 2147483648),
        ("9223372036854775808", decimal(0), Decimal("9223372036854775808")),
        ("1.0", INT8, 1),
        ("1e3", INT16, 1000),
        ("1.1", FLOAT32, 1.1),
        ("3.141592653589793", FLOAT64, 3.141592653589793),
        ("12:30", STRING, "12:30"),
        ("12 apples", STRING, "12 apples"),
        ("2024-02-29", DATE_SCHEMA, date(2024, 2, 29)),
        ("2024-02-30", STRING, "2024-02-30"),
        ("14:34:54.346Z", TIME_SCHEMA, time(14, 34, 54, 346000)),
        ("2019-08-23T14:34:54.346Z", TIMESTAMP_SCHEMA, datetime(2019, 8, 23, 14, 34, 54, 346000, UTC)),
        ("[1, 2, 300]", array_of(INT16), [1, 2, 300]),
        ('["a", "b,c"]', array_of(STRING), ["a", "b,c"]),
        ('["2019-08-23"]', array_of(DATE_SCHEMA), [date(2019, 8, 23)]),
        ("[1, null]", array_of(INT8.as_optional()), [1, None]),
        ('[1, "a"]', None, [1, "a"]),
        ("[]", None, []),
        ('{"a": 1, "b": 2}', map_of(STRING, INT8), {"a": 1, "b": 2}),
        ("{1: [true]}", map_of(INT8, array_of(BOOLEAN)), {1: [True]}),
        ('{"a": 1', STRING, '{"a": 1'),
        ("[a, b]", STRING, "[a, b]"),
        ("{null: 1}", STRING, "{null: 1}"),
        ('"quoted"', STRING, '"quoted"'),
        ("1e9999", STRING, "1e9999"),
        ("[" * 2000, STRING, "[" * 2000),
    ],
)
def test_headers_are_read_as_what_they_show(text: str, schema: Schema | None, value: Any) -> None:
    assert parse_header(text) == (schema, value)


JSON_VALUES = st.recursive(
    st.booleans() | st.integers(-(1 << 63), (1 << 63) - 1) | st.text(max_size=6),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text('ab\\"', max_size=3), inside, max_size=3),
)


@given(st.lists(JSON_VALUES, max_size=4))
def test_headers_there_and_back(value: list[Any]) -> None:
    assert parse_header(header_text(value))[1] == value
