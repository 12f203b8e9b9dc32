"""Joins of a stream with a table."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams_sql.language.statements import JoinKind, Kind
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
