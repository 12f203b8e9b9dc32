"""Joins of a stream with a table."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams_sql.language.statements import JoinKind, Kind
from streams_sql.plan.join_warning import JoinWarning
from streams_sql.processors.lookup import STREAM, TABLE, Lookup
from tests.streams_sql.processors.driving import Driven
from tests.streams_sql.processors.plans import lookup_join, picked, reading, row, unexpected

SIDES = (reading("s", Kind.STREAM, "S_"), reading("t", Kind.TABLE, "T_"))

EVENTS = st.lists(
    st.tuples(
        st.sampled_from([STREAM, TABLE]),
        st.sampled_from("xyz"),
        st.one_of(st.none(), st.integers(0, 9)),
        st.integers(0, 9),
    ),
    max_size=25,
)


@pytest.mark.parametrize("kind", [JoinKind.INNER, JoinKind.LEFT])
@given(events=EVENTS)
def test_a_row_finds_what_the_table_has_when_it_comes(
    kind: JoinKind, events: list[tuple[int, str, int | None, int]]
) -> None:
    node = lookup_join(*SIDES, kind)
    driven = Driven(Lookup(node, unexpected))
    table: dict[str, int] = {}
    for side, key, value, time in events:
        expected: list[Any] = []
        if side == TABLE:
            made = driven.push(TABLE, [row(SIDES[1], time, is_deleted=value is None, K=key, V=value)])
            table.pop(key, None)
            table |= {} if value is None else {key: value}
        else:
            made = driven.push(STREAM, [row(SIDES[0], time, G=key, V=value)])
            if key in table or kind is JoinKind.LEFT:
                expected = [(key, value, table.get(key), time)]
        assert picked(made, node, "S_G", "S_V", "T_V", "ROWTIME") == expected


def test_a_row_without_a_key_finds_nothing() -> None:
    rows = [row(SIDES[0], 1, G=None, V=1), row(SIDES[0], 1, is_deleted=True, K="k")]
    assert Driven(Lookup(lookup_join(*SIDES, JoinKind.INNER), unexpected)).push(STREAM, rows) == []
    left = lookup_join(*SIDES, JoinKind.LEFT)
    assert picked(Driven(Lookup(left, unexpected)).push(STREAM, rows), left, "S_V", "T_V") == [(1, None)]


def test_the_table_keeps_one_row_for_a_key() -> None:
    driven = Driven(Lookup(lookup_join(*SIDES, JoinKind.LEFT), unexpected))
    driven.push(TABLE, [row(SIDES[1], time, K="x", V=time) for time in range(10)])
    assert len(driven.states) == 1
    driven.push(TABLE, [row(SIDES[1], 11, is_deleted=True, K="x")])
    assert driven.states == {}


class Warned:
    """A join whose warnings are remembered."""

    def __init__(self, kind: JoinKind) -> None:
        self.texts: list[str] = []
        self._driven = Driven(Lookup(lookup_join(*SIDES, kind), self._note))

    def _note(self, error: Exception) -> None:
        assert isinstance(error, JoinWarning)
        self.texts.append(error.text)

    def stream(self, *times: int) -> None:
        self._driven.push(STREAM, [row(SIDES[0], time, G="x", V=1) for time in times])

    def table(self, *times: int) -> None:
        self._driven.push(TABLE, [row(SIDES[1], time, K="x", V=1) for time in times])


@pytest.mark.parametrize("kind", [JoinKind.INNER, JoinKind.LEFT])
def test_a_table_whose_rows_are_all_later_than_those_of_the_stream_is_reported(kind: JoinKind) -> None:
    join = Warned(kind)
    join.stream(1_000, 3_000, 2_000)
    join.table(5_000, 4_000)
    (text,) = join.texts
    assert text.startswith(
        "0 of 3 rows of S matched: a row is joined with what T had at its timestamp, and all rows of T are later."
    )
    assert "Latest timestamp of S: 1970-01-01T00:00:03.000, earliest timestamp of T: 1970-01-01T00:00:05.000." in text
    join.stream(6_000)
    assert join.texts[1:] == [""], "the warning does not hold any more"


def test_a_join_that_matches_is_not_reported() -> None:
    join = Warned(JoinKind.LEFT)
    join.table(1_000)
    join.stream(2_000)
    join.table(9_000)
    assert join.texts == []


def test_rows_of_a_table_that_are_not_later_are_not_the_reason() -> None:
    join = Warned(JoinKind.INNER)
    join.stream(5_000)
    join.table(5_000)
    assert join.texts == []
