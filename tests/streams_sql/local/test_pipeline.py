"""Whole plans: operators with and without state above each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams_sql import typed
from streams_sql.language.statements import Emit, JoinKind, Kind, Within
from streams_sql.local.pipeline import Pipeline
from streams_sql.plan.nodes import Filter, Named, Node, Project, Read
from streams_sql.plan.pipeline import Row
from streams_sql.sources import ROWTIME, Column
from streams_sql.sql_types import BOOLEAN, INTEGER
from streams_sql.typed import Operator
from tests.streams_sql.processors.plans import (
    call,
    column,
    foreign_key_join,
    grouped,
    joined_shape,
    lookup_join,
    picked,
    reading,
    row,
    session,
    stream_join,
    table_join,
    told,
    tumbling,
    unexpected,
    where,
)

STREAM = reading("s")
TABLE = reading("t", Kind.TABLE)
A, B, C = (reading(name, Kind.TABLE, f"{name.upper()}_") for name in "abc")
S, U = (reading(name, prefix=f"{name.upper()}_") for name in "su")


class Running:
    """A plan that is fed records by the names of its sources."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._pipeline = Pipeline(node, unexpected)

    def push(self, of: Read, *rows: Row) -> list[Row]:
        (place,) = [place for place, read in enumerate(self._pipeline.reads) if read == of]
        return self._pipeline.feed(place, list(rows))

    def put(self, of: Read, key: str, time: int = 0, **values: Any) -> list[Row]:
        """A row of a table; without values, it is deleted."""
        return self.push(of, row(of, time, is_deleted=not values, K=key, **values))


def projected(of: Node, **columns: typed.Typed) -> Project:
    """Other columns under the same key."""
    named = tuple(Named(name, expression) for name, expression in columns.items())
    kept = [each for each in of.shape.columns if each.name in of.shape.key or each.name == ROWTIME]
    made = [Column(name, expression.type or INTEGER) for name, expression in columns.items()]
    return Project(of, named, replace(of.shape, columns=(*kept[:-1], *made, kept[-1])))


# -- tables ---------------------------------------------------------------------------------------


def test_where_over_a_table_deletes_what_no_longer_passes() -> None:
    running = Running(projected(where(TABLE, Operator.GREATER, "V", 0), W=column(TABLE, "V")))
    rows = [
        *running.put(TABLE, "x", V=0),
        *running.put(TABLE, "x", V=1),
        *running.put(TABLE, "x", V=2),
        *running.put(TABLE, "x", V=0),
        *running.put(TABLE, "x", V=-1),
        *running.put(TABLE, "y", V=5),
        *running.put(TABLE, "y"),
        *running.put(TABLE, "y"),
    ]
    assert told(rows, running.node, ["K"], ["W"]) == [
        ("x", (1,)),
        ("x", (2,)),
        ("x", None),
        ("y", (5,)),
        ("y", None),
    ]


def test_a_table_as_it_is_passes_deletions_on() -> None:
    running = Running(projected(TABLE, W=column(TABLE, "V")))
    rows = [*running.put(TABLE, "x"), *running.put(TABLE, "x", V=1), *running.put(TABLE, "x")]
    assert told(rows, running.node, ["K"], ["W"]) == [("x", None), ("x", (1,)), ("x", None)]


def test_groups_over_what_passes_a_condition() -> None:
    passing = where(TABLE, Operator.GREATER, "V", 0)
    running = Running(grouped(passing, ["G"], [call(passing, "SUM", "V")]))
    rows = [
        *running.put(TABLE, "x", G="a", V=3),
        *running.put(TABLE, "y", G="a", V=4),
        *running.put(TABLE, "y", G="a", V=-4),
        *running.put(TABLE, "z", G="a", V=-1),
        *running.put(TABLE, "x", G="b", V=5),
    ]
    assert picked(rows, running.node, "G", "SUM") == [("a", 3), ("a", 7), ("a", 3), ("a", 0), ("b", 5)]


def test_groups_over_computed_columns_of_a_table() -> None:
    doubled = typed.Operation(Operator.ADD, (column(TABLE, "V"), column(TABLE, "V")), INTEGER)
    below = projected(TABLE, W=doubled, G=column(TABLE, "G"))
    running = Running(grouped(below, ["G"], [call(below, "SUM", "W")]))
    rows = [*running.put(TABLE, "x", G="a", V=3), *running.put(TABLE, "x", G="a", V=4), *running.put(TABLE, "x")]
    assert picked(rows, running.node, "SUM") == [(6,), (8,), (0,)]


# -- HAVING ---------------------------------------------------------------------------------------


def test_having_deletes_a_group_that_it_no_longer_holds_for() -> None:
    counted = grouped(STREAM, ["G"], [call(STREAM, "COUNT")])
    running = Running(where(counted, Operator.EQUAL, "COUNT", 2))
    rows = [found for time in range(4) for found in running.push(STREAM, row(STREAM, time, G="a"))]
    assert told(rows, counted, ["G"], ["COUNT"]) == [("a", (2,)), ("a", None)]


def test_having_that_holds_for_nothing_deletes_what_never_was() -> None:
    """As Kafka Streams has it: an aggregate of no rows is taken for the one before the first."""
    counted = grouped(STREAM, ["G"], [call(STREAM, "COUNT")])
    running = Running(where(counted, Operator.LESS, "COUNT", 1))
    assert told(running.push(STREAM, row(STREAM, 1, G="a")), counted, ["G"], ["COUNT"]) == [("a", None)]


def test_having_in_windows() -> None:
    counted = grouped(STREAM, ["G"], [call(STREAM, "COUNT")], tumbling(10))
    running = Running(where(counted, Operator.EQUAL, "COUNT", 1))
    rows = running.push(STREAM, *(row(STREAM, time, G="a") for time in (1, 2, 11)))
    assert told(rows, counted, ["G", "WINDOWSTART"], ["COUNT"]) == [("a", 0, (1,)), ("a", 0, None), ("a", 10, (1,))]


def test_having_in_sessions_does_not_tell_of_what_it_never_held_for() -> None:
    counted = grouped(STREAM, ["G"], [call(STREAM, "COUNT")], session(10))
    running = Running(where(counted, Operator.GREATER, "COUNT", 1))
    rows = running.push(STREAM, *(row(STREAM, time, G="a") for time in (1, 5, 9)))
    assert told(rows, counted, ["WINDOWSTART", "WINDOWEND"], ["COUNT"]) == [(1, 5, (2,)), (1, 5, None), (1, 9, (3,))]


def test_having_with_final_results_deletes_nothing() -> None:
    counted = grouped(STREAM, ["G"], [call(STREAM, "COUNT")], tumbling(10, 0), Emit.FINAL)
    running = Running(where(counted, Operator.GREATER, "COUNT", 1))
    rows = running.push(STREAM, *(row(STREAM, time, G="a") for time in (1, 2, 11, 25)))
    assert told(rows, counted, ["WINDOWSTART"], ["COUNT"]) == [(0, (2,))]


def test_having_over_a_table_can_remove_empty_groups() -> None:
    counted = grouped(TABLE, ["G"], [call(TABLE, "COUNT")])
    running = Running(where(counted, Operator.GREATER, "COUNT", 0))
    rows = [*running.put(TABLE, "x", G="a", V=1), *running.put(TABLE, "x")]
    assert told(rows, counted, ["G"], ["COUNT"]) == [("a", (1,)), ("a", None)]


# -- joins above each other -----------------------------------------------------------------------


def test_three_tables() -> None:
    running = Running(table_join(table_join(A, B, JoinKind.LEFT), C, JoinKind.INNER))
    rows = [
        *running.put(A, "x", 1, V=1),
        *running.put(C, "x", 2, V=3),
        *running.put(B, "x", 3, V=2),
        *running.put(A, "x", 4),
        *running.put(A, "x", 5, V=9),
    ]
    assert told(rows, running.node, ["A_K"], ["A_V", "B_V", "C_V", ROWTIME]) == [
        ("x", (1, None, 3, 2)),
        ("x", (1, 2, 3, 3)),
        ("x", None),
        ("x", (9, 2, 3, 5)),
    ]


def test_a_full_join_has_the_key_of_the_side_that_is_there() -> None:
    running = Running(table_join(table_join(A, B, JoinKind.OUTER), C, JoinKind.OUTER))
    rows = [
        *running.put(C, "x", V=3),
        *running.put(B, "x", V=2),
        *running.put(A, "x", V=1),
        *running.put(C, "x"),
        *running.put(A, "x"),
        *running.put(B, "x"),
    ]
    assert told(rows, running.node, [], ["A_V", "B_V", "C_V"]) == [
        ((None, None, 3),),
        ((None, 2, 3),),
        ((1, 2, 3),),
        ((1, 2, None),),
        ((None, 2, None),),
        (None,),
    ]
    assert picked(rows[-1:], running.node, "A_K", "B_K", "C_K") == [("x", "x", "x")]


def test_groups_over_a_full_join_tell_its_rows_apart() -> None:
    joined = table_join(A, B, JoinKind.OUTER)
    running = Running(grouped(joined, ["B_G"], [call(joined, "LATEST_BY_OFFSET", "B_V")]))
    rows = [*running.put(B, "x", G="b", V=1), *running.put(B, "y", G="b", V=2), *running.put(B, "y")]
    assert picked(rows, running.node, "LATEST_BY_OFFSET") == [(1,), (2,), (1,)]


def test_a_foreign_key_join_and_a_join_on_the_key() -> None:
    running = Running(table_join(foreign_key_join(A, B, JoinKind.INNER), C, JoinKind.LEFT))
    rows = [
        *running.put(B, "m", 0, V=100),
        *running.put(A, "x", 10, G="m", V=1),
        *running.put(C, "x", 11, V=4),
        *running.put(B, "m", 16, V=200),
        *running.put(A, "x", 18),
    ]
    assert told(rows, running.node, ["A_K"], ["A_V", "B_V", "C_V", ROWTIME]) == [
        ("x", (1, 100, None, 10)),
        ("x", (1, 100, 4, 11)),
        ("x", (1, 200, 4, 16)),
        ("x", None),
    ]


def test_groups_over_joined_tables() -> None:
    joined = table_join(A, B, JoinKind.LEFT)
    running = Running(grouped(joined, ["A_G"], [call(joined, "SUM", "B_V")]))
    rows = [
        *running.put(A, "x", G="a", V=1),
        *running.put(B, "x", V=5),
        *running.put(A, "x", G="b", V=1),
        *running.put(B, "x"),
    ]
    assert picked(rows, running.node, "A_G", "SUM") == [("a", 0), ("a", 5), ("a", 0), ("b", 5), ("b", 0)]


def test_where_over_joined_tables_knows_what_it_told() -> None:
    joined = table_join(A, B, JoinKind.INNER)
    running = Running(where(joined, Operator.GREATER, "B_V", 0))
    rows = [
        *running.put(A, "x", V=1),
        *running.put(B, "x", V=-1),
        *running.put(B, "x", V=1),
        *running.put(A, "x", V=2),
        *running.put(B, "x", V=-1),
        *running.put(A, "x"),
    ]
    assert told(rows, joined, ["A_K"], ["A_V", "B_V"]) == [("x", (1, 1)), ("x", (2, 1)), ("x", None)]


def test_streams_joined_with_each_other_and_with_a_table_and_counted() -> None:
    pairs = stream_join(S, U, JoinKind.INNER, Within(10, 10))
    with_table = replace(
        lookup_join(S, A, JoinKind.LEFT), stream=pairs, stream_key=column(pairs, "U_G"), shape=joined_shape(pairs, A)
    )
    running = Running(grouped(with_table, ["A_V"], [call(with_table, "COUNT")]))
    running.put(A, "a", V=7)
    running.push(S, row(S, 1, K="k"), row(S, 2, K="k"))
    rows = running.push(U, row(U, 3, K="k", G="a"), row(U, 4, K="k", G="unknown"), row(U, 5, K="k", G="a"))
    assert picked(rows, running.node, "A_V", "COUNT", ROWTIME) == [(7, 1, 3), (7, 2, 3), (7, 3, 5), (7, 4, 5)]


def test_a_group_of_a_stream_is_looked_up() -> None:
    counted = grouped(U, ["U_K"], [call(U, "COUNT")])
    shape = joined_shape(S, counted)
    node = replace(lookup_join(S, A, JoinKind.LEFT), table=counted, stream_key=column(S, "S_G"), shape=shape)
    running = Running(node)
    running.push(U, row(U, 1, K="a"), row(U, 2, K="a"))
    rows = running.push(S, row(S, 3, G="a"), row(S, 4, G="b"))
    assert picked(rows, node, "S_G", "COUNT", ROWTIME) == [("a", 2, 3), ("b", None, 4)]


# -- batches --------------------------------------------------------------------------------------

PLANS: dict[str, Callable[[], Node]] = {
    "count": lambda: grouped(S, ["S_G"], [call(S, "COUNT")]),
    "windows": lambda: grouped(S, ["S_G"], [call(S, "COUNT")], tumbling(7, 3), Emit.FINAL),
    "sessions": lambda: grouped(S, ["S_G"], [call(S, "COLLECT_LIST", "S_V")], session(5, 3)),
    "having": lambda: where(grouped(S, ["S_G"], [call(S, "SUM", "S_V")]), Operator.GREATER, "SUM", 3),
    "streams": lambda: stream_join(S, U, JoinKind.OUTER, Within(3, 5, 2)),
    "lookup": lambda: lookup_join(S, A, JoinKind.LEFT),
    "tables": lambda: table_join(A, B, JoinKind.OUTER),
    "foreign key": lambda: foreign_key_join(A, B, JoinKind.LEFT),
    "groups of joined": lambda: _summed(table_join(A, B, JoinKind.LEFT)),
    "groups of keys": lambda: _summed(foreign_key_join(A, B, JoinKind.INNER)),
}


def _summed(joined: Node) -> Node:
    return grouped(joined, ["A_G"], [call(joined, "SUM", "B_V"), call(joined, "LATEST_BY_OFFSET", "B_V")])


RECORDS = st.lists(
    st.tuples(
        st.sampled_from([0, 0, 0, 1]),
        st.sampled_from(["x", "y"]),
        st.sampled_from(["x", "y", None]),
        st.one_of(st.none(), st.integers(-2, 5)),
        st.integers(0, 40),
    ),
    max_size=30,
)


def fed(reads: Sequence[Read], records: Sequence[Any]) -> list[tuple[int, Row]]:
    found = []
    for side, key, group, value, time in records:
        read = reads[side % len(reads)]
        is_deleted = value is None and read.source.is_table
        found.append((side % len(reads), row(read, time, is_deleted=is_deleted, K=key, G=group, V=value)))
    return found


@pytest.mark.parametrize("name", PLANS)
@settings(max_examples=40)
@given(records=RECORDS)
def test_it_makes_no_difference_whether_rows_come_together(name: str, records: list[Any]) -> None:
    one, other = (Pipeline(PLANS[name](), unexpected) for _ in range(2))
    rows = fed(one.reads, records)
    singly = [found for place, each in rows for found in one.feed(place, [each])]
    together: list[Row] = []
    batch: list[Row] = []
    for number, (place, each) in enumerate(rows):
        batch.append(each)
        if number + 1 == len(rows) or rows[number + 1][0] != place:
            together += other.feed(place, batch)
            batch = []
    assert together == singly


def test_a_plan_without_state_says_so() -> None:
    condition = typed.Operation(Operator.GREATER, (column(STREAM, "V"), typed.Literal(0, INTEGER)), BOOLEAN)
    assert not Pipeline(Filter(STREAM, condition, STREAM.shape), unexpected).has_state
    assert Pipeline(grouped(STREAM, ["G"], [call(STREAM, "COUNT")]), unexpected).has_state
