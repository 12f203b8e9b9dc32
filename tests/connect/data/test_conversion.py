"""Values checked by their schemas: what fits stays what it is, and what does not is told with its place."""

from dataclasses import replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import given, settings

from connect.data.conversion import Conversion
from connect.data.mismatch import Mismatch
from connect.data.schema import (
    BOOLEAN,
    BYTES,
    DATE_SCHEMA,
    FLOAT32,
    FLOAT64,
    INT8,
    INT32,
    STRING,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Schema,
    array_of,
    decimal,
    map_of,
    struct,
)
from tests.connect.converters.strategies import schemas_and_values

POINT = struct(("x", INT32), ("tags", array_of(STRING, optional=True)))


class Level(IntEnum):
    HIGH = 3


@settings(max_examples=50)
@given(schemas_and_values())
def test_values_that_fit_stay_what_they_are(given_: tuple[Schema, Any]) -> None:
    schema, value = given_
    assert Conversion().compile(schema)(value) == value


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (FLOAT64, 3, 3.0),
        (INT32, Level.HIGH, 3),
        (BYTES, bytearray(b"x"), b"x"),
        (decimal(2), 5, Decimal(5)),
        (array_of(INT8), (1, 2), [1, 2]),
        (POINT, {"x": 1}, {"x": 1, "tags": None}),
        (replace(INT32, default=7), None, 7),
    ],
)
def test_values_that_are_made_to_fit(schema: Schema, value: Any, expected: Any) -> None:
    found = Conversion().compile(schema)(value)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        (INT8, 128, "128 (int) is not a whole number of 8 bits"),
        (INT32, 1.0, "1.0 (float) is not a whole number of 32 bits"),
        (INT32, True, "True (bool) is not a whole number of 32 bits"),
        (INT32, None, "null, where a value of type int32 is required and there is no default"),
        (BOOLEAN, 1, "1 (int) is not a boolean"),
        (STRING, b"x", "b'x' (bytes) is not a string"),
        (FLOAT32, 3.5e38, "3.5e+38 (float) is not a number of 32 bits"),
        (FLOAT64, "1", "'1' (str) is not a number"),
        (BYTES, "x", "'x' (str) is not bytes"),
        (decimal(1), 1.5, "1.5 (float) is not a decimal"),
        (DATE_SCHEMA, datetime(2024, 1, 1, tzinfo=UTC), "is not a date"),
        (TIME_SCHEMA, 5, "5 (int) is not a time"),
        (TIMESTAMP_SCHEMA, date(2024, 1, 1), "is not a timestamp"),
        (POINT, {"x": 1, "tags": ["a", 2]}, "tags[1]: 2 (int) is not a string"),
        (struct(("p", POINT)), {"p": {"x": None}}, "p.x: null"),
        (map_of(STRING, POINT), {"k": {"x": "1"}}, "['k'].x: '1'"),
        (POINT, {"x": 1, "y": 2}, "the schema has no field y"),
        (POINT, "x" * 100, "…"),
        (replace(decimal(0), parameters=(("scale", "two"),)), Decimal(1), "the scale of a decimal is 'two'"),
    ],
)
def test_values_that_are_refused(schema: Schema, value: Any, told: str) -> None:
    with pytest.raises(Mismatch) as refused:
        Conversion().compile(schema)(value)
    assert told in str(refused.value)


def test_null_stays_null_when_defaults_are_not_wanted() -> None:
    schema = replace(INT32.as_optional(), default=7)
    assert Conversion().compile(schema)(None) == 7
    assert Conversion(replaces_null=False).compile(schema)(None) is None


def test_a_time_is_no_part_of_a_timestamp() -> None:
    with pytest.raises(Mismatch):
        Conversion().compile(TIMESTAMP_SCHEMA)(time(1, 2))
