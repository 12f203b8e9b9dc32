"""Numbers: what each function gives, above all where Java and Python differ."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from streams_sql.functions.library import LIBRARY
from streams_sql.functions.resolution import resolve
from streams_sql.sql_types import BIGINT, DATE, DOUBLE, INTEGER, SqlType
from streams_sql.sql_types import Decimal as DecimalType
from tests.streams_sql.functions.calling import call

INF = math.inf
NAN = math.nan


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("ABS", (-3,), 3),
        ("ABS", (-(2**31),), -(2**31)),
        ("ABS", (-2.5,), 2.5),
        ("ABS", (Decimal("-1.20"),), Decimal("1.20")),
        ("ABS", (None,), None),
        ("ACOS", (1.0,), 0.0),
        ("ACOS", (2,), NAN),
        ("ASIN", (1.0,), math.pi / 2),
        ("ATAN", (1.0,), math.pi / 4),
        ("ATAN2", (1, 1), math.pi / 4),
        ("CBRT", (-27.0,), -3.0),
        ("CEIL", (-0.5,), -0.0),
        ("CEIL", (1.2,), 2.0),
        ("CEIL", (7,), 7),
        ("CEIL", (Decimal("1.20"),), Decimal("2.00")),
        ("COS", (0,), 1.0),
        ("COSH", (1000.0,), INF),
        ("COT", (math.pi / 4,), 1.0),
        ("COT", (0,), INF),
        ("DEGREES", (math.pi,), 180.0),
        ("EXP", (0,), 1.0),
        ("EXP", (1000,), INF),
        ("FLOOR", (-1.5,), -2.0),
        ("FLOOR", (Decimal("-1.20"),), Decimal("-2.00")),
        ("GREATEST", (3, None, 5), 5),
        ("GREATEST", ("a", "b"), "b"),
        ("GREATEST", (NAN, INF), NAN),
        ("GREATEST", (Decimal("1.5"), Decimal("1.25")), Decimal("1.50")),
        ("LEAST", (3, None, 5), 3),
        ("LEAST", (b"b", b"a"), b"a"),
        ("LEAST", (Decimal("1.5"), Decimal("1.25")), Decimal("1.25")),
        ("LN", (1.0,), 0.0),
        ("LN", (0,), -INF),
        ("LN", (-1,), NAN),
        ("LOG", (math.e,), 1.0),
        ("LOG", (2, 8), 3.0),
        ("LOG", (1, 8), NAN),
        ("LOG", (0, 8), NAN),
        ("PI", (), math.pi),
        ("POWER", (2, 10), 1024.0),
        ("POWER", (0.0, -1.0), INF),
        ("POWER", (-0.0, -1.0), -INF),
        ("POWER", (-8.0, 1 / 3), NAN),
        ("POWER", (-10.0, 309.0), -INF),
        ("POWER", (1.0, INF), NAN),
        ("RADIANS", (180,), math.pi),
        ("ROUND", (2.5,), 3),
        ("ROUND", (-2.5,), -2),
        ("ROUND", (0.49999999999999994,), 0),
        ("ROUND", (1e300,), 2**63 - 1),
        ("ROUND", (NAN,), 0),
        ("ROUND", (3,), 3),
        ("ROUND", (1.005, 2), 1.01),
        ("ROUND", (-1.15, 1), -1.1),
        ("ROUND", (1234.5, -2), 1200.0),
        ("ROUND", (Decimal("12.50"),), Decimal("13")),
        ("ROUND", (Decimal("-12.50"),), Decimal("-12")),
        ("ROUND", (Decimal("12.345"), 2), Decimal("12.350")),
        ("SIGN", (-5,), -1),
        ("SIGN", (NAN,), 0),
        ("SIN", (INF,), NAN),
        ("SINH", (-1000.0,), -INF),
        ("SQRT", (-1,), NAN),
        ("SQRT", (4,), 2.0),
        ("TAN", (0.0,), 0.0),
        ("TANH", (0.0,), 0.0),
        ("TRUNC", (-2.9,), -2),
        ("TRUNC", (INF,), 2**63 - 1),
        ("TRUNC", (5,), 5),
        ("TRUNC", (1.239, 2), 1.23),
        ("TRUNC", (Decimal("12.99"),), Decimal("12")),
        ("TRUNC", (Decimal("12.99"), 1), Decimal("12.90")),
    ],
)
def test_result(name: str, arguments: tuple[Any, ...], expected: Any) -> None:
    types = (INTEGER,) if arguments == (None,) else None
    found = call(name, *arguments, types=types)
    assert type(found) is type(expected)
    if isinstance(expected, float):
        assert found == pytest.approx(expected, nan_ok=True)
        assert math.copysign(1, found) == math.copysign(1, expected) or math.isnan(expected)
    else:
        assert str(found) == str(expected)


def test_random_numbers_are_between_0_and_1_and_not_always_the_same() -> None:
    numbers = {call("RANDOM") for _ in range(100)}
    assert len(numbers) > 1
    assert all(0 <= number < 1 for number in numbers)


@pytest.mark.parametrize(
    ("name", "types", "expected"),
    [
        ("ROUND", [DOUBLE], BIGINT),
        ("ROUND", [DecimalType(5, 2)], DecimalType(3, 0)),
        ("ROUND", [DecimalType(5, 2), INTEGER], DecimalType(5, 2)),
        ("TRUNC", [DecimalType(2, 2)], DecimalType(1, 0)),
        ("GREATEST", [DecimalType(5, 2), DecimalType(4, 3)], DecimalType(6, 3)),
        ("GREATEST", [DATE, DATE], DATE),
        ("ATAN2", [INTEGER, DOUBLE], DOUBLE),
    ],
)
def test_type_of_the_result(name: str, types: list[SqlType], expected: SqlType) -> None:
    assert resolve(LIBRARY.scalars[name], types).result == expected


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("ROUND", (Decimal("9.5"),)), ("CEIL", (Decimal("9.5"),)), ("ROUND", (1.5, 1000)), ("ROUND", (NAN, 2))],
)
def test_what_has_no_result_is_an_error(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises((ValueError, ArithmeticError)):
        call(name, *arguments)
