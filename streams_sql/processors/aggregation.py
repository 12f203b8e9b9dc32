"""GROUP BY over a stream without a window: one row for each group, told anew with each row that comes."""

from __future__ import annotations

from typing import Any

from streams_sql.evaluation.compiler import OnError
from streams_sql.plan.nodes import Aggregate
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.processors.accumulation import Accumulation
from streams_sql.processors.group_rows import GroupRows
from streams_sql.processors.processor import Clock, Out

_TIME, _OLD, _FIRST = range(3)
"""Places in the state of a group: its ROWTIME, its last row where changes are asked for, and the states of the aggregates."""


class Aggregation:
    """`with_old`: changes are told instead of rows, and `with_initial`, that before its first row a group was what it is without one."""

    def __init__(self, node: Aggregate, with_old: bool, on_error: OnError, with_initial: bool = False) -> None:
        self._rows = GroupRows(node, on_error)
        self._accumulation = Accumulation(node.aggregates, columns_of(node.input), _FIRST, on_error)
        self._with_old = with_old
        self._with_initial = with_initial
        self.keys = (self._rows.stream_key,)

    def take(self, key: Any, state: Any, side: int, row: Row, clock: Clock, out: Out) -> Any:
        rows, accumulation = self._rows, self._accumulation
        time = row[rows.rowtime]
        if state is None:
            state = [time, None, *accumulation.start()]
            if self._with_initial:
                state[_OLD] = rows.initial(accumulation.results(state), (), time, row[-1])
        elif time > state[_TIME]:
            state[_TIME] = time
        accumulation.add(state, row)
        new = (*rows.values(key), *accumulation.results(state), state[_TIME], row[-1])
        if self._with_old:
            out.append((state[_OLD], new))
            state[_OLD] = new
        else:
            out.append(new)
        return state
