"""Windows that are begun where rows are read: of many rows of a group, one goes on.

Time is cut into panes, so that all rows of a pane belong to the same windows. The rows of a key and a pane are accumulated, and the states go
on in place of the rows; `WindowAggregation` merges them. Whether a row is late depends on nothing but the greatest time of its range before it
and what is known when the part is merged: rows of a part are late for the same windows.
"""

from __future__ import annotations

from math import gcd
from typing import Any, TypeAlias

from streams_sql.evaluation.compiler import OnError
from streams_sql.function_declaration import Merging
from streams_sql.language.statements import Emit, Window, WindowKind
from streams_sql.plan.nodes import Aggregate, AggregateCall, Filter, Node, Read
from streams_sql.plan.pipeline import Row, chain_of, chains_of, columns_of
from streams_sql.processors.accumulation import Accumulation, accumulator_of
from streams_sql.processors.group_rows import GroupRows
from streams_sql.processors.parts_code import PartsCode
from streams_sql.processors.processor import BEFORE_ALL
from streams_sql.processors.windows import grace_ms

Part: TypeAlias = Row
"""The key, the states of the aggregates, ROWTIME (the greatest), the time at which the first row came, and an origin: see `windows`."""

_TIME, _REACHED, _STATES = range(3)
_NO_RECORD = (False, -1, -1)


def windows_of(node: Node) -> Aggregate | None:
    """The aggregate of a plan whose rows may be accumulated where they are read: their order must not matter, and no operator may ask what
    a group was before each of them."""
    chain = chain_of(node)
    base = chain.base
    if not isinstance(base, Aggregate) or base.window is None or base.window.kind is WindowKind.SESSION:
        return None
    if base.emit is not Emit.FINAL and any(isinstance(each, Filter) for each in chain.operators):
        return None
    reads = [below.base for below in chains_of(base.input)]
    topics = {read.source.topic for read in reads if isinstance(read, Read)}
    is_plain = len(topics) == len(reads) and not base.input.shape.is_table
    return base if is_plain and all(map(_is_combinable, base.aggregates)) else None


def _is_combinable(call: AggregateCall) -> bool:
    return call.is_unordered and isinstance(accumulator_of(call), Merging)


def pane_ms(window: Window) -> int:
    """The length of a piece of time whose rows belong to the same windows."""
    return gcd(window.size_ms, window.advance_ms or window.size_ms)


class WindowParts:
    """The parts of one range of a partition. `reached` is the greatest time in it so far."""

    def __init__(self, node: Aggregate, on_error: OnError) -> None:
        assert node.window is not None
        rows = GroupRows(node, on_error)
        self.reached = BEFORE_ALL
        self._key = rows.stream_key
        self._rowtime = rows.rowtime
        self._accumulation = Accumulation(node.aggregates, columns_of(node.input), _STATES, on_error)
        self._pane = pane_ms(node.window)
        self._size = node.window.size_ms
        self._advance = node.window.advance_ms or node.window.size_ms
        self._grace = grace_ms(node.window)
        self._parts: dict[Any, list[Any]] = {}
        code = PartsCode(node, rows.rowtime, self._pane, self._grace, on_error)
        self._run = code.compiled()

    def __len__(self) -> int:
        return len(self._parts)

    def add(self, rows: list[Row]) -> None:
        if self._run is not None:
            self.reached = self._run(self._parts, rows, self.reached, self._add_one)
        else:
            for row in rows:
                self._add_one(row, self.reached)

    def _add_one(self, row: Row, reached: int) -> None:
        """Add a row; `reached` is the time before it."""
        key = self._key(row)
        if key is None:
            return
        time = row[self._rowtime]
        self.reached = reached = max(reached, time)
        late = 0 if reached - time <= self._grace else self._late(time, reached)
        place = (key, time - time % self._pane, late)
        part = self._parts.get(place)
        if part is None:
            part = self._parts[place] = [time, reached, *self._accumulation.start()]
        elif time > part[_TIME]:
            part[_TIME] = time
        self._accumulation.add(part, row)

    def _late(self, time: int, reached: int) -> int:
        """The number of windows of a row that are over."""
        start = max(0, time - self._size + self._advance) // self._advance * self._advance
        over = (reached - self._grace - self._size - start) // self._advance + 1
        return min(max(over, 0), (time - start) // self._advance + 1)

    def take(self) -> list[Part]:
        """The parts so far, in the order in which they were begun, which is that of their times."""
        found = [
            (place[0], part[_STATES:], part[_TIME], part[_REACHED], _NO_RECORD) for place, part in self._parts.items()
        ]
        self._parts.clear()
        return found
