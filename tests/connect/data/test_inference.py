"""Schemas found out from values and rows."""

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest

from connect.data.inference import infer, infer_rows, merged
from connect.data.mismatch import Mismatch
from connect.data.schema import (
    BOOLEAN,
    BYTES,
    DATE_SCHEMA,
    FLOAT32,
    FLOAT64,
    INT8,
    INT32,
    INT64,
    STRING,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Schema,
    array_of,
    decimal,
    struct,
)


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (True, BOOLEAN),
        (1, INT64),
        (1 << 63, decimal(0)),
        (1.5, FLOAT64),
        ("x", STRING),
        (b"x", BYTES),
        (Decimal("1.25"), decimal(2)),
        (Decimal("1E+3"), decimal(0)),
        (date(2024, 1, 1), DATE_SCHEMA),
        (time(1), TIME_SCHEMA),
        (datetime(2024, 1, 1, tzinfo=UTC), TIMESTAMP_SCHEMA),
        (None, STRING.as_optional()),
        ([], array_of(STRING.as_optional())),
        ([1, None], array_of(INT64.as_optional())),
        ([1, 2.5], array_of(FLOAT64)),
        ({"a": {"b": [None]}}, struct(("a", struct(("b", array_of(STRING.as_optional())))))),
    ],
)
def test_the_schema_of_a_value(value: Any, schema: Schema) -> None:
    assert infer(value) == schema


@pytest.mark.parametrize(
    ("rows", "fields"),
    [
        ([], ()),
        ([{"a": 1}, {"a": 2}], (("a", INT64),)),
        ([{"a": 1}, {"a": None}], (("a", INT64.as_optional()),)),
        ([{"a": None}, {"a": 1}], (("a", INT64.as_optional()),)),
        ([{"a": 1}, {"a": 1.5}], (("a", FLOAT64),)),
        ([{"a": 1}, {"b": "x"}], (("a", INT64.as_optional()), ("b", STRING.as_optional()))),
        ([{"a": Decimal("1.5")}, {"a": Decimal("1.25")}, {"a": 7}], (("a", decimal(2)),)),
        ([{"a": Decimal("1.5")}, {"a": 1.5}], (("a", FLOAT64),)),
        ([{"a": []}, {"a": [1]}], (("a", array_of(INT64.as_optional())),)),
        ([{"a": {"b": 1}}, {"a": {"c": 1}}], (("a", struct(("b", INT64.as_optional()), ("c", INT64.as_optional()))),)),
    ],
)
def test_the_schema_of_rows(rows: list[dict[str, Any]], fields: tuple[tuple[str, Schema], ...]) -> None:
    assert infer_rows(rows, name="table") == struct(*fields, name="table")


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"a": 1}, {"a": "x"}], "a: values of the types int64 and string do not go together"),
        ([{"a": {"b": [1]}}, {"a": {"b": ["x"]}}], "a.b: values"),
        ([{"a": [1, True]}], "[1]: values"),
        ([{"a": object()}], "is not a value whose schema can be found out"),
    ],
)
def test_values_that_do_not_go_together(rows: list[dict[str, Any]], told: str) -> None:
    with pytest.raises(Mismatch) as refused:
        infer_rows(rows)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("first", "second", "wider"),
    [
        (INT8, INT32, INT32),
        (INT64, FLOAT32, FLOAT32),
        (FLOAT32, FLOAT64.as_optional(), FLOAT64.as_optional()),
        (INT32.as_optional(), INT32, INT32.as_optional()),
    ],
)
def test_numbers_widen(first: Schema, second: Schema, wider: Schema) -> None:
    assert merged(first, second) == merged(second, first) == wider
