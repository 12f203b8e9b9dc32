"""The native form of an overload gives what its reference gives, on real Spark and over many values."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from streams_sql.evaluation.calls import bound_reference
from streams_sql.function_declaration import AnyDecimal, AnyType, ArrayOf, IntervalUnit, MapOf, Overload, Pattern
from streams_sql.functions.library import LIBRARY
from streams_sql.functions.native_forms import native_text
from streams_sql.functions.resolution import resolve
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
    Base,
    Map,
    SqlType,
)
from streams_sql.sql_types import Decimal as DecimalType

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 400
ARGUMENTS_MAX = 4
VARIADIC_COUNTS = (1, 3)
DECIMAL = DecimalType(10, 2)
# Java and C round the last digits of transcendental functions differently.
RELATIVE_TOLERANCE = 1e-12

INTEGERS = (0, 1, -1, 2, 3, 5, -4, 17, 64, 255, 2**31 - 1, -(2**31))
BIGINTS = (*INTEGERS, 2**53 + 1, 2**63 - 1, -(2**63))
DOUBLES = (0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1e-9, 1e9, 709.0, -800.0, 1e300, math.inf, -math.inf, math.nan)
DECIMALS = tuple(map(Decimal, ("0.00", "1.25", "-7.50", "99999999.99", "-0.01")))
TEXTS = (
    "",
    " ",
    "a",
    "b",
    "ab",
    "abab",
    "aXb",
    "Hello World",
    " x\t",
    "a,b,,c",
    ",",
    ".",
    "\\E",
    "\\Q",
    "ä",
    "Straße",
    "日本語",
    "😀z",
)


@dataclass(frozen=True)
class Samples:
    """Values of a type, the type in Spark, and how names of its columns begin."""

    prefix: str
    spark_type: str
    values: Sequence[Any]


SAMPLES: dict[SqlType, Samples] = {
    BOOLEAN: Samples("boolean", "boolean", (True, False)),
    INTEGER: Samples("integer", "int", INTEGERS),
    BIGINT: Samples("bigint", "bigint", BIGINTS),
    DOUBLE: Samples("double", "double", DOUBLES),
    DECIMAL: Samples("decimal", "decimal(10,2)", DECIMALS),
    STRING: Samples("string", "string", TEXTS),
    BYTES: Samples("bytes", "binary", (b"", b"a", b"ab", b"\x00\xff", b"abcdefgh")),
    TIME: Samples("time", "int", (0, 1, 86_399_999)),
    DATE: Samples("date", "int", (0, -1, 19_000)),
    TIMESTAMP: Samples("timestamp", "bigint", (0, -1, 1_700_000_000_000)),
    Array(STRING): Samples("array", "array<string>", ([], ["a"], ["a", None, "b"])),
    Array(DECIMAL): Samples("decimals", "array<decimal(10,2)>", ([], [DECIMALS[1]], [DECIMALS[0], None, DECIMALS[2]])),
    Map(STRING, STRING): Samples("map", "map<string,string>", ({}, {"a": "x"}, {"a": None, "b": "y"})),
}


@dataclass(frozen=True)
class Column:
    type: SqlType
    number: int

    @property
    def name(self) -> str:
        return f"{SAMPLES[self.type].prefix}_{self.number}"


@dataclass(frozen=True)
class NativeCall:
    """A call of an overload with columns as its arguments."""

    name: str
    overload: Overload
    columns: tuple[Column, ...]
    result: SqlType

    def text(self) -> str:
        assert self.overload.spark is not None
        return native_text(self.overload.spark, [column.name for column in self.columns])

    def expected(self, rows: Sequence[dict[str, Any]]) -> list[Any]:
        reference = bound_reference(self.overload, [column.type for column in self.columns], self.result)
        return [attempted(reference, [row[column.name] for column in self.columns]) for row in rows]


def attempted(reference: Any, arguments: Sequence[Any]) -> Any:
    try:
        return reference(*arguments)
    except (ValueError, ArithmeticError):
        return None


COLUMNS = tuple(Column(type_, number) for type_ in SAMPLES for number in range(ARGUMENTS_MAX))


def concrete(pattern: Pattern) -> SqlType:
    match pattern:
        case AnyType():
            return STRING
        case AnyDecimal():
            return DECIMAL
        case ArrayOf(element):
            return Array(concrete(element))
        case MapOf(key, value):
            return Map(concrete(key), concrete(value))
    assert isinstance(pattern, Base), f"there are no values of {pattern}"
    return pattern


def native_calls() -> Iterator[NativeCall]:
    for function in (*LIBRARY.scalars.values(), *LIBRARY.tables.values()):
        for overload in function.overloads:
            # Those that take a unit are tried with all units elsewhere.
            if overload.spark is None or IntervalUnit() in overload.parameters:
                continue
            types = [concrete(parameter) for parameter in overload.parameters]
            for count in VARIADIC_COUNTS if overload.is_variadic else (0,):
                arguments = types[:-1] + types[-1:] * count if overload.is_variadic else types
                columns = tuple(Column(type_, number) for number, type_ in enumerate(arguments))
                resolved = resolve(function, [column.type for column in columns])
                assert resolved.overload is overload
                yield NativeCall(function.name, overload, columns, resolved.result)


def made_rows() -> list[dict[str, Any]]:
    choice = random.Random(20)
    return [
        {column.name: choice.choice((*SAMPLES[column.type].values, None)) for column in COLUMNS} for _ in range(ROWS)
    ]


def plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, bytearray) else value


def agree(found: Any, expected: Any) -> bool:
    if isinstance(found, float) and isinstance(expected, float | int):
        both_nan = math.isnan(found) and math.isnan(expected)
        return both_nan or math.isclose(found, expected, rel_tol=RELATIVE_TOLERANCE, abs_tol=1e-300)
    return type(found) is type(expected) and bool(found == expected)


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return made_rows()


def test_native_forms_agree_with_their_references(spark: SparkSession, rows: list[dict[str, Any]]) -> None:
    calls = list(native_calls())
    assert calls
    schema = ", ".join(f"{column.name} {SAMPLES[column.type].spark_type}" for column in COLUMNS)
    frame = spark.createDataFrame([tuple(row.values()) for row in rows], schema)
    selected = frame.selectExpr(*[f"{call.text()} AS c{index}" for index, call in enumerate(calls)]).collect()
    differences = []
    for index, call in enumerate(calls):
        for row, found, expected in zip(rows, selected, call.expected(rows), strict=True):
            if not agree(plain(found[index]), expected):
                arguments = [row[column.name] for column in call.columns]
                differences.append(f"{call.name}{arguments}: {found[index]!r} in Spark, {expected!r} by the reference")
                break
    assert not differences, "\n".join(differences)
