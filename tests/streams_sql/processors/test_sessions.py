"""GROUP BY in sessions."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from streams_sql.language.statements import Emit, Window, WindowKind
from streams_sql.plan.nodes import Aggregate
from streams_sql.processors.sessions import SessionAggregation
from tests.streams_sql.processors.driving import Driven
from tests.streams_sql.processors.plans import HOUR, call, grouped, picked, reading, row, session, told, unexpected

STREAM = reading("s")
KEY = ("G", "WINDOWSTART", "WINDOWEND")


def node_of(window: Window, emit: Emit = Emit.CHANGES) -> Aggregate:
    calls = [call(STREAM, "COUNT"), call(STREAM, "COLLECT_LIST", "V"), call(STREAM, "LATEST_BY_OFFSET", "V")]
    return grouped(STREAM, ["G"], calls, window, emit)


def run(node: Aggregate, records: list[tuple[str, int]]) -> list[tuple[Any, ...]]:
    """The values of V are the numbers of the records."""
    driven = Driven(SessionAggregation(node, with_old=False, on_error=unexpected))
    rows = [row(STREAM, time, G=group, V=number) for number, (group, time) in enumerate(records)]
    return told(driven.push(0, rows), node, KEY, ("COUNT", "ROWTIME"))


RECORDS = st.lists(st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 200)), max_size=25)


def sessions(times: list[int], gap: int) -> list[list[int]]:
    """Times that follow each other within the gap, together."""
    found: list[list[int]] = []
    for time in sorted(times):
        if found and time - found[-1][-1] <= gap:
            found[-1].append(time)
        else:
            found.append([time])
    return found


@given(st.integers(1, 30), RECORDS)
def test_what_is_left_are_the_sessions_of_all_rows(gap: int, records: list[tuple[str, int]]) -> None:
    standing: dict[Any, Any] = {}
    for change in run(node_of(session(gap, HOUR)), records):
        *key, value = change
        if value is None:
            assert tuple(key) in standing, "only what was told is told to be gone"
            del standing[tuple(key)]
        else:
            standing[tuple(key)] = value
    expected = {
        (group, found[0], found[-1]): (len(found), found[-1])
        for group in {group for group, _ in records}
        for found in sessions([time for other, time in records if other == group], gap)
    }
    assert standing == expected


@given(st.integers(1, 30), RECORDS)
def test_merged_sessions_have_all_values_and_the_latest_one(gap: int, records: list[tuple[str, int]]) -> None:
    node = node_of(session(gap, HOUR))
    driven = Driven(SessionAggregation(node, with_old=False, on_error=unexpected))
    for number, (group, time) in enumerate(records):
        made = driven.push(0, [row(STREAM, time, G=group, V=number)])[-1:]
        ((start, end, values, latest),) = picked(
            made, node, "WINDOWSTART", "WINDOWEND", "COLLECT_LIST", "LATEST_BY_OFFSET"
        )
        inside = [
            other for other in range(number + 1) if records[other][0] == group and start <= records[other][1] <= end
        ]
        assert sorted(values) == inside
        assert latest == number


@given(st.integers(1, 30), st.integers(0, 20), RECORDS)
def test_the_final_sessions_are_those_that_are_over(gap: int, grace: int, records: list[tuple[str, int]]) -> None:
    standing: dict[Any, Any] = {}
    for *key, value in run(node_of(session(gap, grace)), records):
        standing[tuple(key)] = value
    now = max((time for _, time in records), default=0)
    over = {key: value for key, value in standing.items() if value is not None and key[2] + gap + grace < now}
    final = run(node_of(session(gap, grace), Emit.FINAL), records)
    assert {tuple(key): value for *key, value in final} == over
    assert len(final) == len(over)


def test_sessions_that_grow_together_are_told_to_be_gone_first() -> None:
    records = [("a", 0), ("a", 30), ("a", 15)]
    assert run(node_of(session(20)), records) == [
        ("a", 0, 0, (1, 0)),
        ("a", 30, 30, (1, 30)),
        ("a", 0, 0, None),
        ("a", 30, 30, None),
        ("a", 0, 30, (3, 30)),
    ]


def test_a_row_within_a_session_has_it_told_to_be_gone_as_well() -> None:
    assert run(node_of(session(20)), [("a", 0), ("a", 10), ("a", 5)])[3:] == [("a", 0, 10, None), ("a", 0, 10, (3, 10))]


def test_a_row_of_the_very_time_of_a_session_of_one_moment_does_not() -> None:
    assert run(node_of(session(20)), [("a", 7), ("a", 7)]) == [("a", 7, 7, (1, 7)), ("a", 7, 7, (2, 7))]


def test_a_row_is_late_when_its_session_would_have_been_over() -> None:
    late = [("b", 100), ("a", 69)]
    in_time = [("b", 100), ("a", 70)]
    assert run(node_of(session(20, 10)), late) == [("b", 100, 100, (1, 100))]
    assert run(node_of(session(20, 10)), in_time)[1:] == [("a", 70, 70, (1, 70))]


def test_a_late_row_is_taken_into_a_session_that_is_not_over() -> None:
    assert run(node_of(session(20, 0)), [("a", 85), ("b", 100), ("a", 66)])[2:] == [
        ("a", 85, 85, None),
        ("a", 66, 85, (2, 85)),
    ]


def test_sessions_that_are_over_are_forgotten() -> None:
    driven = Driven(SessionAggregation(node_of(session(10, 0)), with_old=False, on_error=unexpected))
    driven.push(0, [row(STREAM, time * 5, G=str(time)) for time in range(200)])
    assert len(driven.states) == 3


def test_retention_lets_a_row_find_a_session_that_is_over() -> None:
    """A row that is in time itself, next to a session that is not any more."""
    records = [("a", 75), ("b", 100), ("a", 85)]
    kept = Window(WindowKind.SESSION, 20, grace_ms=0, retention_ms=HOUR)
    assert run(node_of(kept), records)[2:] == [("a", 75, 75, None), ("a", 75, 85, (2, 85))]
    assert run(node_of(session(20, 0)), records)[2:] == [("a", 85, 85, (1, 85))]


def test_a_session_that_no_row_finds_is_replaced_by_one_of_the_same_moment() -> None:
    """As in Kafka Streams, where both have the same key in the store."""
    records = [("a", 89), ("a", 112), ("a", 89), ("a", 113)]
    assert run(node_of(session(3, 20), Emit.FINAL), records) == [("a", 89, 89, (1, 89))]


def test_a_change_has_what_was_told_of_a_session() -> None:
    node = node_of(session(20))
    driven = Driven(SessionAggregation(node, with_old=True, on_error=unexpected))
    changes = driven.push(0, [row(STREAM, 0, G="a", V=1), row(STREAM, 10, G="a", V=2)])
    shown = [
        (old if old is None else told([old], node, KEY, ["COUNT"])[0], told([new], node, KEY, ["COUNT"])[0])
        for old, new in changes
    ]
    assert shown == [
        (None, ("a", 0, 0, (1,))),
        (("a", 0, 0, (1,)), ("a", 0, 0, None)),
        (None, ("a", 0, 10, (2,))),
    ]
