"""Joins of a stream with a table: each row of the stream with what the table had for its key at that time."""

from __future__ import annotations

from typing import Any

from streams_sql.evaluation.compiler import OnError
from streams_sql.language.statements import JoinKind
from streams_sql.plan.nodes import LookupJoin
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.processors.joined_rows import JoinedRows
from streams_sql.processors.keys import key_of, table_key
from streams_sql.processors.processor import Clock, Out, value_key
from streams_sql.typed import Column

STREAM, TABLE = 0, 1
"""The inputs."""


def _bounds(node: LookupJoin) -> tuple[Column, ...]:
    """Those of the windows of the stream, where the keys of the table carry theirs."""
    if node.table.shape.key_window is None:
        return ()
    types = {column.name: column.type for column in node.stream.shape.columns}
    return tuple(Column(name, types[name]) for name in node.stream.shape.bounds)


class Lookup:
    """The state of a key is the row of the table. ROWTIME is that of the row of the stream."""

    def __init__(self, node: LookupJoin, on_error: OnError) -> None:
        stream_key = key_of((node.stream_key, *_bounds(node)), columns_of(node.stream), on_error)
        self.keys = (value_key(stream_key), table_key(node.table))
        self._rows = JoinedRows(node.stream, node.table, node.shape)
        self._is_left = node.kind is JoinKind.LEFT

    def take(self, key: Any, state: Any, side: int, row: Row, clock: Clock, out: Out) -> Any:
        if side == TABLE:
            return None if row[-1][0] else row
        if state is not None or self._is_left:
            out.append(self._rows.pair(row, state, row[self._rows.rowtimes[STREAM]], row[-1]))
        return state

    def take_keyless(self, side: int, row: Row, clock: Clock, out: Out) -> None:
        """A row of the stream that has a value but no key finds nothing."""
        if side == STREAM and self._is_left and not row[-1][0]:
            out.append(self._rows.pair(row, None, row[self._rows.rowtimes[STREAM]], row[-1]))
