"""Values with their schemas whose bytes were recorded from Kafka Connect 4.3.0 and Confluent's converters 8.5.0."""

from dataclasses import replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, NamedTuple

from connect.data.schema import (
    BOOLEAN,
    BYTES,
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
    struct,
)


class Case(NamedTuple):
    schema: Schema
    value: Any


ADDRESS = struct(("street", STRING), ("number", INT16.as_optional()), name="shop.Address")
CASES = {
    "string": Case(STRING, 'grüß "dich"\n'),
    "numbers": Case(
        struct(("a", INT8), ("b", INT16), ("c", INT32), ("d", INT64), name="shop.Numbers"),
        {"a": -128, "b": 32767, "c": -2147483648, "d": 9223372036854775807},
    ),
    "floats": Case(
        struct(("a", FLOAT32), ("b", FLOAT64), ("c", FLOAT64), ("d", FLOAT64)),
        {"a": 0.1, "b": 12345678.9, "c": 0.00012, "d": 100.0},
    ),
    "others": Case(
        struct(("flag", BOOLEAN), ("data", BYTES), ("none", BYTES.as_optional())),
        {"flag": True, "data": b"\x00\xff\x10", "none": None},
    ),
    "logical": Case(
        struct(
            ("price", decimal(2)),
            ("day", DATE_SCHEMA),
            ("at", TIME_SCHEMA),
            ("seen", TIMESTAMP_SCHEMA),
            ("gone", TIMESTAMP_SCHEMA.as_optional()),
        ),
        {
            "price": Decimal("-1234.56"),
            "day": date(2024, 2, 29),
            "at": time(23, 59, 59, 999000),
            "seen": datetime(2024, 2, 29, 12, 30, 15, 123000, tzinfo=UTC),
            "gone": None,
        },
    ),
    "defaults": Case(
        struct(
            ("count", replace(INT32, default=7)),
            ("note", replace(STRING.as_optional(), default="none")),
            ("tiny", replace(INT8, default=1)),
            name="shop.Defaults",
        ),
        {"count": 8, "note": None, "tiny": 2},
    ),
    "nested": Case(
        struct(
            ("home", ADDRESS),
            ("work", ADDRESS.as_optional()),
            ("tags", array_of(STRING)),
            ("others", array_of(ADDRESS, optional=True)),
            ("scores", map_of(STRING, INT32)),
            ("places", map_of(INT32, struct(("x", FLOAT64)))),
            name="shop.Customer",
        ),
        {
            "home": {"street": "Main", "number": 5},
            "work": {"street": "Side", "number": None},
            "tags": ["a", ""],
            "others": None,
            "scores": {"maths": 1},
            "places": {-3: {"x": 0.5}},
        },
    ),
    "metadata": Case(
        struct(
            ("id", replace(INT64, doc="the number", version=3, parameters=(("unit", "piece"),))),
            ("code", replace(STRING.as_optional(), name="shop.Code")),
            name="shop.Item",
        ),
        {"id": 5, "code": "x"},
    ),
}
