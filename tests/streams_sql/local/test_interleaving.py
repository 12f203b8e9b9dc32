"""The order of rows of several partitions."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from streams_sql.local.interleaving import Line, WholeLine, in_order, merged


def lined(rank: int, *times: int, is_awaited: bool = False, place: int = 0) -> Line:
    line = Line((rank,), is_awaited)
    line.items.extend((time, place, (time, rank, (False, 0, 0))) for time in times)
    return line


def shown(*lines: Line) -> list[tuple[int, int]]:
    return [(row[1], row[0]) for _, rows in in_order(lines) for row in rows]


@given(st.lists(st.lists(st.integers(0, 20), max_size=10), max_size=5))
def test_the_earliest_of_the_first_ones_goes_first(times: list[list[int]]) -> None:
    waiting = [list(found) for found in times]
    expected = []
    while any(waiting):
        rank = min((rank for rank, found in enumerate(waiting) if found), key=lambda rank: (waiting[rank][0], rank))
        expected.append((rank, waiting[rank].pop(0)))
    assert shown(*(lined(rank, *found) for rank, found in enumerate(times))) == expected


def test_nothing_goes_while_it_is_not_known_what_comes_next() -> None:
    empty = lined(1, is_awaited=True)
    full = lined(0, 5, 9)
    assert shown(full, empty) == []
    empty.items.append((7, 0, (7, 1, (False, 0, 0))))
    assert shown(full, empty) == [(0, 5), (1, 7)], "then it is not known again"
    empty.is_awaited = False
    assert shown(full, empty) == [(0, 9)]


def test_rows_that_follow_each_other_in_one_place_go_together() -> None:
    lines = lined(0, 1, 2, 9, place=0), lined(1, 5, 6, place=1)
    assert [(place, len(rows)) for place, rows in in_order(lines)] == [(0, 2), (1, 2), (0, 1)]


def test_what_was_not_taken_stays() -> None:
    lines = lined(0, 1, 9), lined(1, 5)
    next(in_order(lines))
    assert shown(*lines) == [(1, 5), (0, 9)]


@given(lines=st.lists(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 2))), max_size=4))
def test_whole_lines_are_merged_in_the_same_order(lines: list[list[tuple[int, int]]]) -> None:
    """Times that go back within a line among them."""
    waiting, whole = [], []
    for number, items in enumerate(lines):
        rank = (number % 2, number)
        times, places = [time for time, _ in items], [place for _, place in items]
        rows = [(f"row {number}.{index}",) for index in range(len(items))]
        line = Line(rank, is_awaited=False)
        line.items.extend(zip(times, places, rows, strict=True))
        waiting.append(line)
        whole.append(WholeLine(rank, list(accumulate(times, max)), places, rows))
    expected = [(place, row) for place, some in in_order(waiting) for row in some]
    assert [(place, row) for place, some, _ in merged(whole) for row in some] == expected
