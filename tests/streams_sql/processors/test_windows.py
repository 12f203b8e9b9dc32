"""GROUP BY in windows of a fixed size."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from streams_sql.language.statements import Emit, Window
from streams_sql.plan.nodes import Aggregate
from streams_sql.processors.windows import GRACE_DEFAULT_MS, WindowAggregation
from tests.streams_sql.processors.driving import Driven
from tests.streams_sql.processors.plans import (
    HOUR,
    SECOND,
    call,
    grouped,
    hopping,
    picked,
    reading,
    row,
    tumbling,
    unexpected,
)

STREAM = reading("s")
SHOWN = ("G", "WINDOWSTART", "WINDOWEND", "COUNT", "ROWTIME")


def counted(window: Window, emit: Emit = Emit.CHANGES) -> Aggregate:
    return grouped(STREAM, ["G"], [call(STREAM, "COUNT")], window, emit)


def run(node: Aggregate, records: list[tuple[str, int]]) -> list[Any]:
    driven = Driven(WindowAggregation(node, with_old=False, on_error=unexpected))
    return picked(driven.push(0, [row(STREAM, time, G=group) for group, time in records]), node, *SHOWN)


WINDOWS = st.builds(
    lambda advances, advance, grace: hopping(advances * advance, advance, grace),
    st.integers(1, 4),
    st.integers(1, 10),
    st.integers(0, 30),
)
RECORDS = st.lists(st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 100)), max_size=30)


def starts(window: Window, time: int) -> list[int]:
    """Of the windows that a time is in."""
    assert window.advance_ms is not None
    return [start for start in range(0, time + 1, window.advance_ms) if start <= time < start + window.size_ms]


@given(WINDOWS, RECORDS)
def test_a_row_counts_in_each_window_that_is_not_over(window: Window, records: list[tuple[str, int]]) -> None:
    expected, counts, latest = list[Any](), Counter[tuple[str, int]](), dict[tuple[str, int], int]()
    for place, (group, time) in enumerate(records):
        now = max(other for _, other in records[: place + 1])
        for start in starts(window, time):
            end = start + window.size_ms
            if end + (window.grace_ms or 0) > now:
                counts[group, start] += 1
                latest[group, start] = max(time, latest.get((group, start), 0))
                expected.append((group, start, end, counts[group, start], latest[group, start]))
    assert run(counted(window), records) == expected


@given(WINDOWS, RECORDS)
def test_the_final_count_of_a_window_is_told_once_when_it_is_over(
    window: Window, records: list[tuple[str, int]]
) -> None:
    changes = {tuple(change[:3]): change for change in run(counted(window), records)}
    now = max((time for _, time in records), default=0)
    over = [change for change in changes.values() if change[2] + (window.grace_ms or 0) <= now]
    assert sorted(run(counted(window, Emit.FINAL), records)) == sorted(over)


def test_what_is_over_at_the_same_time_is_told_in_the_order_of_windows_and_keys() -> None:
    records = [("b", 1), ("a", 11), ("a", 2), ("b", 12), ("c", 25)]
    assert run(counted(tumbling(10, 0), Emit.FINAL), [*records[:1], *records[2:]]) == [
        ("a", 0, 10, 1, 2),
        ("b", 0, 10, 1, 1),
        ("b", 10, 20, 1, 12),
    ]


def test_a_row_of_a_time_at_which_its_window_ends_is_in_the_next_one() -> None:
    assert run(counted(tumbling(10, 0)), [("a", 9), ("a", 10)]) == [("a", 0, 10, 1, 9), ("a", 10, 20, 1, 10)]


def test_a_row_is_late_from_the_end_of_the_grace_period_on() -> None:
    node = counted(tumbling(10, 5))
    assert run(node, [("a", 14), ("a", 3)])[1:] == [("a", 0, 10, 1, 3)]
    assert run(node, [("a", 15), ("a", 3)])[1:] == []
    assert run(node, [("b", 15), ("a", 3)])[1:] == [], "stream time is that of all keys"


def test_without_a_grace_period_a_row_may_be_a_day_late() -> None:
    node = counted(tumbling(HOUR))
    assert len(run(node, [("a", GRACE_DEFAULT_MS - 1), ("a", 0)])) == 2
    assert len(run(node, [("a", GRACE_DEFAULT_MS), ("a", 0)])) == 1


def test_windows_that_are_over_are_forgotten() -> None:
    driven = Driven(WindowAggregation(counted(hopping(10 * SECOND, SECOND, 0)), with_old=False, on_error=unexpected))
    driven.push(0, [row(STREAM, time * SECOND, G=str(time)) for time in range(1_000)])
    assert len(driven.states) == 10


def test_a_row_without_a_group_does_not_move_time() -> None:
    node = counted(tumbling(10, 0))
    driven = Driven(WindowAggregation(node, with_old=False, on_error=unexpected))
    rows = driven.push(0, [row(STREAM, 500, G=None), row(STREAM, 600, is_deleted=True, K="k"), row(STREAM, 1, G="a")])
    assert picked(rows, node, *SHOWN) == [("a", 0, 10, 1, 1)]


def test_a_change_has_the_row_before_it() -> None:
    node = counted(tumbling(10))
    driven = Driven(WindowAggregation(node, with_old=True, on_error=unexpected, with_initial=True))
    changes = driven.push(0, [row(STREAM, 1, G="a"), row(STREAM, 2, G="a")])
    assert [picked(change, node, *SHOWN) for change in changes] == [
        [(None, 0, 10, 0, 1), ("a", 0, 10, 1, 1)],
        [("a", 0, 10, 1, 1), ("a", 0, 10, 2, 2)],
    ]
