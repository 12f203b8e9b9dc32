"""Rows of several partitions in the order in which a query takes them: the earliest of those that stand first in their partitions."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Final, TypeAlias

from streams_sql.plan.nodes import Read
from streams_sql.plan.pipeline import Row

Item: TypeAlias = tuple[int, int, Row]
"""The time by which it is ordered (the greatest ROWTIME of its partition so far), the place where it is read, and the row."""

BEHIND_ALL: Final = (2**63, ())
TOGETHER_MAX: Final = 1_000
"""Rows that go through a plan together. Each may make a row that is as large as all before it, such as a list of their values."""


class Line:
    """The rows of a partition that wait. `rank` decides between rows of the same time: tables come before streams, so that a row finds
    what is as old as it. While `is_awaited`, no other row may go before it is known which one comes next here."""

    __slots__ = ("is_awaited", "items", "rank")

    def __init__(self, rank: tuple[int, ...], is_awaited: bool) -> None:
        self.rank = rank
        self.is_awaited = is_awaited
        self.items: deque[Item] = deque()


def rank_of(reads: Sequence[Read], places: Sequence[int], partition: int) -> tuple[int, ...]:
    """Of a partition of a topic that a plan reads at these places."""
    is_table = all(reads[place].source.is_table for place in places)
    return 0 if is_table else 1, places[0], partition


def offset_of(item: Item) -> int:
    """Of the record that the row was made from."""
    offset: int = item[2][-1][2]
    return offset


def in_order(lines: Sequence[Line]) -> Iterator[tuple[int, list[Row]]]:
    """Rows, as long as their order is known: the place where they are read, and those that follow each other there. They are out of
    their lines when they are given."""
    if any(line.is_awaited and not line.items for line in lines):
        return
    heads = [(line.items[0][0], line.rank, line) for line in lines if line.items]
    heapify(heads)
    while heads:
        _, rank, line = heappop(heads)
        yield from _until(line, (heads[0][0], heads[0][1]) if heads else BEHIND_ALL)
        if line.items:
            heappush(heads, (line.items[0][0], rank, line))
        elif line.is_awaited:
            return


@dataclass(frozen=True, slots=True)
class WholeLine:
    """Rows of a partition that may all go, in their order: the places where they are read, and their times. A row that is earlier than one
    before it in its partition has the time of that one: it goes directly after it."""

    rank: tuple[int, ...]
    times: list[int]
    places: list[int]
    rows: list[Row]


def merged(lines: Sequence[WholeLine]) -> Iterator[tuple[int, list[Row], list[int]]]:
    """What `in_order` gives of lines to which nothing is added, with the times of the rows; though with the rows of several partitions
    together where they are read at one place. Python sorts by merging what is in order already."""
    ranked = sorted(lines, key=lambda line: line.rank)
    rows = [row for line in ranked for row in line.rows]
    places = [place for line in ranked for place in line.places]
    times = [time for line in ranked for time in line.times]
    if len(ranked) > 1:
        order = sorted(range(len(rows)), key=times.__getitem__)
        rows = [rows[index] for index in order]
        places = [places[index] for index in order]
        times = [times[index] for index in order]
    start = 0
    while start < len(rows):
        place, end = places[start], min(start + TOGETHER_MAX, len(rows))
        if places[start:end].count(place) < end - start:
            end = next(index for index in range(start, end) if places[index] != place)
        yield place, rows[start:end], times[start:end]
        start = end


def _until(line: Line, bound: tuple[int, tuple[int, ...]]) -> Iterator[tuple[int, list[Row]]]:
    """The rows of a line that come before another row."""
    items, rank = line.items, line.rank
    while items and (items[0][0], rank) <= bound:
        _, place, row = items.popleft()
        rows = [row]
        while items and items[0][1] == place and (items[0][0], rank) <= bound and len(rows) < TOGETHER_MAX:
            rows.append(items.popleft()[2])
        yield place, rows
