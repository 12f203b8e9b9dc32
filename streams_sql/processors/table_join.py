"""Joins of two tables on their keys. The state of a key is the row of each side.

When what comes of a change is told to be gone is Kafka Streams' rule: an inner join tells of each row that is deleted while the other side
has one, whether there was a pair before or not.
"""

from __future__ import annotations

from typing import Any

from streams_sql.language.statements import JoinKind
from streams_sql.plan.nodes import TableJoin
from streams_sql.plan.pipeline import Row
from streams_sql.processors.joined_rows import JoinedRows
from streams_sql.processors.keys import table_key
from streams_sql.processors.processor import Clock, Out, as_deleted, as_kept


class TableJoining:
    """`with_old`: changes are told instead of rows."""

    def __init__(self, node: TableJoin, with_old: bool) -> None:
        self.keys = (table_key(node.left), table_key(node.right))
        self._rows = JoinedRows(node.left, node.right, node.shape, is_key_shared=True)
        self._with_old = with_old
        # A side that is kept has results without a partner.
        self._is_kept = (
            node.kind in (JoinKind.LEFT, JoinKind.OUTER),
            node.kind in (JoinKind.RIGHT, JoinKind.OUTER),
        )

    def take(self, key: Any, state: Any, side: int, row: Row, clock: Clock, out: Out) -> Any:
        state = [None, None] if state is None else state
        old, other = state[side], state[1 - side]
        new = None if row[-1][0] else row
        state[side] = new
        if other is not None or (self._is_kept[side] and (new is not None or old is not None)):
            rowtimes = self._rows.rowtimes
            time = row[rowtimes[side]]
            if other is not None:
                time = max(time, other[rowtimes[1 - side]])
            self._tell(side, (old, new, other), time, row, out)
        return None if new is None and other is None else state

    def _tell(
        self, side: int, rows: tuple[Row | None, Row | None, Row | None], time: int, cause: Row, out: Out
    ) -> None:
        old, new, other = rows
        origin = as_kept(cause[-1])
        told = self._result(side, new, other, time, origin)
        if told is None:
            told = self._rows.gone(cause, side, time, as_deleted(origin))
        out.append((self._result(side, old, other, time, origin), told) if self._with_old else told)

    def _result(self, side: int, mine: Row | None, other: Row | None, time: int, origin: Any) -> Row | None:
        if mine is None and not (other is not None and self._is_kept[1 - side]):
            return None
        if other is None and not self._is_kept[side]:
            return None
        return self._rows.pair(*((other, mine) if side else (mine, other)), time, origin)
