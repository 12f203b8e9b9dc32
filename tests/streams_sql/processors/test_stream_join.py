"""Joins of two streams."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams_sql.language.statements import JoinKind, Within
from streams_sql.plan.nodes import StreamJoin
from streams_sql.plan.pipeline import Row
from streams_sql.processors.stream_join import LEFT, RIGHT, StreamJoining
from tests.streams_sql.processors.driving import Driven
from tests.streams_sql.processors.plans import HOUR, MINUTE, picked, reading, row, stream_join, unexpected

SIDES = (reading("l", prefix="L_"), reading("r", prefix="R_"))
KINDS = (JoinKind.INNER, JoinKind.LEFT, JoinKind.RIGHT, JoinKind.OUTER)


def record(side: int, time: int, value: int = 0, key: str | None = "k") -> tuple[int, Row]:
    return side, row(SIDES[side], time, K=key, V=value)


def run(node: StreamJoin, *records: tuple[int, Row]) -> list[Any]:
    driven = Driven(StreamJoining(node, unexpected))
    rows = [found for side, each in records for found in driven.push(side, [each])]
    return picked(rows, node, "L_V", "R_V", "ROWTIME")


WITHINS = st.builds(Within, st.integers(0, 20), st.integers(0, 20))
RECORDS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 60), st.sampled_from("xy")),
    max_size=20,
)


def are_near(kind: JoinKind, within: Within, left: int, right: int) -> bool:
    """A right join looks from the right side."""
    before, after = within.before_ms, within.after_ms
    if kind is JoinKind.RIGHT:
        return right - before <= left <= right + after
    return left - before <= right <= left + after


def is_kept(kind: JoinKind, side: int) -> bool:
    return kind is JoinKind.OUTER or kind is (JoinKind.RIGHT if side else JoinKind.LEFT)


@pytest.mark.parametrize("kind", KINDS)
@given(within=WITHINS, records=RECORDS)
def test_without_a_grace_period_a_row_is_told_at_once(
    kind: JoinKind, within: Within, records: list[tuple[int, int, str]]
) -> None:
    """Each with its partners so far, or with none of them; all partners come within a day."""
    node = stream_join(*SIDES, kind, within)
    driven = Driven(StreamJoining(node, unexpected))
    for number, (side, time, key) in enumerate(records):
        partners = sorted(
            (other_time, other)
            for other, (other_side, other_time, other_key) in enumerate(records[:number])
            if other_side != side and other_key == key and are_near(kind, within, *_sorted(side, time, other_time))
        )
        expected = [(*_sorted(side, number, other), max(time, other_time)) for other_time, other in partners]
        if not partners and is_kept(kind, side):
            expected = [(*_sorted(side, number, None), time)]
        _, each = record(side, time, number, key)
        assert picked(driven.push(side, [each]), node, "L_V", "R_V", "ROWTIME") == expected


def _sorted(side: int, mine: Any, other: Any) -> tuple[Any, Any]:
    return (other, mine) if side == RIGHT else (mine, other)


@pytest.mark.parametrize("kind", KINDS)
@given(within=st.builds(Within, st.integers(0, 20), st.integers(0, 20), st.integers(0, 20)), records=RECORDS)
def test_with_a_grace_period_a_row_without_partners_is_told_when_none_can_come(
    kind: JoinKind, within: Within, records: list[tuple[int, int, str]]
) -> None:
    """Rows that come in order of time, and one at the end that is so late that all windows are over."""
    records = sorted(records, key=lambda each: each[1])
    node = stream_join(*SIDES, kind, within)
    driven = Driven(StreamJoining(node, unexpected))
    rows: list[Row] = []
    for number, (side, time, key) in enumerate(records):
        rows += driven.push(side, [record(side, time, number, key)[1]])
    rows += driven.push(LEFT, [record(LEFT, HOUR, -1, "end")[1]])
    pairs = Counter[tuple[Any, Any]]()
    for one, (side, time, key) in enumerate(records):
        partners = [
            other
            for other, (other_side, other_time, other_key) in enumerate(records)
            if other_side != side and other_key == key and are_near(kind, within, *_sorted(side, time, other_time))
        ]
        if side == LEFT:
            pairs.update((one, other) for other in partners)
        if not partners and is_kept(kind, side):
            pairs[_sorted(side, one, None)] += 1
    assert Counter(picked(rows, node, "L_V", "R_V")) == pairs


def test_a_late_row_without_partners_is_told_at_once() -> None:
    node = stream_join(*SIDES, JoinKind.LEFT, Within(MINUTE, MINUTE, MINUTE))
    assert run(node, record(LEFT, 10 * MINUTE, 1), record(LEFT, 8 * MINUTE, 2)) == [(2, None, 8 * MINUTE)]


def test_a_row_that_waits_is_told_once_its_window_and_the_grace_period_are_over() -> None:
    node = stream_join(*SIDES, JoinKind.LEFT, Within(10, 20, 5))
    waiting = record(LEFT, 100, 1)
    assert run(node, waiting, record(RIGHT, 125, 2, "other")) == []
    assert run(node, waiting, record(RIGHT, 126, 2, "other")) == [(1, None, 100)]


def test_rows_that_wait_are_told_in_the_order_of_their_times() -> None:
    node = stream_join(*SIDES, JoinKind.OUTER, Within(10, 10, 0))
    records = [record(LEFT, 7, 1, "b"), record(RIGHT, 5, 2, "a"), record(LEFT, 5, 3, "c"), record(LEFT, 90, 4)]
    assert run(node, *records) == [(None, 2, 5), (3, None, 5), (1, None, 7)]


def test_a_row_is_found_until_its_own_stream_is_past_it() -> None:
    """However late the other side is, as in Kafka Streams."""
    node = stream_join(*SIDES, JoinKind.INNER, Within(MINUTE, MINUTE, MINUTE))
    pair = record(RIGHT, 0, 1), record(LEFT, 0, 2)
    assert run(node, pair[0], record(LEFT, 3 * MINUTE, 0, "other"), pair[1]) == [(2, 1, 0)]
    assert run(node, pair[0], record(RIGHT, 3 * MINUTE - 1, 0, "other"), pair[1]) == [(2, 1, 0)]
    assert run(node, pair[0], record(RIGHT, 3 * MINUTE, 0, "other"), pair[1]) == []


def test_before_and_after_are_different() -> None:
    node = stream_join(*SIDES, JoinKind.INNER, Within(10, 20))
    assert run(node, record(LEFT, 100, 1), record(RIGHT, 90, 2), record(RIGHT, 120, 3)) == [(1, 2, 100), (1, 3, 120)]
    assert run(node, record(LEFT, 100, 1), record(RIGHT, 89, 2), record(RIGHT, 121, 3)) == []


def test_rows_without_a_key_or_a_value_have_no_partner() -> None:
    empty = (LEFT, row(SIDES[LEFT], 5, is_deleted=True, K="k"))
    records = [record(RIGHT, 5, 1, None), record(LEFT, 5, 2, None), empty]
    assert run(stream_join(*SIDES, JoinKind.INNER, Within(9, 9)), *records) == []
    assert run(stream_join(*SIDES, JoinKind.LEFT, Within(9, 9)), *records) == [(2, None, 5)]
    assert run(stream_join(*SIDES, JoinKind.OUTER, Within(9, 9, 9)), *records) == [(None, 1, 5), (2, None, 5)]


def test_what_nobody_can_find_is_forgotten() -> None:
    driven = Driven(StreamJoining(stream_join(*SIDES, JoinKind.OUTER, Within(10, 10, 10)), unexpected))
    for time in range(500):
        for side in (LEFT, RIGHT):
            driven.push(side, [record(side, time * 10, 0, f"{side} {time}")[1]])
    assert len(driven.states) < 20


def test_rows_of_one_key_are_forgotten_as_well() -> None:
    driven = Driven(StreamJoining(stream_join(*SIDES, JoinKind.INNER, Within(10, 10, 10)), unexpected))
    driven.push(LEFT, [record(LEFT, time)[1] for time in range(0, 10_000, 10)])
    assert len(next(iter(driven.states.values()))) < 5_000
