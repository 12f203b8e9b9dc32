"""GROUP BY over a stream in sessions: rows of a group that follow each other within a gap.

A row that falls between sessions, or near one, makes one session of them all. The sessions that it takes in are told to be gone (even if
the one that comes of them has the same bounds), then the new one is told, as Kafka Streams does.
"""

from __future__ import annotations

from bisect import insort
from functools import reduce
from operator import itemgetter
from typing import Any

from streams_sql.evaluation.compiler import OnError
from streams_sql.language.statements import Emit
from streams_sql.plan.nodes import Aggregate
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.processors.group_rows import GroupRows
from streams_sql.processors.merging import SessionAccumulation
from streams_sql.processors.processor import NEVER, Clock, Out, as_deleted
from streams_sql.processors.windows import grace_ms

_DUE, _ORDER, _SESSIONS = range(3)
"""Places in the state of a group: when there is something to do, how many rows came, and its sessions, the one that ends first first."""
_START, _END, _STATES, _LAST, _IS_TOLD = range(5)
"""Places in that of a session: the ROWTIMEs of its first and its last row, the states of its aggregates, its last row (or of what is told
once, the origin of the last row that it is made from), and whether it was told once."""

_end = itemgetter(_END)


class SessionAggregation:
    """EMIT CHANGES tells a session anew with each row, EMIT FINAL tells it once when it is over. `with_old`: changes are told instead
    of rows."""

    def __init__(self, node: Aggregate, with_old: bool, on_error: OnError) -> None:
        assert node.window is not None
        self._rows = GroupRows(node, on_error)
        self._accumulation = SessionAccumulation(node.aggregates, columns_of(node.input), on_error)
        self._gap = node.window.size_ms
        # A session is over when stream time is later than its end by so much. Until `_retention` rows still find it.
        self._wait = self._gap + grace_ms(node.window)
        self._retention = max(self._wait, min(node.window.retention_ms or 0, self._wait + self._gap))
        self._is_final = node.emit is Emit.FINAL
        self._with_old = with_old
        self.keys = (self._rows.stream_key,)
        self.rowtimes = (self._rows.rowtime,)

    def take(self, key: Any, state: Any, side: int, row: Row, clock: Clock, out: Out) -> Any:
        time = row[self._rows.rowtime]
        if state is None:
            state = [NEVER, 0, []]
        ended = max(time - self._gap, clock.sides[0] - self._retention + 1)
        near = [
            session for session in state[_SESSIONS] if session[_END] >= ended and session[_START] <= time + self._gap
        ]
        start = min([time, *(session[_START] for session in near)])
        end = max([time, *(session[_END] for session in near)])
        if end < clock.now - self._wait:
            return state if state[_SESSIONS] else None
        state[_ORDER] += 1
        for session in near:
            state[_SESSIONS].remove(session)
            if start != end and not self._is_final:
                self._tell_gone(key, session, row, out)
        # One with the same bounds that the row could not find any more is replaced.
        state[_SESSIONS] = [each for each in state[_SESSIONS] if (each[_START], each[_END]) != (start, end)]
        merge = self._accumulation.merge
        states = reduce(merge, [session[_STATES] for session in near]) if near else self._accumulation.start()
        self._accumulation.add(states, state[_ORDER], row)
        session = [start, end, states, row[-1], False]
        insort(state[_SESSIONS], session, key=_end)
        state[_DUE] = min(state[_DUE], self._due(session))
        if not self._is_final:
            self._tell(key, session, row, out)
        return state

    def _tell(self, key: Any, session: list[Any], row: Row, out: Out) -> None:
        new = self._row(key, session, row[-1])
        if self._with_old:
            session[_LAST] = new
            out.append((None, new))
        else:
            out.append(new)

    def _tell_gone(self, key: Any, session: list[Any], row: Row, out: Out) -> None:
        empty = (None,) * len(session[_STATES])
        bounds = session[_START], session[_END]
        gone = (*self._rows.values(key), *empty, *bounds, session[_END], as_deleted(row[-1]))
        out.append((session[_LAST], gone) if self._with_old else gone)

    def _row(self, key: Any, session: list[Any], origin: Any) -> Row:
        start, end, states, *_ = session
        return (*self._rows.values(key), *self._accumulation.results(states), start, end, end, origin)

    def _due(self, session: list[Any]) -> int:
        is_waiting = self._is_final and not session[_IS_TOLD]
        due: int = session[_END] + (self._wait if is_waiting else self._retention) + 1
        return due

    def expire(self, key: Any, state: Any, clock: Clock) -> tuple[Any, list[tuple[Any, Any]]]:
        """EMIT FINAL tells what is over; what no row can find any more is forgotten."""
        kept, told = list[Any](), list[tuple[Any, Any]]()
        for session in state[_SESSIONS]:
            if self._is_final and not session[_IS_TOLD] and self._due(session) <= clock.now:
                row = self._row(key, session, session[_LAST])
                told.append(((session[_END], session[_START], key), (None, row) if self._with_old else row))
                session[_IS_TOLD] = True
            if self._due(session) > clock.now:
                kept.append(session)
        if not kept:
            return None, told
        state[_SESSIONS] = kept
        state[_DUE] = min(map(self._due, kept))
        return state, told
