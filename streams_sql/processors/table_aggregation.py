"""GROUP BY over a table: a row of it moves from one group to another, and is taken back where it was before it is added where it is."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

from streams_sql.evaluation.compiler import OnError
from streams_sql.plan.nodes import Aggregate
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.processors.group_rows import GroupRows
from streams_sql.processors.keys import table_key
from streams_sql.processors.processor import Change, Clock, Out, as_kept
from streams_sql.processors.undoing import TableAccumulation

_TIME, _OLD, _STATES = range(3)
"""Places in the state of a group: its ROWTIME, its last row where changes are asked for, and the states of the aggregates."""


class Move(NamedTuple):
    """What a change of the table does to one group. `key` is that of the table's row."""

    group: Any
    key: Any
    undone: Row | None
    added: Row | None
    time: int
    origin: tuple[bool, int, int]


def moves_of(node: Aggregate, on_error: OnError) -> Callable[[Change], list[Move]]:
    """Out of one group and into another, in that order; one move where a row stays in its group. A row with NULL among its groups is in
    none."""
    rows = GroupRows(node, on_error)
    key_of = table_key(node.input)

    def moves(change: Change) -> list[Move]:
        old, new = change
        before = None if old is None else rows.key(old)
        after = None if new[-1][0] else rows.key(new)
        key, time, origin = key_of(new), new[rows.rowtime], as_kept(new[-1])
        if before is not None and before == after:
            return [Move(before, key, old, new, time, origin)]
        found = []
        if before is not None:
            found.append(Move(before, key, old, None, time, origin))
        if after is not None:
            found.append(Move(after, key, None, new, time, origin))
        return found

    return moves


class TableAggregation:
    """Takes moves. A group stays when its last row is gone, with what its aggregates are of nothing. `with_old`: changes are told instead
    of rows."""

    def __init__(self, node: Aggregate, with_old: bool, on_error: OnError) -> None:
        self._rows = GroupRows(node, on_error)
        self._accumulation = TableAccumulation(node.aggregates, columns_of(node.input), on_error)
        self._with_old = with_old
        self.keys = (itemgetter(0),)

    def take(self, key: Any, state: Any, side: int, row: Move, clock: Clock, out: Out) -> Any:
        if state is None:
            if row.added is None:
                return None
            state = [row.time, None, self._accumulation.start()]
        elif row.undone is not None:
            self._accumulation.undo(state[_STATES], row.key, row.undone)
        if row.added is not None:
            self._accumulation.add(state[_STATES], row.key, row.added)
        state[_TIME] = max(state[_TIME], row.time)
        results = self._accumulation.results(state[_STATES])
        new = (*self._rows.values(key), *results, state[_TIME], row.origin)
        if self._with_old:
            out.append((state[_OLD], new))
            state[_OLD] = new
        else:
            out.append(new)
        return state
