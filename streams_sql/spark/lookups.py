"""Joins of a stream with a table: each row of the stream with what the table had for its key at that time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as spark
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from streams_sql.language.statements import JoinKind
from streams_sql.plan.nodes import LookupJoin
from streams_sql.sources import ROWTIME, Column
from streams_sql.spark.stages import DELETED, OFFSET, PARTITION
from streams_sql.spark.stream_joins import with_key
from streams_sql.spark.type_names import spark_type
from streams_sql.sql_types import quoted
from streams_sql.typed import Column as ColumnOf

_KEY: Final = "__key"
_STREAM: Final = "__stream"
_TABLE: Final = "__table"


def looked_up(node: LookupJoin, rows: Callable[..., DataFrame]) -> DataFrame:
    """Both sides in one data frame, by key, through a processor that keeps the table's row."""
    table_columns = [column for column in node.table.shape.columns if column.name != ROWTIME]
    (table_key,) = [column for column in table_columns if column.name in node.table.shape.key]
    stream = rows(with_key(node.stream, node.stream_key, _KEY))
    table = rows(with_key(node.table, ColumnOf(table_key.name, table_key.type), _KEY), keeps_deleted=True)
    types = {_STREAM: _struct(node.stream.shape.columns), _TABLE: _struct(tuple(table_columns))}
    # Of the same moment, the table comes first; within a side, records keep the order of their partition.
    place = [f"{ROWTIME} AS time", f"{PARTITION} AS partition", f"{OFFSET} AS offset"]
    both = stream.where(f"{_KEY} IS NOT NULL").selectExpr(
        _KEY,
        "1 AS side",
        *place,
        f"{_row(node.stream.shape.columns)} AS {_STREAM}",
        f"CAST(NULL AS {types[_TABLE]}) AS {_TABLE}",
    )
    both = both.unionByName(
        table.selectExpr(
            _KEY,
            "0 AS side",
            *place,
            f"CAST(NULL AS {types[_STREAM]}) AS {_STREAM}",
            f"IF({DELETED}, NULL, {_row(tuple(table_columns))}) AS {_TABLE}",
        )
    )
    processor = TableLookup(f"row {types[_TABLE]}", is_inner=node.kind is JoinKind.INNER)
    pairs = both.groupBy(_KEY).transformWithState(
        processor, f"{_STREAM} {types[_STREAM]}, {_TABLE} {types[_TABLE]}", "append", "none"
    )
    sides = {column.name: _TABLE for column in table_columns} | {
        column.name: _STREAM for column in node.stream.shape.columns
    }
    return pairs.select(
        *(spark.col(f"{sides[column.name]}.{quoted(column.name)}").alias(column.name) for column in node.shape.columns)
    )


def _struct(columns: tuple[Column, ...]) -> str:
    return f"STRUCT<{','.join(f'{quoted(column.name)}:{spark_type(column.type)}' for column in columns)}>"


def _row(columns: tuple[Column, ...]) -> str:
    return f"struct({', '.join(quoted(column.name) for column in columns)})"


class TableLookup(StatefulProcessor):
    """Keeps the table's row of a key. The state is asked once for each key of a batch, and written once if it has changed."""

    def __init__(self, state_schema: str, is_inner: bool) -> None:
        self._state_schema = state_schema
        self._is_inner = is_inner

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._state = handle.getValueState("table", self._state_schema)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        known = self._state.get()
        held = found = None if known is None else known[0]
        for row in sorted(rows, key=_place):
            if row["side"] == 0:
                held = row[_TABLE]
            elif held is not None or not self._is_inner:
                yield Row(**{_STREAM: row[_STREAM], _TABLE: held})
        if held is None:
            self._state.clear()
        elif held != found:
            self._state.update((held,))

    def close(self) -> None:
        pass


def _place(row: Row) -> tuple[int, int, int, int]:
    return row["time"], row["side"], row["partition"], row["offset"]
