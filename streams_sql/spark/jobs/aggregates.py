"""GROUP BY with Spark's own aggregates."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql import functions as spark

from streams_sql.formats.spark_types import spark_type
from streams_sql.functions.native_forms import native_text
from streams_sql.plan.nodes import Aggregate, AggregateCall, Named, Node, Project, Shape
from streams_sql.sources import ROWTIME, Column
from streams_sql.spark.jobs.combining import CombiningTail, Part, parts_of
from streams_sql.spark.jobs.native import literal_text
from streams_sql.spark.jobs.stages import RowsTail, Tail
from streams_sql.sql_types import BIGINT, BOOLEAN, DOUBLE, INTEGER, STRING, SqlType, quoted

Rows: TypeAlias = Callable[[Node, Tail], DataFrame]
"""What comes of a node without state, by way of a tail."""


def aggregated(node: Aggregate, rows: Rows) -> DataFrame:
    """One row for each group that a batch has changed."""
    arguments = _arguments(node)
    parts = parts_of(node)
    if parts is None:
        frame = rows(arguments, RowsTail(arguments.shape.columns))
        texts = [_call_text(call, place) for place, call in enumerate(node.aggregates)]
    else:
        frame = rows(arguments, _combining(node, arguments, parts))
        texts = [
            _cast_text(native_text(part.spark, [quoted(part.name)]), call)
            for part, call in zip(parts, node.aggregates, strict=True)
        ]
    keys = [quoted(key.name) for key in node.keys]
    frame = frame.where(" AND ".join(f"{key} IS NOT NULL" for key in keys)) if keys else frame
    groups = [spark.col(key) for key in keys]
    results = [spark.expr(text).alias(call.name) for text, call in zip(texts, node.aggregates, strict=True)]
    made = frame.groupBy(*groups).agg(*results, spark.max(ROWTIME).alias(ROWTIME))
    return made.select(*(spark.col(quoted(column.name)) for column in node.shape.columns))


def _combining(node: Aggregate, arguments: Project, parts: tuple[Part, ...]) -> CombiningTail:
    names = [column.name for column in arguments.shape.columns]
    places = [
        names.index(_argument(place, 0)) if call.arguments else None for place, call in enumerate(node.aggregates)
    ]
    keys = arguments.shape.columns[: len(node.keys)]
    return CombiningTail(keys, parts, tuple(places), names.index(ROWTIME))


def _arguments(node: Aggregate) -> Project:
    """What is aggregated, worked out before: the keys, the arguments and ROWTIME alone go on."""
    named = list(node.keys)
    for place, call in enumerate(node.aggregates):
        named += [Named(_argument(place, index), argument) for index, argument in enumerate(call.arguments)]
    columns = [Column(column.name, column.expression.type or STRING) for column in named]
    shape = Shape((*columns, Column(ROWTIME, BIGINT)), key=())
    return Project(node.input, tuple(named), shape)


def _argument(place: int, index: int) -> str:
    return f"__argument_{place}_{index}"


def _call_text(call: AggregateCall, place: int) -> str:
    template = call.native_form
    if template is None:
        raise ValueError(f"{call.function} has no form on Spark yet")
    texts = [quoted(_argument(place, index)) for index in range(len(call.arguments))]
    texts += [literal_text(value, _constant_type(value)) for value in call.constants]
    return _cast_text(native_text(template, texts), call)


def _cast_text(text: str, call: AggregateCall) -> str:
    return f"CAST({text} AS {spark_type(call.column.type)})"


def _constant_type(value: object) -> SqlType:
    match value:
        case bool():
            return BOOLEAN
        case int():
            return INTEGER
        case float():
            return DOUBLE
    return STRING
