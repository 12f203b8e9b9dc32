"""GROUP BY without a window."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from streams_sql.processors.aggregation import Aggregation
from streams_sql.sql_types import DOUBLE, INTEGER, STRING, Array, Field, Map, SqlType, Struct
from tests.streams_sql.processors.driving import Driven
from tests.streams_sql.processors.plans import call, grouped, picked, reading, row, unexpected

STREAM = reading("s")
COUNT_AND_SUM = grouped(STREAM, ["G"], [call(STREAM, "COUNT"), call(STREAM, "SUM", "V")])

RECORDS = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.one_of(st.none(), st.integers(-5, 5)), st.integers(0, 50)),
    max_size=30,
)


@given(RECORDS)
def test_each_row_tells_its_group_anew(records: list[tuple[str | None, int | None, int]]) -> None:
    driven = Driven(Aggregation(COUNT_AND_SUM, with_old=False, on_error=unexpected))
    expected: list[tuple[Any, ...]] = []
    for place, (group, _, _) in enumerate(records):
        so_far = [(value, time) for other, value, time in records[: place + 1] if other == group]
        if group is not None:
            expected.append(
                (group, len(so_far), sum(value or 0 for value, _ in so_far), max(time for _, time in so_far))
            )
    rows = driven.push(0, [row(STREAM, time, G=group, V=value) for group, value, time in records])
    assert picked(rows, COUNT_AND_SUM, "G", "COUNT", "SUM", "ROWTIME") == expected


def test_a_record_without_a_value_is_in_no_group() -> None:
    driven = Driven(Aggregation(COUNT_AND_SUM, with_old=False, on_error=unexpected))
    assert driven.push(0, [row(STREAM, 1, is_deleted=True, K="k")]) == []


def test_a_change_has_the_row_before_it_and_the_first_one_that_of_nothing() -> None:
    driven = Driven(Aggregation(COUNT_AND_SUM, with_old=True, on_error=unexpected, with_initial=True))
    changes = driven.push(0, [row(STREAM, 5, G="a", V=2), row(STREAM, 3, G="a", V=4)])
    assert [picked(change, COUNT_AND_SUM, "G", "COUNT", "SUM", "ROWTIME") for change in changes] == [
        [(None, 0, 0, 5), ("a", 1, 2, 5)],
        [("a", 1, 2, 5), ("a", 2, 6, 5)],
    ]


def test_what_an_aggregate_cannot_take_is_told_and_passed_over() -> None:
    node = grouped(STREAM, ["G"], [call(STREAM, "SUM", "V"), call(STREAM, "COUNT")])
    errors: list[Exception] = []
    driven = Driven(Aggregation(node, with_old=False, on_error=errors.append))
    rows = driven.push(
        0, [row(STREAM, 1, G="a", V=1), row(STREAM, 2, G="a", V="no number"), row(STREAM, 3, G="a", V=2)]
    )
    assert picked(rows, node, "SUM", "COUNT") == [(1, 1), (1, 2), (3, 3)]
    assert len(errors) == 1


def test_groups_by_structs_arrays_and_maps() -> None:
    types: dict[str, SqlType] = {
        "S": Struct((Field("X", INTEGER), Field("Y", STRING))),
        "A": Array(INTEGER),
        "M": Map(STRING, INTEGER),
    }
    stream = reading("s", value=types)
    node = grouped(stream, ["S", "A", "M"], [call(stream, "COUNT")])
    driven = Driven(Aggregation(node, with_old=False, on_error=unexpected))
    one: dict[str, Any] = {"S": {"X": 1, "Y": None}, "A": [1, None], "M": {"b": 1, "a": 2}}
    same: dict[str, Any] = {"S": {"Y": None, "X": 1}, "A": [1, None], "M": {"a": 2, "b": 1}}
    other: dict[str, Any] = {"S": {"X": 1, "Y": ""}, "A": [None, 1], "M": {}}
    rows = driven.push(0, [row(stream, 1, **values) for values in (one, same, other)])
    assert picked(rows, node, "S", "A", "M", "COUNT") == [
        (*one.values(), 1),
        (*one.values(), 2),
        (*other.values(), 1),
    ]


def test_all_that_is_no_number_is_one_group() -> None:
    stream = reading("s", value={"D": DOUBLE})
    node = grouped(stream, ["D"], [call(stream, "COUNT")])
    driven = Driven(Aggregation(node, with_old=False, on_error=unexpected))
    rows = driven.push(0, [row(stream, 1, D=float("nan")), row(stream, 2, D=1.5), row(stream, 3, D=float("nan"))])
    assert repr(picked(rows, node, "D", "COUNT")) == "[(nan, 1), (1.5, 1), (nan, 2)]"
