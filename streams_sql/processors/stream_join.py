"""Joins of two streams within a time of each other.

A row is kept until its side's stream time is later by the window and the grace period: so long, rows of the other side find it, however
late they are. A row without a partner is told at once where no grace period is given, and again with each partner that comes; with a grace
period, it is told when none can come any more. All this is as in Kafka Streams.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, Final, TypeAlias

from streams_sql.evaluation.compiler import OnError
from streams_sql.language.statements import JoinKind, Within
from streams_sql.plan.nodes import StreamJoin
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.processors.joined_rows import JoinedRows
from streams_sql.processors.keys import stream_key
from streams_sql.processors.processor import NEVER, Clock, Out
from streams_sql.processors.windows import GRACE_DEFAULT_MS

LEFT, RIGHT = 0, 1
"""The inputs."""

_DUE, _ROWS, _WAITING = range(3)
"""Places in the state of a key: when there is something to do; the rows of each side by their times; those that wait for a partner."""

Timed: TypeAlias = tuple[int, Row]

_time: Final = itemgetter(0)


class StreamJoining:
    def __init__(self, node: StreamJoin, on_error: OnError) -> None:
        self.keys = (
            stream_key((node.left_key, *node.left_bounds), columns_of(node.left), on_error),
            stream_key((node.right_key, *node.right_bounds), columns_of(node.right), on_error),
        )
        self._rows = JoinedRows(node.left, node.right, node.shape)
        self.rowtimes = self._rows.rowtimes
        self._is_kept = (
            node.kind in (JoinKind.LEFT, JoinKind.OUTER),
            node.kind in (JoinKind.RIGHT, JoinKind.OUTER),
        )
        self._reach = _reach(node.kind, node.within)
        self._waits = node.within.grace_ms is not None
        self._grace = _grace_ms(node.within)
        self._retention = retention_ms(node.within)

    def take(self, key: Any, state: Any, side: int, row: Row, clock: Clock, out: Out) -> Any:
        time = row[self.rowtimes[side]]
        state = [NEVER, ([], []), ([], [])] if state is None else state
        insort(state[_ROWS][side], (time, row), key=_time)
        state[_DUE] = min(state[_DUE], time + self._retention)
        before, after = self._reach[side]
        has_partner = False
        oldest = max(time - before, clock.sides[1 - side] - self._retention + 1)
        for other_time, other in _between(state[_ROWS][1 - side], oldest, time + after):
            has_partner = True
            self._forget_waiting(state, 1 - side, other_time)
            out.append(self._pair(side, row, other, max(time, other_time)))
        if not has_partner and self._is_kept[side]:
            if self._waits and time + after >= clock.now:
                insort(state[_WAITING][side], (time, row), key=_time)
                state[_DUE] = min(state[_DUE], time + after + self._grace + 1)
            else:
                out.append(self._pair(side, row, None, time))
        return state

    def take_keyless(self, side: int, row: Row, clock: Clock, out: Out) -> None:
        """A row without a key moves the time on, and has no partner if it has a value."""
        time = row[self.rowtimes[side]]
        clock.now = max(clock.now, time)
        if self._is_kept[side] and not row[-1][0]:
            out.append(self._pair(side, row, None, time))

    def _pair(self, side: int, row: Row, other: Row | None, time: int) -> Row:
        left, right = (other, row) if side == RIGHT else (row, other)
        return self._rows.pair(left, right, time, row[-1])

    def _forget_waiting(self, state: list[Any], side: int, time: int) -> None:
        waiting = state[_WAITING][side]
        if waiting:
            del waiting[bisect_left(waiting, time, key=_time) : bisect_right(waiting, time, key=_time)]

    def expire(self, key: Any, state: Any, clock: Clock) -> tuple[Any, list[tuple[Any, Any]]]:
        told: list[tuple[Any, Any]] = []
        dues = [NEVER]
        for side in (LEFT, RIGHT):
            waiting, rows = state[_WAITING][side], state[_ROWS][side]
            wait = self._reach[side][1] + self._grace
            over = bisect_left(waiting, clock.now - wait, key=_time)
            # Of the same time, Kafka Streams tells those of the right side first.
            told += [((time, side == LEFT, key), self._pair(side, row, None, time)) for time, row in waiting[:over]]
            del waiting[:over]
            del rows[: bisect_right(rows, clock.sides[side] - self._retention, key=_time)]
            if waiting:
                dues.append(waiting[0][0] + wait + 1)
            if rows:
                # The side's own time may be behind: then it is looked at again when as much time has passed.
                dues.append(max(rows[0][0], clock.now) + self._retention + 1)
        state[_DUE] = min(dues)
        return (None if state[_DUE] == NEVER else state), told


def _between(rows: list[Timed], oldest: int, latest: int) -> Iterator[Timed]:
    yield from rows[bisect_left(rows, oldest, key=_time) : bisect_right(rows, latest, key=_time)]


def _reach(kind: JoinKind, within: Within) -> tuple[tuple[int, int], tuple[int, int]]:
    """How long before and after a row of each side its partners may be. ksqlDB has a right join run as a left join from the other side,
    with the times as they are."""
    forth, back = (within.before_ms, within.after_ms), (within.after_ms, within.before_ms)
    return (back, forth) if kind is JoinKind.RIGHT else (forth, back)


def _grace_ms(within: Within) -> int:
    return max(GRACE_DEFAULT_MS - 2 * within.before_ms, 0) if within.grace_ms is None else within.grace_ms


def retention_ms(within: Within) -> int:
    """How much later its side may be for a row to be found still."""
    return within.before_ms + within.after_ms + _grace_ms(within)
