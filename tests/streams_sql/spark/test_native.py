"""Expressions in Spark's SQL give what the reference gives, on real Spark and over many values."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from streams_sql.evaluation.compiler import compile_column
from streams_sql.formats.spark_types import spark_type
from streams_sql.spark.jobs.native import native_text
from streams_sql.sql_types import BIGINT, BOOLEAN, BYTES, DOUBLE, INTEGER, STRING, Array, Field, Map, SqlType, Struct
from streams_sql.sql_types import Decimal as DecimalType
from streams_sql.typed import (
    Case,
    Cast,
    Column,
    Like,
    Literal,
    MakeArray,
    MakeMap,
    MakeStruct,
    Operation,
    Operator,
    StructField,
    Subscript,
    Typed,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MONEY = DecimalType(6, 2)
VALUES: dict[SqlType, tuple[Any, ...]] = {
    BOOLEAN: (True, False, None),
    INTEGER: (0, 1, -7, 2**31 - 1, -(2**31), None),
    BIGINT: (0, 3, -7, 2**63 - 1, -(2**63), None),
    DOUBLE: (0.0, -0.0, 1.5, -2.5, math.nan, math.inf, None),
    STRING: ("", "a", "a%b", "it's \\ ${x}", "Ä😀", None),
    BYTES: (b"", b"\x00\xff", None),
    MONEY: (Decimal("0.00"), Decimal("-1.25"), Decimal("9999.99"), None),
    Array(INTEGER): ([], [1, None, 3], None),
    Map(STRING, INTEGER): ({}, {"a": 1, "": None}, None),
}


def column(name: str, type_: SqlType) -> Column:
    return Column(name, type_)


def operation(operator: Operator, type_: SqlType, *arguments: Typed) -> Operation:
    return Operation(operator, arguments, type_)


COMPARED: tuple[SqlType, ...] = (BOOLEAN, INTEGER, BIGINT, DOUBLE, STRING, BYTES, MONEY)
COMPARISONS = (Operator.EQUAL, Operator.LESS, Operator.GREATER_OR_EQUAL)
CALCULATIONS = (Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY, Operator.DIVIDE, Operator.MODULO)
A_STRUCT = Struct((Field("X", INTEGER), Field("Y y", STRING)))
M, N = column("A", INTEGER), column("B", INTEGER)
B, C = column("A", BOOLEAN), column("B", BOOLEAN)
S = column("A", STRING)

CASES: list[Typed] = [
    *(operation(o, BOOLEAN, column("A", t), column("B", t)) for o, t in product(COMPARISONS, COMPARED)),
    *(operation(o, t, column("A", t), column("B", t)) for o, t in product(CALCULATIONS, (INTEGER, BIGINT))),
    *(operation(o, DOUBLE, column("A", DOUBLE), column("B", DOUBLE)) for o in CALCULATIONS[:3]),
    operation(Operator.DIVIDE, DOUBLE, column("A", DOUBLE), Literal(4.0, DOUBLE)),
    operation(Operator.ADD, DecimalType(7, 2), column("A", MONEY), column("B", MONEY)),
    operation(Operator.MULTIPLY, DecimalType(13, 4), column("A", MONEY), column("B", MONEY)),
    operation(Operator.ADD, STRING, S, column("B", STRING)),
    operation(Operator.NEGATE, INTEGER, M),
    operation(Operator.NOT_EQUAL, BOOLEAN, M, N),
    operation(Operator.DISTINCT, BOOLEAN, M, N),
    operation(Operator.NOT_DISTINCT, BOOLEAN, S, column("B", STRING)),
    operation(Operator.AND, BOOLEAN, B, C),
    operation(Operator.OR, BOOLEAN, B, C),
    operation(Operator.NOT, BOOLEAN, B),
    operation(Operator.AND, BOOLEAN, operation(Operator.IS_NULL, BOOLEAN, B), C),
    operation(Operator.IS_NOT_NULL, BOOLEAN, S),
    operation(Operator.IN, BOOLEAN, M, Literal(1, INTEGER), N),
    Like(S, Literal("a%b", STRING), None, BOOLEAN),
    Like(S, Literal("%\\%", STRING), None, BOOLEAN),
    Case(((B, Literal("yes", STRING)), (C, Literal("it's", STRING))), None, STRING),
    *(Cast(column("A", source), target) for source, target in [(INTEGER, BIGINT), (BIGINT, STRING)]),
    Cast(column("A", BIGINT), DOUBLE),
    Cast(B, STRING),
    Cast(M, DecimalType(12, 2)),
    Cast(column("A", MONEY), DecimalType(9, 3)),
    Subscript(column("A", Array(INTEGER)), N, INTEGER),
    Subscript(column("A", Map(STRING, INTEGER)), column("B", STRING), INTEGER),
    StructField(MakeStruct((("X", M), ("Y y", Literal("y", STRING))), A_STRUCT), "X", INTEGER),
    MakeArray((M, N), Array(INTEGER)),
    Literal("it's \\ ${x} 😀", STRING),
    Literal(-(2**63), BIGINT),
    Literal(math.inf, DOUBLE),
    Literal(b"\x00", BYTES),
]
LEFT_TO_THE_REFERENCE: list[Typed] = [
    operation(Operator.DIVIDE, DOUBLE, column("A", DOUBLE), column("B", DOUBLE)),
    operation(Operator.EQUAL, BOOLEAN, column("A", Array(INTEGER)), column("B", Array(INTEGER))),
    operation(Operator.DIVIDE, DecimalType(20, 8), column("A", MONEY), column("B", MONEY)),
    Cast(column("A", DOUBLE), STRING),
    # Spark would wrap around, or give NULL, and could not report it.
    Cast(column("A", BIGINT), INTEGER),
    Cast(column("A", DOUBLE), BIGINT),
    Cast(M, DecimalType(11, 2)),
    Cast(column("A", BIGINT), DecimalType(18, 0)),
    Cast(column("A", MONEY), DecimalType(5, 2)),
    Like(S, column("B", STRING), None, BOOLEAN),
    MakeMap(((S, M),), Map(STRING, INTEGER)),
]


def columns_in(typed: Any) -> dict[str, SqlType]:
    """The columns that stand anywhere in an expression."""
    if isinstance(typed, Column):
        return {typed.name: typed.type}
    if isinstance(typed, tuple):
        parts: list[Any] = list(typed)
    else:
        parts = [getattr(typed, name) for name in getattr(typed, "__slots__", ()) if name != "type"]
    return {name: type_ for part in parts for name, type_ in columns_in(part).items()}


def by_columns(expressions: list[Typed]) -> dict[str, list[Typed]]:
    """Expressions over the same columns: one job of Spark works them all out."""
    groups: dict[str, list[Typed]] = {}
    for expression in expressions:
        columns = columns_in(expression) or {"A": INTEGER}
        schema = ", ".join(f"{name} {spark_type(columns[name])}" for name in sorted(columns))
        groups.setdefault(schema, []).append(expression)
    return groups


GROUPS = by_columns(CASES)


@pytest.mark.parametrize("schema", GROUPS)
def test_spark_gives_what_the_reference_gives(spark: SparkSession, schema: str) -> None:
    expressions = GROUPS[schema]
    columns = columns_in(tuple(expressions)) or {"A": INTEGER}
    names = sorted(columns)
    rows = list(product(*(VALUES[columns[name]] for name in names)))
    texts = [f"{native_text(expression)} AS c{place}" for place, expression in enumerate(expressions)]
    found = spark.createDataFrame(rows, schema).selectExpr(*texts).collect()
    for place, expression in enumerate(expressions):
        evaluate = compile_column(expression, names, lambda error: None)
        got = [comparable(row[place]) for row in found]
        assert got == [comparable(evaluate(row)) for row in rows], native_text(expression)


def comparable(value: Any) -> Any:
    """Texts, since NaN differs from itself and true is 1."""
    if isinstance(value, bytearray):
        return repr(bytes(value))
    return value if isinstance(value, Decimal) else repr(value)


@pytest.mark.parametrize("expression", LEFT_TO_THE_REFERENCE, ids=range(len(LEFT_TO_THE_REFERENCE)))
def test_what_spark_means_otherwise_is_left_to_the_reference(expression: Typed) -> None:
    assert native_text(expression) is None
