"""Pairs of rows of two streams within a time of each other, with Spark's own join."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql import functions as spark

from streams_sql.language.statements import Within
from streams_sql.plan.nodes import Named, Node, Project, Shape, StreamJoin
from streams_sql.processors.stream_join import retention_ms
from streams_sql.sources import ROWTIME, Column
from streams_sql.sql_types import STRING, quoted
from streams_sql.typed import Typed


def joined(node: StreamJoin, rows: Callable[[Node], DataFrame]) -> DataFrame:
    left = _side(rows(with_key(node.left, node.left_key, "__left_key")), "__left", node.within)
    right = _side(rows(with_key(node.right, node.right_key, "__right_key")), "__right", node.within)
    near = (
        f"__left_key = __right_key"
        f" AND __right_time >= __left_time - INTERVAL {node.within.before_ms / 1000:.3f} SECOND"
        f" AND __right_time <= __left_time + INTERVAL {node.within.after_ms / 1000:.3f} SECOND"
    )
    pairs = left.join(right, spark.expr(near), "inner")
    pairs = pairs.withColumn(ROWTIME, spark.expr("greatest(__left_rowtime, __right_rowtime)"))
    return pairs.select(*(spark.col(quoted(column.name)) for column in node.shape.columns))


def with_key(node: Node, key: Typed, name: str) -> Project:
    """The node's rows with their key in a column of its own."""
    columns = (*node.shape.columns, Column(name, key.type or STRING))
    return Project(node, (Named(name, key),), Shape(columns, key=()))


def _side(frame: DataFrame, side: str, within: Within) -> DataFrame:
    frame = frame.where(f"{side}_key IS NOT NULL").withColumnRenamed(ROWTIME, f"{side}_rowtime")
    frame = frame.withColumn(f"{side}_time", spark.expr(f"timestamp_millis({side}_rowtime)"))
    # Spark passes over rows that are later than this, though their partners may be there: a grace period alone would be too short.
    return frame.drop("__partition", "__offset").withWatermark(f"{side}_time", f"{retention_ms(within)} milliseconds")
