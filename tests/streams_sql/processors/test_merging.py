"""Aggregates of sessions: two states make one, as if all had come to it."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams_sql.function_declaration import Accumulator
from streams_sql.functions.library import LIBRARY
from streams_sql.plan.nodes import AggregateCall
from streams_sql.processors.accumulation import accumulator_of
from streams_sql.processors.merging import session_accumulator
from tests.streams_sql.processors.test_table_aggregation import CALLS, MODEL_EXAMPLES

ARGUMENTS: dict[str, st.SearchStrategy[Any]] = {
    "V": st.one_of(st.none(), st.integers(-3, 3)),
    "D": st.sampled_from([None, 1.5, -1.0, math.nan, math.inf]),
    "S": st.sampled_from(["p", "q"]),
    "A": st.lists(st.integers(0, 3), max_size=3),
}


def shown(name: str, value: Any) -> Any:
    match name:
        case "COLLECT_LIST" | "COLLECT_SET":
            return sorted(value, key=repr)
        case "STDDEV_SAMP" | "CORRELATION":
            return "none" if math.isnan(value) else pytest.approx(value, abs=1e-6)
        case "HISTOGRAM":
            return value
        case "TOPK":
            # Of records that rank the same, those of the first session come first.
            return [record["sort_col"] if isinstance(record, dict) else record for record in value]
    return repr(value)


@pytest.mark.parametrize("each", CALLS, ids=lambda each: f"{each.function}-{len(each.arguments)}-{each.constants}")
@settings(max_examples=MODEL_EXAMPLES)
@given(data=st.data())
def test_merged_states_are_as_one_that_took_everything(each: AggregateCall, data: st.DataObject) -> None:
    arguments = st.tuples(*(ARGUMENTS[argument.name] for argument in each.arguments))  # type: ignore[union-attr]
    values = data.draw(st.lists(st.tuples(arguments, st.integers(0, 2)), max_size=15))
    merging, plain = session_accumulator(accumulator_of(each)), accumulator_of(each)
    states, whole = [merging.start() for _ in range(3)], plain.start()
    for order, (found, session) in enumerate(values):
        states[session] = merging.add(states[session], order, found)
        whole = plain.add(whole, *found)
    merged = merging.merge(merging.merge(states[0], states[1]), states[2])
    assert shown(each.function, merging.result(merged)) == shown(each.function, plain.result(whole))


class Words:
    """An accumulator that can neither merge nor undo."""

    def start(self) -> str:
        return ""

    def add(self, state: str, *words: str) -> str:
        return state + "".join(words)

    def result(self, state: str) -> str:
        return state


def test_an_accumulator_that_cannot_merge_is_given_everything_in_order() -> None:
    words: Accumulator = Words()
    merging = session_accumulator(words)
    one = merging.add(merging.add(merging.start(), 1, ("a", "b")), 4, ("d", "d"))
    other = merging.add(merging.start(), 2, ("c", "c"))
    assert merging.result(merging.merge(one, other)) == "abccdd"


def test_only_what_is_needed_is_kept_of_a_session() -> None:
    latest = LIBRARY.aggregates["LATEST_BY_OFFSET"].overloads[0].accumulator()
    merging = session_accumulator(latest)
    state = merging.start()
    for order in range(1_000):
        state = merging.add(state, order, (order,))
    assert state == [(999, (999,))]
