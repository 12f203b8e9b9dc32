"""GROUP BY over a stream in windows of a fixed size: one row for each group and window.

A row is late for a window when stream time has reached the window's end and the grace period behind it. Stream time moves with each row.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, Final

from streams_sql.evaluation.compiler import OnError
from streams_sql.language.statements import Emit, Window
from streams_sql.plan.nodes import Aggregate
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.processors.accumulation import Accumulation
from streams_sql.processors.group_rows import GroupRows
from streams_sql.processors.processor import NEVER, Clock, KeyOf, Out

GRACE_DEFAULT_MS: Final = 86_400_000
"""With the window itself: a row is never late within so long of its window's beginning."""

_DUE, _WINDOWS = range(2)
"""Places in the state of a group: when the first window is over, and the windows by their starts."""
_TIME, _LAST, _FIRST = range(3)
"""Places in that of a window: its ROWTIME, its last row (or of what is told once, the origin of the last row that it is made from), and the
states of the aggregates."""
KEY, STATES, TIME, REACHED = range(4)
"""Places in the parts of windows that are begun elsewhere (see `window_parts`)."""


def grace_ms(window: Window) -> int:
    return max(GRACE_DEFAULT_MS - window.size_ms, 0) if window.grace_ms is None else window.grace_ms


class WindowAggregation:
    """EMIT CHANGES tells a window anew with each row, EMIT FINAL tells it once when it is over. `with_old`: changes are told instead of
    rows, and `with_initial`, that before its first row a window was what it is without one. `is_in_parts`: parts of windows come in place
    of rows."""

    def __init__(
        self,
        node: Aggregate,
        with_old: bool,
        on_error: OnError,
        with_initial: bool = False,
        is_in_parts: bool = False,
    ) -> None:
        assert node.window is not None
        self._rows = GroupRows(node, on_error)
        self._accumulation = Accumulation(node.aggregates, columns_of(node.input), _FIRST, on_error)
        self._size = node.window.size_ms
        self._advance = node.window.advance_ms or node.window.size_ms
        self._grace = grace_ms(node.window)
        self._is_final = node.emit is Emit.FINAL
        self._with_old = with_old
        self._with_initial = with_initial
        if is_in_parts:
            self.keys: tuple[KeyOf] = (itemgetter(KEY),)
            # What moves stream time is the time at which the part was begun, not that of its last row.
            self.rowtimes = (REACHED,)
            self._rowtime = TIME
            self._fold: Callable[[list[Any], Row], None] = self._merge
        else:
            self.keys = (self._rows.stream_key,)
            self.rowtimes = (self._rows.rowtime,)
            self._rowtime = self._rows.rowtime
            self._fold = self._accumulation.add

    def _merge(self, window: list[Any], part: Row) -> None:
        self._accumulation.merge(window, part[STATES])

    def take(self, key: Any, state: Any, side: int, row: Row, clock: Clock, out: Out) -> Any:
        time, size, advance, closed = row[self._rowtime], self._size, self._advance, clock.now - self._grace
        start = max(0, time - size + advance) // advance * advance
        while start <= time:
            if start + size > closed:
                if state is None:
                    state = [NEVER, {}]
                self._add(key, state, start, row, out)
            start += advance
        return state

    def _add(self, key: Any, state: list[Any], start: int, row: Row, out: Out) -> None:
        rows, accumulation = self._rows, self._accumulation
        bounds = (start, start + self._size)
        time = row[self._rowtime]
        window = state[_WINDOWS].get(start)
        if window is None:
            window = state[_WINDOWS][start] = [time, None, *accumulation.start()]
            state[_DUE] = min(state[_DUE], bounds[1] + self._grace)
            if self._with_initial and not self._is_final:
                window[_LAST] = rows.initial(accumulation.results(window), bounds, time, row[-1])
        elif time > window[_TIME]:
            window[_TIME] = time
        self._fold(window, row)
        if self._is_final:
            window[_LAST] = row[-1]
            return
        new = (*rows.values(key), *accumulation.results(window), *bounds, window[_TIME], row[-1])
        if self._with_old:
            out.append((window[_LAST], new))
            window[_LAST] = new
        else:
            out.append(new)

    def expire(self, key: Any, state: Any, clock: Clock) -> tuple[Any, list[tuple[Any, Any]]]:
        windows, closed, told = state[_WINDOWS], clock.now - self._grace, list[tuple[Any, Any]]()
        for start in sorted(start for start in windows if start + self._size <= closed):
            window = windows.pop(start)
            if self._is_final:
                told.append(((start, key), self._last(key, start, window)))
        if not windows:
            return None, told
        state[_DUE] = min(windows) + self._size + self._grace
        return state, told

    def _last(self, key: Any, start: int, window: list[Any]) -> Any:
        results = self._accumulation.results(window)
        row = (*self._rows.values(key), *results, start, start + self._size, window[_TIME], window[_LAST])
        return (None, row) if self._with_old else row
