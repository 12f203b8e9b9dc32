"""States in a dict and timers in a heap: the same as looking at everything each time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams_sql.language.statements import Emit, JoinKind, Within
from streams_sql.local.keyed import Keyed, TimedKeyed
from streams_sql.local.limits import COUNT_INTERVAL_MIN, StateTooLarge
from streams_sql.plan.pipeline import Row
from streams_sql.processors.aggregation import Aggregation
from streams_sql.processors.processor import TimedProcessor
from streams_sql.processors.sessions import SessionAggregation
from streams_sql.processors.stream_join import StreamJoining
from streams_sql.processors.windows import WindowAggregation
from tests.streams_sql.processors.driving import Driven
from tests.streams_sql.processors.plans import (
    call,
    grouped,
    hopping,
    reading,
    row,
    session,
    stream_join,
    unexpected,
)

SIDES = (reading("l", prefix="L_"), reading("r", prefix="R_"))
LEFT = SIDES[0]


def windows() -> TimedProcessor:
    node = grouped(LEFT, ["L_K"], [call(LEFT, "COUNT")], hopping(20, 5, 7), Emit.FINAL)
    return WindowAggregation(node, with_old=False, on_error=unexpected)


def sessions() -> TimedProcessor:
    node = grouped(LEFT, ["L_K"], [call(LEFT, "COUNT")], session(10, 7), Emit.FINAL)
    return SessionAggregation(node, with_old=False, on_error=unexpected)


def pairs() -> TimedProcessor:
    return StreamJoining(stream_join(*SIDES, JoinKind.OUTER, Within(5, 10, 5)), unexpected)


RECORDS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 99), st.sampled_from(["x", "y", None])), max_size=40)


@pytest.mark.parametrize("make", [windows, sessions, pairs])
@given(records=RECORDS)
def test_timers_tell_the_same_in_the_same_order(
    make: Callable[[], TimedProcessor], records: list[tuple[int, int, str | None]]
) -> None:
    processor = make()
    sides = len(processor.keys)
    fed = [(side % sides, row(SIDES[side % sides], time, K=key)) for side, time, key in records]
    host, simple = TimedKeyed(processor), Driven(make())
    for side, each in fed:
        assert host.push(side, [each]) == simple.push(side, [each])


def test_states_of_keys_that_are_gone_are_not_kept() -> None:
    host = TimedKeyed(pairs())
    host.push(0, [row(LEFT, time * 50, K=str(time)) for time in range(COUNT_INTERVAL_MIN + 1)])
    assert host.entries < 10


def test_a_query_that_keeps_too_much_is_stopped() -> None:
    node = grouped(LEFT, ["L_K"], [call(LEFT, "COUNT")])
    host = Keyed(Aggregation(node, with_old=False, on_error=unexpected), entries_max=20_000)
    rows: list[Row] = [row(LEFT, 1, K=str(number)) for number in range(COUNT_INTERVAL_MIN)]
    with pytest.raises(StateTooLarge, match="persistent query"):
        host.push(0, rows)


def test_values_of_aggregates_count_as_well() -> None:
    node = grouped(LEFT, ["L_K"], [call(LEFT, "COLLECT_LIST", "L_V")])
    host = Keyed(Aggregation(node, with_old=False, on_error=unexpected), entries_max=COUNT_INTERVAL_MIN // 2)
    with pytest.raises(StateTooLarge):
        host.push(0, [row(LEFT, 1, K="the same", V=number) for number in range(COUNT_INTERVAL_MIN)])
