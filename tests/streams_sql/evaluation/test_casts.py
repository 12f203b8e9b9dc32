"""CAST between all types, with the texts that Java writes."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.kernel.java.numbers import double_text
from streams_sql.evaluation import floats, time_texts
from streams_sql.evaluation.casts import cast_function
from streams_sql.problem import SqlProblem
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
    Field,
    Map,
    SqlType,
    Struct,
)
from streams_sql.sql_types import Decimal as DecimalType

MAX_DAYS = 10_000_000


def cast(value: Any, source: SqlType, target: SqlType) -> Any:
    convert = cast_function(source, target)
    return value if convert is None else convert(value)


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        (True, BOOLEAN, STRING, "true"),
        (7, INTEGER, BIGINT, 7),
        (-(2**31), BIGINT, INTEGER, -(2**31)),
        (2147483647.9, DOUBLE, INTEGER, 2**31 - 1),
        (Decimal("9223372036854775807.9"), DecimalType(20, 1), BIGINT, 2**63 - 1),
        (7, INTEGER, DOUBLE, 7.0),
        (7, INTEGER, DecimalType(4, 2), Decimal("7.00")),
        (Decimal("-2.9"), DecimalType(2, 1), INTEGER, -2),
        (Decimal("2.50"), DecimalType(3, 2), DOUBLE, 2.5),
        (Decimal("2.50"), DecimalType(3, 2), STRING, "2.50"),
        (Decimal("1E-7"), DecimalType(9, 7), STRING, "0.0000001"),
        (Decimal("1.25"), DecimalType(3, 2), DecimalType(2, 1), Decimal("1.3")),
        (Decimal("-1.25"), DecimalType(3, 2), DecimalType(2, 1), Decimal("-1.3")),
        (2.9, DOUBLE, INTEGER, 2),
        (1.1, DOUBLE, DecimalType(4, 2), Decimal("1.10")),
        (1.005, DOUBLE, DecimalType(3, 2), Decimal("1.00")),
        (1e10, DOUBLE, STRING, "1.0E10"),
        (" YES ", STRING, BOOLEAN, True),
        ("t", STRING, BOOLEAN, True),
        ("no", STRING, BOOLEAN, False),
        ("", STRING, BOOLEAN, False),
        (" +12 ", STRING, INTEGER, 12),
        ("-9223372036854775808", STRING, BIGINT, -(2**63)),
        ("1e3", STRING, DOUBLE, 1000.0),
        (".5f", STRING, DOUBLE, 0.5),
        (" 1.255 ", STRING, DecimalType(4, 2), Decimal("1.26")),
        ("YWI=", STRING, BYTES, b"ab"),
        ("2020-05-26T23:59:58.123", STRING, TIMESTAMP, 1590537598123),
        ("2020-05-26T23:59:58.123Z", STRING, TIMESTAMP, 1590537598123),
        ("2020-05-26T23:59+0200", STRING, TIMESTAMP, 1590530340000),
        ("2020-05-26T23-01:30", STRING, TIMESTAMP, 1590539400000),
        ("2020-05", STRING, TIMESTAMP, 1588291200000),
        ("1969-12-31T23:59:59.999", STRING, TIMESTAMP, -1),
        ("2020", STRING, DATE, 18262),
        ("0001-01-01", STRING, DATE, -719162),
        ("01:34", STRING, TIME, 5640000),
        ("01:34:20.123456789", STRING, TIME, 5660123),
        (1590537598123, TIMESTAMP, STRING, "2020-05-26T23:59:58.123"),
        (-1, TIMESTAMP, TIME, 86399999),
        (-1, TIMESTAMP, DATE, -1),
        (1, DATE, TIMESTAMP, 86400000),
        (18262, DATE, STRING, "2020-01-01"),
        (5640000, TIME, STRING, "01:34"),
        (5660123, TIME, STRING, "01:34:20"),
        ([1, None], Array(INTEGER), Array(STRING), ["1", None]),
        ([1, None, 3], Array(INTEGER), STRING, "[1, null, 3]"),
        ({"1": 2.5}, Map(STRING, DOUBLE), Map(INTEGER, STRING), {1: "2.5"}),
        ({"a": [1.0]}, Map(STRING, Array(DOUBLE)), STRING, "{a=[1.0]}"),
        (
            {"A": 1, "B": None},
            Struct((Field("A", INTEGER), Field("B", STRING))),
            STRING,
            "Struct{A=1}",
        ),
        (
            {"A": 1, "B": "x"},
            Struct((Field("A", INTEGER), Field("B", STRING))),
            Struct((Field("C", DATE), Field("A", STRING))),
            {"C": None, "A": "1"},
        ),
    ],
)
def test_cast(value: Any, source: SqlType, target: SqlType, expected: Any) -> None:
    found = cast(value, source, target)
    assert type(found) is type(expected)
    assert found == expected
    assert str(found) == str(expected)


@pytest.mark.parametrize(
    ("value", "source", "target"),
    [
        ("1_000", STRING, INTEGER),
        ("1.5", STRING, INTEGER),
        ("2147483648", STRING, INTEGER),
        (2**31, BIGINT, INTEGER),
        (-(2**31) - 1, BIGINT, INTEGER),
        ([1, 2**31], Array(BIGINT), Array(INTEGER)),
        (Decimal("4294967297.5"), DecimalType(12, 1), INTEGER),
        (Decimal(2**63), DecimalType(19, 0), BIGINT),
        (1e20, DOUBLE, INTEGER),
        (2.0**63, DOUBLE, BIGINT),
        (-math.inf, DOUBLE, BIGINT),
        (math.nan, DOUBLE, BIGINT),
        ("", STRING, BIGINT),
        ("NaN", STRING, DOUBLE),
        ("Infinity", STRING, DOUBLE),
        ("1e999", STRING, DOUBLE),
        ("1_0.5", STRING, DOUBLE),
        ("abc", STRING, DecimalType(4, 2)),
        ("NaN", STRING, DecimalType(4, 2)),
        ("1E9999", STRING, DecimalType(4, 2)),
        ("100", STRING, DecimalType(4, 2)),
        (100, INTEGER, DecimalType(4, 2)),
        (99.999, DOUBLE, DecimalType(4, 2)),
        (math.nan, DOUBLE, DecimalType(4, 2)),
        (math.inf, DOUBLE, DecimalType(4, 2)),
        ("2020-13-01", STRING, DATE),
        ("2021-02-29", STRING, DATE),
        ("yesterday", STRING, TIMESTAMP),
        ("2020-01-01T25:00", STRING, TIMESTAMP),
        ("2020-01-01T10:00:00.000+x", STRING, TIMESTAMP),
        ("24:00", STRING, TIME),
        ("12", STRING, TIME),
        ("a*b", STRING, BYTES),
    ],
)
def test_a_value_that_cannot_be_cast_is_an_error(value: Any, source: SqlType, target: SqlType) -> None:
    with pytest.raises((ValueError, ArithmeticError)):
        cast(value, source, target)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (BOOLEAN, INTEGER),
        (INTEGER, BOOLEAN),
        (BYTES, STRING),
        (TIME, TIMESTAMP),
        (DATE, INTEGER),
        (Array(INTEGER), Map(STRING, INTEGER)),
        (Array(BOOLEAN), Array(INTEGER)),
        (STRING, Array(STRING)),
        (Struct((Field("A", BOOLEAN),)), Struct((Field("A", DATE),))),
        (BOOLEAN, DecimalType(4, 2)),
    ],
)
def test_some_types_have_no_cast(source: SqlType, target: SqlType) -> None:
    with pytest.raises(SqlProblem, match=r"Cast of .* is not supported"):
        cast_function(source, target)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (5e-324, "4.9E-324"),
        (-1e23, "-1.0E23"),
        (-1.5e-10, "-1.5E-10"),
        (123456789.125, "1.23456789125E8"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (math.nan, "NaN"),
    ],
)
def test_texts_of_doubles_are_those_of_java(value: float, text: str) -> None:
    assert double_text(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_double_gives_it_back(value: float) -> None:
    assert floats.parse(double_text(value)) == value


@given(st.integers(-MAX_DAYS, MAX_DAYS))
def test_days_and_calendar_agree(days: int) -> None:
    assert time_texts.days_from_civil(*time_texts.civil_from_days(days)) == days


@given(st.integers(-62135596800000, 253402300799999))
def test_the_text_of_a_timestamp_gives_it_back(value: int) -> None:
    assert time_texts.parse_timestamp(time_texts.timestamp_text(value)) == value
