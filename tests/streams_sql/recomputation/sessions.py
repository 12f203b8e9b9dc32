"""Session windows, which SQL has no equivalent for: a session grows with each row, and late rows depend on the order of all rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Session:
    start: int
    end: int
    rows: list[int] = field(default_factory=list)
    is_merged: bool = False


def sessions_of(
    timed: Iterable[tuple[Any, int, int]], gap: int, grace: int, is_final: bool
) -> list[tuple[int, int, int]]:
    """The sessions of rows (key, time, number) in the order in which they are processed: a row's number, and the start and end of its session.

    A row joins all sessions of its key that are at most the gap away. It is late when the session that would come of it has ended before
    stream time by more than the gap and the grace period; a session is gone for rows that come as late.
    """
    wait, now = gap + grace, -1
    sessions = defaultdict[Any, list[Session]](list)
    for key, time, number in timed:
        before, now = now, max(now, time)
        near = [
            each
            for each in sessions[key]
            if not each.is_merged and each.end > before - wait and each.end >= time - gap and each.start <= time + gap
        ]
        made = Session(min([time, *(each.start for each in near)]), max([time, *(each.end for each in near)]))
        if made.end < now - wait:
            continue
        made.rows = [*sorted(row for each in near for row in each.rows), number]
        for each in sessions[key]:
            # One with the same bounds has the same key in the result.
            each.is_merged |= any(each is one for one in near) or (each.start, each.end) == (made.start, made.end)
        sessions[key].append(made)
    return [
        (number, session.start, session.end)
        for of_key in sessions.values()
        for session in of_key
        if not session.is_merged and (not is_final or now > session.end + wait)
        for number in session.rows
    ]
