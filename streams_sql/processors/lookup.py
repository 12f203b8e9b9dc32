"""Joins of a stream with a table: each row of the stream with what the table had for its key at that time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streams_sql.evaluation.compiler import OnError
from streams_sql.language.statements import JoinKind
from streams_sql.plan.nodes import LookupJoin
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.processors.join_matches import JoinMatches
from streams_sql.processors.joined_rows import JoinedRows
from streams_sql.processors.keys import stream_key, table_key
from streams_sql.processors.processor import Clock, Out
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
        self.keys = (
            stream_key((node.stream_key, *_bounds(node)), columns_of(node.stream), on_error),
            table_key(node.table),
        )
        self.reading_side = STREAM
        self._rows = JoinedRows(node.stream, node.table, node.shape)
        self._is_left = node.kind is JoinKind.LEFT
        self._matches = JoinMatches(node, on_error)

    def take(self, key: Any, state: Any, side: int, row: Row, clock: Clock, out: Out) -> Any:
        if self._matches.is_watched:
            self._matches.take(row[self._rows.rowtimes[TABLE]])
        return None if row[-1][0] else row

    def read(self, rows: list[Row], states: Mapping[Any, Row], out: Out) -> None:
        """A row of the stream that has a value but no key finds nothing."""
        find, pick, add = states.get, self._rows.pick, out.append
        rowtime, missing = self._rows.rowtimes[STREAM], self._rows.missing[TABLE] if self._is_left else None
        keys = list(map(self.keys[STREAM], rows))
        if rows and self._matches.is_watched:
            is_matched, latest_ms = any(key in states for key in keys), max(row[rowtime] for row in rows)
            self._matches.read(len(rows), latest_ms, is_matched=is_matched, has_restored=bool(states))
        for key, row in zip(keys, rows, strict=True):
            found = find(key, missing)
            if found is not None and not row[-1][0]:
                add(pick((*row, *found, row[rowtime], row[-1])))
