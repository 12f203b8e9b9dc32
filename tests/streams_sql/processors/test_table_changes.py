"""Tables as changes, and WHERE over them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from streams_sql.language.statements import Kind
from streams_sql.plan.pipeline import Row
from streams_sql.processors.table_changes import TableChanges, TableFilter, filtered_changes
from streams_sql.typed import Operator
from tests.streams_sql.processors.driving import Driven
from tests.streams_sql.processors.plans import reading, row, told, unexpected, where

TABLE = reading("t", Kind.TABLE)
POSITIVE = where(TABLE, Operator.GREATER, "V", 0)

CHANGES = st.lists(
    st.tuples(st.sampled_from("xy"), st.one_of(st.none(), st.integers(-1, 1))).map(
        lambda pair: row(TABLE, 1, is_deleted=pair[1] is None, K=pair[0], V=pair[1])
    ),
    max_size=20,
)


def shown(rows: list[Row]) -> list[tuple[Any, ...]]:
    return told(rows, TABLE, ["K"], ["V"])


@given(CHANGES)
def test_a_change_has_what_was_there(rows: list[Row]) -> None:
    driven = Driven(TableChanges(TABLE))
    table: dict[str, Row] = {}
    for each in rows:
        assert driven.push(0, [each]) == [(table.get(each[0]), each)]
        table[each[0]] = each
        if each[-1][0]:
            del table[each[0]]


@given(CHANGES)
def test_a_row_is_told_to_be_gone_if_it_was_told_before(rows: list[Row]) -> None:
    standing: set[str] = set()
    driven = Driven(TableFilter(POSITIVE, with_old=False, on_error=unexpected))
    for each in rows:
        key, value, is_deleted = each[0], each[2], each[-1][0]
        expected: list[tuple[Any, ...]]
        if not is_deleted and value > 0:
            expected = [(key, (value,))]
            standing.add(key)
        else:
            expected = [(key, None)] if key in standing else []
            standing.discard(key)
        assert shown(driven.push(0, [each])) == expected


@given(CHANGES, st.booleans())
def test_a_filter_of_changes_tells_the_same(rows: list[Row], with_old: bool) -> None:
    keeping = Driven(TableFilter(POSITIVE, with_old, unexpected)).push(0, rows)
    of_changes = filtered_changes(POSITIVE, with_old, unexpected)(Driven(TableChanges(TABLE)).push(0, rows))
    assert of_changes == keeping


def test_a_condition_that_fails_is_told_once_and_does_not_hold() -> None:
    failing = where(TABLE, Operator.GREATER, "V", 0)
    errors: list[Exception] = []
    through = filtered_changes(failing, False, errors.append)
    bad, good = row(TABLE, 1, K="x", V="no number"), row(TABLE, 2, K="x", V=1)
    assert shown(through([(None, bad), (bad, good)])) == [("x", (1,))]
    assert len(errors) == 1
