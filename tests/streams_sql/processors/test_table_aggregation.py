"""GROUP BY over a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams_sql.functions.library import LIBRARY
from streams_sql.language.statements import Kind
from streams_sql.plan.nodes import Aggregate, AggregateCall
from streams_sql.plan.pipeline import Row
from streams_sql.processors.accumulation import accumulator_of
from streams_sql.processors.table_aggregation import TableAggregation, moves_of
from streams_sql.processors.table_changes import TableChanges
from streams_sql.sql_types import DOUBLE, INTEGER, STRING, Array
from tests.streams_sql.processors.driving import Driven
from tests.streams_sql.processors.plans import call, grouped, picked, reading, row, told, unexpected

TABLE = reading("t", Kind.TABLE, value={"G": STRING, "V": INTEGER, "D": DOUBLE, "S": STRING, "A": Array(INTEGER)})
MODEL_EXAMPLES = 30
"""For each of the aggregates."""
CALLS = [
    call(TABLE, "COUNT"),
    call(TABLE, "COUNT", "V"),
    call(TABLE, "SUM", "V"),
    call(TABLE, "AVG", "V"),
    call(TABLE, "MIN", "V"),
    call(TABLE, "MAX", "V"),
    call(TABLE, "MAX", "D"),
    call(TABLE, "COLLECT_LIST", "V"),
    call(TABLE, "COLLECT_SET", "V"),
    call(TABLE, "COUNT_DISTINCT", "V"),
    call(TABLE, "HISTOGRAM", "S"),
    call(TABLE, "ATTR", "S"),
    call(TABLE, "STDDEV_SAMP", "V"),
    call(TABLE, "CORRELATION", "V", "V"),
    call(TABLE, "SUM_LIST", "A"),
    call(TABLE, "TOPK", "V", constants=[2]),
    call(TABLE, "TOPK", "V", "S", constants=[2]),
    call(TABLE, "TOPKDISTINCT", "V", constants=[2]),
    call(TABLE, "LATEST_BY_OFFSET", "V"),
    call(TABLE, "LATEST_BY_OFFSET", "V", constants=[2, False]),
    call(TABLE, "EARLIEST_BY_OFFSET", "V"),
    call(TABLE, "EARLIEST_BY_OFFSET", "V", constants=[2]),
]


def test_all_aggregates_are_tried() -> None:
    assert set(LIBRARY.aggregates) - {each.function for each in CALLS} <= {"STDDEV_SAMPLE"}


class Grouping:
    """A table from its rows as they come to the rows of its groups."""

    def __init__(self, node: Aggregate, with_old: bool = False) -> None:
        self._changes = Driven(TableChanges(node.input))
        self._moves = moves_of(node, unexpected)
        self._groups = Driven(TableAggregation(node, with_old, unexpected))

    def push(self, *rows: Row) -> list[Any]:
        moves = [move for change in self._changes.push(0, rows) for move in self._moves(change)]
        return self._groups.push(0, moves)


ROWS = st.tuples(
    st.sampled_from("wxyz"),
    st.one_of(
        st.none(),
        st.fixed_dictionaries({
            "G": st.sampled_from(["a", "b", None]),
            "V": st.one_of(st.none(), st.integers(-3, 3)),
            "D": st.sampled_from([None, 1.5, -1.0, math.nan, math.inf]),
            "S": st.one_of(st.none(), st.sampled_from(["p", "q"])),
            "A": st.lists(st.one_of(st.none(), st.integers(0, 3)), max_size=3),
        }),
    ),
)  # fmt: skip


def expected_of(each: AggregateCall, rows: Sequence[Mapping[str, Any]]) -> Any:
    """What the aggregate is of these rows."""
    accumulator = accumulator_of(each)
    state = accumulator.start()
    for found in rows:
        state = accumulator.add(state, *(found[argument.name] for argument in each.arguments))  # type: ignore[union-attr]
    return accumulator.result(state)


def comparable(name: str) -> Callable[[Any], Any]:
    """Lists of equal values may lose another one of them, and what is worked out in floating point is nearly the same."""
    match name:
        case "COLLECT_LIST" | "COLLECT_SET":
            return lambda values: sorted(values, key=repr)
        case "HISTOGRAM":
            return dict
        case "STDDEV_SAMP" | "CORRELATION":
            return lambda value: "none" if math.isnan(value) else pytest.approx(value, abs=1e-6)
        case "TOPK" | "MAX":
            return repr
    return lambda value: value


@pytest.mark.parametrize("each", CALLS, ids=lambda each: f"{each.function}-{len(each.arguments)}-{each.constants}")
@settings(max_examples=MODEL_EXAMPLES)
@given(changes=st.lists(ROWS, max_size=15))
def test_a_group_is_always_that_of_the_rows_which_are_in_it(
    each: AggregateCall, changes: list[tuple[str, dict[str, Any] | None]]
) -> None:
    node = grouped(TABLE, ["G"], [each])
    grouping = Grouping(node)
    table: dict[str, dict[str, Any]] = {}
    standing: dict[str, Any] = {}
    shown = comparable(each.function)
    for time, (key, values) in enumerate(changes):
        made = grouping.push(row(TABLE, time, is_deleted=values is None, K=key, **(values or {})))
        # A row that changes is the latest of its group.
        table.pop(key, None)
        if values is not None:
            table[key] = values
        standing |= dict(picked(made, node, "G", each.name))
        for group, value in standing.items():
            of_group = [found for found in table.values() if found["G"] == group]
            assert shown(value) == shown(expected_of(each, of_group))


COUNTED = grouped(TABLE, ["G"], [call(TABLE, "COUNT"), call(TABLE, "SUM", "V")])


def test_a_row_leaves_its_group_before_it_enters_another_one() -> None:
    grouping = Grouping(COUNTED)
    grouping.push(row(TABLE, 1, K="x", G="a", V=1))
    made = grouping.push(row(TABLE, 5, K="x", G="b", V=2))
    assert told(made, COUNTED, ["G"], ["COUNT", "SUM", "ROWTIME"]) == [("a", (0, 0, 5)), ("b", (1, 2, 5))]


def test_a_row_that_stays_in_its_group_is_told_once() -> None:
    grouping = Grouping(COUNTED)
    grouping.push(row(TABLE, 7, K="x", G="a", V=1))
    made = grouping.push(row(TABLE, 5, K="x", G="a", V=2))
    assert told(made, COUNTED, ["G"], ["COUNT", "SUM", "ROWTIME"]) == [("a", (1, 2, 7))]


def test_a_group_without_rows_stays() -> None:
    grouping = Grouping(COUNTED)
    grouping.push(row(TABLE, 1, K="x", G="a", V=1))
    made = grouping.push(row(TABLE, 2, is_deleted=True, K="x"))
    assert told(made, COUNTED, ["G"], ["COUNT", "SUM", "ROWTIME"]) == [("a", (0, 0, 2))]


def test_what_never_was_is_not_taken_back() -> None:
    assert Grouping(COUNTED).push(row(TABLE, 1, is_deleted=True, K="x")) == []


def test_a_row_moves_into_and_out_of_no_group() -> None:
    grouping = Grouping(COUNTED)
    assert grouping.push(row(TABLE, 1, K="x", G=None, V=1)) == []
    assert len(grouping.push(row(TABLE, 2, K="x", G="a", V=1))) == 1
    assert picked(grouping.push(row(TABLE, 3, K="x", G=None, V=1)), COUNTED, "G", "COUNT") == [("a", 0)]


def test_a_change_has_the_row_before_it_and_the_first_one_has_none() -> None:
    grouping = Grouping(COUNTED, with_old=True)
    ((first_old, first),) = grouping.push(row(TABLE, 1, K="x", G="a", V=1))
    ((old, _),) = grouping.push(row(TABLE, 2, K="y", G="a", V=1))
    assert first_old is None
    assert old == first
