"""Rows as JSON objects: what each type takes, and what it says of what it does not."""

from __future__ import annotations

import decimal
import math
from typing import Any

import pytest

from streams_sql.engine.statements.json_rows import JsonRows
from streams_sql.problem import SqlProblem
from streams_sql.sources import Column
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

PLACE = Struct((Field("X", INTEGER), Field("y", DATE)))


def taken(type_: SqlType, value: Any) -> Any:
    (found,) = JsonRows("S", [Column("V", type_)]).row({"V": value})
    return found


@pytest.mark.parametrize(
    ("type_", "value", "found"),
    [
        (BOOLEAN, False, False),
        (INTEGER, -(2**31), -(2**31)),
        (BIGINT, 2**63 - 1, 2**63 - 1),
        (DOUBLE, 1, 1.0),
        (DOUBLE, 1.5, 1.5),
        (STRING, "", ""),
        (BYTES, "AP8=", b"\x00\xff"),
        (TIME, "01:00:01", 3_601_000),
        (DATE, "1970-01-02", 1),
        (DATE, 3, 3),
        (TIMESTAMP, "1970-01-01T00:00:01.5", 1_500),
        (TIMESTAMP, 1_500, 1_500),
        (Decimal(4, 2), 1.005, decimal.Decimal("1.01")),
        (
            Decimal(38, 18),
            "12345678901234567890.123456789012345678",
            decimal.Decimal("12345678901234567890.123456789012345678"),
        ),
        (Decimal(4, 2), 12, decimal.Decimal("12.00")),
        (Array(INTEGER), [1, None], [1, None]),
        (Map(STRING, DOUBLE), {"a": 1, "b": None}, {"a": 1.0, "b": None}),
        (PLACE, {"x": 1, "y": "1970-01-02"}, {"X": 1, "y": 1}),
        (PLACE, {}, {"X": None, "y": None}),
        (Array(PLACE), [{"X": 1, "y": 1}], [{"X": 1, "y": 1}]),
        (INTEGER, None, None),
    ],
    ids=str,
)
def test_values_that_fit(type_: SqlType, value: Any, found: Any) -> None:
    assert taken(type_, value) == found


@pytest.mark.parametrize(
    ("type_", "value", "message"),
    [
        (BOOLEAN, 1, "1 is a number, and a boolean is wanted"),
        (INTEGER, 2**31, "Number out of range: 2147483648: INTEGER holds -2147483648 to 2147483647. Use BIGINT"),
        (BIGINT, -(2**63) - 1, "Number out of range: -9223372036854775809"),
        (DOUBLE, 10**400, "too large"),
        (DOUBLE, math.inf, "inf is too large"),
        (TIME, 86_400_001, "Time values must use"),
        (DATE, 2**31, "Number out of range: 2147483648"),
        (INTEGER, "1", "'1' is no whole number"),
        (INTEGER, 1.5, "1.5 is no whole number"),
        (BIGINT, True, "True is no whole number"),
        (DOUBLE, "1", "'1' is no number"),
        (STRING, 1, "1 is a number, and a text is wanted"),
        (BYTES, "?", ""),
        (DATE, "tomorrow", "Failed to parse date 'tomorrow'"),
        (Decimal(4, 2), 123, "must round to an absolute value less than 10^2"),
        (Decimal(4, 2), "much", "'much' is no number"),
        (Array(INTEGER), {}, "{} is an object, and a list is wanted"),
        (Array(INTEGER), ["x" * 100], f"'{'x' * 39}… is no whole number"),
        (Map(STRING, INTEGER), {"a": "b"}, "'b' is no whole number"),
        (PLACE, {"Z": 1}, "there is no field Z"),
    ],
    ids=str,
)
def test_values_that_do_not_fit(type_: SqlType, value: Any, message: str) -> None:
    with pytest.raises(SqlProblem) as caught:
        taken(type_, value)
    assert caught.value.message.startswith(f"Column V of S takes {type_}: ")
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ({"id": 1, "lower": 2}, (1, None)),
        ({"ID": 1, "`lower`": 2}, (1, 2)),
        ({"`ID`": 1}, (1, None)),
        ({}, (None, None)),
    ],
    ids=str,
)
def test_names_are_in_any_case_unless_they_are_quoted(row: dict[str, Any], found: tuple[Any, ...]) -> None:
    rows = JsonRows("S", [Column("ID", INTEGER), Column("lower", INTEGER)])
    if "lower" in row:
        with pytest.raises(SqlProblem, match="S has no column lower"):
            rows.row(row)
    else:
        assert rows.row(row) == found
