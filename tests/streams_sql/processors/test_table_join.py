"""Joins of tables on their keys."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams_sql.language.statements import JoinKind, Kind
from streams_sql.plan.pipeline import Row
from streams_sql.processors.table_join import TableJoining
from tests.streams_sql.processors.driving import Driven
from tests.streams_sql.processors.plans import picked, reading, row, table_join, told

SIDES = (reading("l", Kind.TABLE, "L_"), reading("r", Kind.TABLE, "R_"))
SHOWN = ("L_V", "R_V", "ROWTIME")


def change(side: int, key: str, value: int | None, time: int) -> tuple[int, Row]:
    return side, row(SIDES[side], time, is_deleted=value is None, K=key, V=value)


def run(kind: JoinKind, *changes: tuple[int, Row]) -> list[tuple[Any, ...]]:
    node = table_join(*SIDES, kind)
    driven = Driven(TableJoining(node, with_old=False))
    return [found for side, each in changes for found in told(driven.push(side, [each]), node, ["L_K", "R_K"], SHOWN)]


CHANGES = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from("xy"), st.one_of(st.none(), st.integers(0, 9)), st.integers(0, 50)),
    max_size=25,
)


def expected(kind: JoinKind, tables: tuple[dict[str, tuple[int, int]], ...]) -> dict[str, tuple[Any, ...]]:
    """The join of what the tables have, with the later time."""
    found = {}
    for key in tables[0].keys() | tables[1].keys():
        left, right = tables[0].get(key), tables[1].get(key)
        if left is None and kind in (JoinKind.INNER, JoinKind.LEFT):
            continue
        if right is None and kind in (JoinKind.INNER, JoinKind.RIGHT):
            continue
        found[key] = (left and left[0], right and right[0])
    return found


@pytest.mark.parametrize("kind", JoinKind)
@given(changes=CHANGES)
def test_what_was_told_is_the_join_of_both_tables(
    kind: JoinKind, changes: list[tuple[int, str, int | None, int]]
) -> None:
    node = table_join(*SIDES, kind)
    driven = Driven(TableJoining(node, with_old=True))
    tables: tuple[dict[str, tuple[int, int]], ...] = ({}, {})
    standing: dict[str, Any] = {}
    last: dict[str, Row | None] = {}
    for side, key, value, time in changes:
        tables[side].pop(key, None)
        if value is not None:
            tables[side][key] = (value, time)
        for old, new in driven.push(*_one(change(side, key, value, time))):
            assert (old is None) == (last.get(key) is None), "a change has what was told before"
            last[key] = None if new[-1][0] else new
            standing.pop(key, None)
            if not new[-1][0]:
                ((standing[key],),) = (picked([new], node, "L_V", "R_V"),)
                ((told_time,),) = picked([new], node, "ROWTIME")
                others = [table[key][1] for table in tables if key in table]
                assert told_time == max([*others, time])
    assert standing == expected(kind, tables)


def _one(found: tuple[int, Row]) -> tuple[int, list[Row]]:
    return found[0], [found[1]]


def test_an_inner_join_tells_of_each_deletion_that_has_a_partner() -> None:
    assert run(
        JoinKind.INNER,
        change(0, "x", 1, 10),
        change(1, "x", 2, 5),
        change(0, "x", None, 20),
        change(0, "x", None, 21),
        change(1, "x", None, 30),
    ) == [
        ("x", "x", (1, 2, 10)),
        ("x", "x", None),
        ("x", "x", None),
    ]


def test_a_left_join_says_nothing_of_what_never_was() -> None:
    assert run(JoinKind.LEFT, change(0, "x", None, 1), change(1, "x", 2, 2)) == []


def test_a_left_join_keeps_the_left_row_when_the_right_one_goes() -> None:
    changes = (change(0, "x", 1, 10), change(1, "x", 2, 20), change(1, "x", None, 30), change(0, "x", None, 40))
    assert run(JoinKind.LEFT, *changes) == [
        ("x", None, (1, None, 10)),
        ("x", "x", (1, 2, 20)),
        ("x", None, (1, None, 30)),
        ("x", "x", None),
    ]


def test_an_outer_join_is_gone_with_the_last_side() -> None:
    changes = (change(0, "x", 1, 10), change(1, "x", 2, 20), change(0, "x", None, 30), change(1, "x", None, 40))
    assert run(JoinKind.OUTER, *changes) == [
        ("x", None, (1, None, 10)),
        ("x", "x", (1, 2, 20)),
        (None, "x", (None, 2, 30)),
        ("x", "x", None),
    ]


def test_nothing_is_kept_of_keys_that_are_gone() -> None:
    driven = Driven(TableJoining(table_join(*SIDES, JoinKind.OUTER), with_old=False))
    for side, each in (change(0, "x", 1, 1), change(1, "x", 1, 1), change(0, "x", None, 2), change(1, "x", None, 2)):
        driven.push(side, [each])
    assert driven.states == {}
