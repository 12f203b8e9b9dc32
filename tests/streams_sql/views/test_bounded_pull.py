"""Queries over views that do more than choose rows: order, groups, DISTINCT, joins."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streams_sql.bounded.memory import MemorySpent
from streams_sql.bounded.pages import Budget, BudgetSpent
from streams_sql.language.statements import WindowKind
from streams_sql.plan.bounded import Chosen, Computed, Groups, Look, looks_of
from streams_sql.problem import SqlProblem
from streams_sql.sources import KeyWindow
from streams_sql.sql_types import BIGINT, BOOLEAN, DOUBLE, INTEGER, STRING, Array, SqlType
from streams_sql.sql_types import Decimal as DecimalType
from streams_sql.typed import Literal
from streams_sql.views.bounded_pull import look_plan, table_pull
from streams_sql.views.group_query import group_query
from tests.streams_sql.views.stored_tables import StoredTables
from tests.streams_sql.views.tables import table

NAN = math.nan
LARGEST = Decimal(10**38 - 1)
ITEMS: list[tuple[Any, ...]] = [
    ("a", "red", 3, 1.5, True, Decimal("1.10"), ["x"]),
    ("b", "blue", None, NAN, False, Decimal("-2.00"), []),
    ("c", "red", 1, None, None, None, None),
    ("d", None, 3, -0.5, True, Decimal("1.10"), ["x"]),
    ("e", "Blue", -4, math.inf, False, Decimal("0.00"), ["x", "y"]),
]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoredTables]:
    columns: dict[str, SqlType] = {
        "COLOUR": STRING,
        "N": INTEGER,
        "F": DOUBLE,
        "B": BOOLEAN,
        "D": DecimalType(5, 2),
        "L": Array(STRING),
    }
    window = KeyWindow(WindowKind.TUMBLING, 10)
    sources = {
        "T": table("t", columns),
        "C": replace(table("c", {"LABEL": STRING, "RANK": BIGINT}, {"NAME": STRING}), name="C"),
        "W": replace(table("w", {"N": BIGINT}), name="W", key_window=window),
        "E": replace(table("e", {"X": INTEGER}), name="E"),
        "P": replace(table("p", {"X": DecimalType(4, 2), "Y": DecimalType(38, 0)}), name="P"),
    }
    tables = StoredTables(tmp_path_factory.mktemp("views"), sources)
    tables.tables["T"].put(ITEMS)
    tables.tables["C"].put([("red", "warm", 1), ("blue", "cold", 2), ("green", None, 3)])
    tables.tables["W"].put([("a", start, start + 10, start) for start in (0, 10, 20)] + [("b", 10, 20, 7)])
    tables.tables["P"].put([("a", Decimal("99.99"), LARGEST), ("b", Decimal("21.01"), Decimal(1))])
    yield tables
    tables.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT K FROM T ORDER BY K DESC", ["e", "d", "c", "b", "a"]),
        ("SELECT K FROM T ORDER BY COLOUR, K", ["d", "e", "b", "a", "c"]),
        ("SELECT K FROM T ORDER BY COLOUR DESC NULLS FIRST, K DESC", ["d", "c", "a", "b", "e"]),
        ("SELECT K FROM T ORDER BY N NULLS LAST, K LIMIT 3", ["e", "c", "a"]),
        ("SELECT K FROM T ORDER BY F", ["c", "d", "a", "e", "b"]),
        ("SELECT K FROM T ORDER BY F DESC LIMIT 2", ["b", "e"]),
        ("SELECT K FROM T ORDER BY F DESC LIMIT 2 OFFSET 2", ["a", "d"]),
        ("SELECT K FROM T ORDER BY B, D, K", ["c", "b", "e", "a", "d"]),
        ("SELECT K FROM T ORDER BY -N, 1", ["b", "a", "d", "c", "e"]),
        ("SELECT K, N * 2 AS M FROM T WHERE N IS NOT NULL ORDER BY M + 1, K", [("e", -8), ("c", 2), ("a", 6), ("d", 6)]),
        ("SELECT K FROM T WHERE LEN(K) = 1 ORDER BY N DESC, K LIMIT 2", ["a", "d"]),
        ("SELECT K FROM T LIMIT 2 OFFSET 1", ["b", "c"]),
        ("SELECT K FROM T OFFSET 4", ["e"]),
        ("SELECT K FROM T OFFSET 9", []),
        ("SELECT K FROM T ORDER BY N LIMIT 0", []),
        ("SELECT DISTINCT COLOUR FROM T", ["red", "blue", None, "Blue"]),
        ("SELECT DISTINCT B, D FROM T ORDER BY D DESC, B LIMIT 2", [(True, Decimal("1.10")), (False, Decimal("0.00"))]),
        ("SELECT DISTINCT L FROM T", [["x"], [], None, ["x", "y"]]),
        ("SELECT COUNT(*) FROM T", [5]),
        ("SELECT COUNT(*), SUM(X) FROM E", [(0, 0)]),
        ("SELECT X, COUNT(*) FROM E GROUP BY X", []),
        ("SELECT COLOUR, COUNT(*) AS C, SUM(N) AS S FROM T GROUP BY COLOUR ORDER BY C DESC, COLOUR", [
            ("red", 2, 4), (None, 1, 3), ("Blue", 1, -4), ("blue", 1, 0),
        ]),
        ("SELECT COLOUR FROM T GROUP BY COLOUR HAVING COUNT(*) > 1", ["red"]),
        ("SELECT COLOUR FROM T GROUP BY COLOUR ORDER BY MAX(N) DESC, COLOUR LIMIT 1", [None]),
        ("SELECT LCASE(COLOUR) AS C, COLLECT_LIST(K) AS KS FROM T GROUP BY LCASE(COLOUR) ORDER BY 1 NULLS LAST", [
            ("blue", ["b", "e"]), ("red", ["a", "c"]), (None, ["d"]),
        ]),
        ("SELECT COUNT(*) AS C FROM T HAVING COUNT(*) > 9", []),
        ("SELECT B AS X, B AS Y, COUNT(*) FROM T GROUP BY B ORDER BY X", [(None, None, 1), (False, False, 2), (True, True, 2)]),
        ("SELECT MAX(N) - MIN(N) FROM T WHERE COLOUR = 'red'", [2]),
        ("SELECT SUM(X), AVG(X), MIN(X), MAX(X) FROM P", [
            (Decimal("121.00"), Decimal("60.500000"), Decimal("21.01"), Decimal("99.99")),
        ]),
        ("SELECT TOPK(X, 1), TOPKDISTINCT(X, 5), MAX(Y) FROM P", [
            ([Decimal("99.99")], [Decimal("99.99"), Decimal("21.01")], LARGEST),
        ]),
        ("SELECT SUM(Y) FROM P WHERE X > 50", [LARGEST]),
        ("SELECT T.K, LABEL FROM T JOIN C ON COLOUR = NAME ORDER BY T.K", [("a", "warm"), ("b", "cold"), ("c", "warm")]),
        ("SELECT T.K, LABEL FROM T LEFT JOIN C ON T.COLOUR = C.NAME WHERE N > 0 ORDER BY T.K", [
            ("a", "warm"), ("c", "warm"), ("d", None),
        ]),
        ("SELECT T.K, NAME FROM T RIGHT JOIN C ON COLOUR = NAME AND N > 1 ORDER BY NAME", [
            (None, "blue"), (None, "green"), ("a", "red"),
        ]),
        ("SELECT T.K, NAME FROM T FULL JOIN C ON COLOUR = NAME ORDER BY T.K NULLS LAST, NAME", [
            ("a", "red"), ("b", "blue"), ("c", "red"), ("d", None), ("e", None), (None, "green"),
        ]),
        ("SELECT T.K FROM T LEFT JOIN C ON COLOUR = NAME WHERE NAME IS NULL ORDER BY 1", ["d", "e"]),
        ("SELECT T.K, C.NAME FROM T JOIN C ON T.N >= C.RANK AND T.B ORDER BY 1, 2", [
            ("a", "blue"), ("a", "green"), ("a", "red"), ("d", "blue"), ("d", "green"), ("d", "red"),
        ]),
        ("SELECT X.K, Y.K FROM T X JOIN T Y ON X.N = Y.N AND X.K < Y.K", [("a", "d")]),
        ("SELECT X.K, Y.LABEL, Z.N FROM T X JOIN C Y ON X.COLOUR = Y.NAME LEFT JOIN W Z ON Z.K = X.K AND Z.WINDOWSTART = 10", [
            ("a", "warm", 10), ("b", "cold", 7), ("c", "warm", None),
        ]),
        ("SELECT NAME, COUNT(T.K) FROM C LEFT JOIN T ON COLOUR = NAME GROUP BY NAME ORDER BY NAME", [
            ("blue", 1), ("green", 0), ("red", 2),
        ]),
        ("SELECT K, SUM(N), MAX(WINDOWEND) FROM W WHERE WINDOWSTART >= 10 GROUP BY K ORDER BY K", [("a", 30, 30), ("b", 7, 20)]),
        ("SELECT K, WINDOWSTART FROM W ORDER BY WINDOWSTART DESC, K LIMIT 3", [("a", 20), ("a", 10), ("b", 10)]),
        ("SELECT K, ROWTIME, ROWOFFSET FROM T ORDER BY ROWOFFSET DESC LIMIT 1", [("e", 1_000, 4)]),
    ],
)  # fmt: skip
def test_a_query_gives_its_rows(tables: StoredTables, text: str, expected: list[Any]) -> None:
    found = [row[0] if len(row) == 1 else row for row in tables.asked(text)]
    assert found == expected


def test_a_sum_that_cannot_be_held_fails_the_query(tables: StoredTables) -> None:
    with pytest.raises(SqlProblem, match=r"SUM\(`Y`\) cannot be computed: Numeric field overflow"):
        tables.asked("SELECT SUM(Y) FROM P")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT K FROM T ORDER BY L", "ORDER BY L is not possible: values of type ARRAY have no order."),
        ("SELECT K FROM T ORDER BY 2", "ORDER BY 2: there is no such place in the select list, which has 1 columns."),
        ("SELECT K FROM T ORDER BY 'K'", "ORDER BY 'K' says nothing: it is the same for all rows."),
        ("SELECT K FROM T ORDER BY M", "ORDER BY column 'M' cannot be resolved."),
        ("SELECT DISTINCT K FROM T ORDER BY N", "What SELECT DISTINCT is ordered by must be in its select list."),
        ("SELECT K, COUNT(*) FROM T GROUP BY COLOUR", "Non-aggregate SELECT expression(s) not part of GROUP BY: K"),
        (
            "SELECT COLOUR FROM T GROUP BY COLOUR ORDER BY N",
            "Non-aggregate ORDER BY expression not part of GROUP BY: N",
        ),
        ("SELECT * FROM T JOIN C ON N = NAME", "Error in JOIN ON expression"),
        ("SELECT * FROM T JOIN C ON COLOUR", "Type error in JOIN ON expression: Should evaluate to boolean"),
        ("SELECT * FROM T JOIN C WITHIN 1 HOUR ON COLOUR = NAME", "WITHIN is for joins of streams"),
        ("SELECT * FROM T JOIN T ON COLOUR = COLOUR", "T is there twice: give one of them another name"),
        ("SELECT K FROM T X JOIN T Y ON X.K = Y.K", "Column 'K' is ambiguous. Could be X.K or Y.K."),
        ("SELECT K FROM T X JOIN C ON X.K = D.NAME", "'D' is not a valid stream/table name or alias."),
    ],
)
def test_what_makes_no_sense_is_refused(tables: StoredTables, text: str, message: str) -> None:
    with pytest.raises(SqlProblem) as caught:
        tables.asked(text)
    assert message in caught.value.message


# -- the same with and without SQLite's help ------------------------------------------------------

ORDERABLE = ["COLOUR", "N", "F", "B", "D"]
CONDITIONS: dict[str, Callable[[tuple[Any, ...]], bool]] = {
    "N > 0": lambda row: row[2] is not None and row[2] > 0,
    "COLOUR LIKE '%e%'": lambda row: row[1] is not None and "e" in row[1],
}


def compared(one: Any, other: Any, is_descending: bool, has_nulls_first: bool) -> int:
    if one is None or other is None:
        if one is other:
            return 0
        return -1 if (one is None) is has_nulls_first else 1
    ranks = [(isinstance(value, float) and math.isnan(value), value) for value in (one, other)]
    has_nan = ranks[0][0] or ranks[1][0]
    sign = ranks[0][0] - ranks[1][0] if has_nan else (one > other) - (one < other)
    return -sign if is_descending else sign


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    order=st.lists(
        st.tuples(st.sampled_from(ORDERABLE), st.booleans(), st.sampled_from([None, True, False])),
        min_size=1,
        max_size=3,
    ),
    condition=st.sampled_from([None, "N > 0", "COLOUR LIKE '%e%'"]),
    limit=st.one_of(st.none(), st.integers(0, 6)),
    offset=st.integers(0, 3),
)
def test_order_is_that_of_python(
    tables: StoredTables,
    order: list[tuple[str, bool, bool | None]],
    condition: str | None,
    limit: int | None,
    offset: int,
) -> None:
    names = ["K", "COLOUR", "N", "F", "B", "D"]
    words = [
        f"{name}{' DESC' if down else ''}{'' if nulls is None else ' NULLS FIRST' if nulls else ' NULLS LAST'}"
        for name, down, nulls in order
    ]
    text = f"SELECT K FROM T{f' WHERE {condition}' if condition else ''} ORDER BY {', '.join(words)}, K"
    text += "" if limit is None else f" LIMIT {limit}"
    text += f" OFFSET {offset}" if offset else ""
    chosen = CONDITIONS[condition] if condition else None
    rows = [row for row in ITEMS if chosen is None or chosen(row)]

    def compare(one: tuple[Any, ...], other: tuple[Any, ...]) -> int:
        for name, down, nulls in order:
            place = names.index(name)
            sign = compared(one[place], other[place], down, (not down) if nulls is None else nulls)
            if sign:
                return sign
        return compared(one[0], other[0], False, True)

    expected = sorted(rows, key=functools.cmp_to_key(compare))[offset:]
    assert [row[0] for row in tables.asked(text)] == [row[0] for row in expected[:limit]]


NUMBERS = [None, 0, 1, -1, 2**31 - 1, -(2**31), 7]
LONG_NUMBERS = [None, 0, -1, 2**63 - 1, -(2**63), 2**32, -(2**32) - 1]
AGGREGATES = [
    "COUNT(*)",
    "COUNT(N)",
    "COUNT(L)",
    "SUM(N)",
    "SUM(B)",
    "MIN(N)",
    "MAX(B)",
    "MIN(S)",
    "MAX(S)",
    "MIN(D)",
    "MAX(D)",
]


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoredTables]:
    columns: dict[str, SqlType] = {
        "G": STRING,
        "H": BOOLEAN,
        "N": INTEGER,
        "B": BIGINT,
        "S": STRING,
        "D": DecimalType(20, 2),
    }
    source = table("numbers", {**columns, "L": Array(STRING), "F": DOUBLE})
    tables = StoredTables(tmp_path_factory.mktemp("numbers"), {"T": source})
    chosen = random.Random(11)
    tables.tables["T"].put(
        (
            f"{key:03}",
            chosen.choice([None, "a", "b", ""]),
            chosen.choice([None, True, False]),
            chosen.choice(NUMBERS),
            chosen.choice(LONG_NUMBERS),
            chosen.choice([None, "", "z", "\U0001f600"]),
            chosen.choice([None, Decimal("-1.00"), Decimal("999999999999999999.99")]),
            chosen.choice([None, [], ["x"]]),
            chosen.choice([None, math.nan, 0.0]),
        )
        for key in range(200)
    )
    yield tables
    tables.close()


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    keys=st.lists(st.sampled_from(["G", "H", "D", "N"]), max_size=2, unique=True),
    calls=st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=4, unique=True),
    where=st.sampled_from(["", " WHERE N > 0", " WHERE K < '003'", " WHERE K < '0'"]),
)
def test_groups_are_those_of_python(numbers: StoredTables, keys: list[str], calls: list[str], where: str) -> None:
    grouping = f" GROUP BY {', '.join(keys)}" if keys else ""
    plan = numbers.plan(f"SELECT {', '.join([*keys, *calls])} FROM T{where}{grouping}")
    groups = plan.node
    assert isinstance(groups, Computed)
    assert isinstance(groups.input, Groups)
    look = groups.input.input
    assert isinstance(look, Look)
    assert group_query(groups.input, look, table_pull(look, look_plan(look)).bound()) is not None
    by_hand = replace(groups, input=replace(groups.input, input=Chosen(look, Literal(True, BOOLEAN))))
    assert sorted(map(repr, numbers.run(groups))) == sorted(map(repr, numbers.run(by_hand)))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT F, COUNT(*) FROM T GROUP BY F",
        "SELECT L, COUNT(*) FROM T GROUP BY L",
        "SELECT UCASE(G), COUNT(*) FROM T GROUP BY UCASE(G)",
        "SELECT G, SUM(F) FROM T GROUP BY G",
        "SELECT G, COUNT(*), COLLECT_LIST(N) FROM T GROUP BY G",
        "SELECT G, COUNT(*) FROM T WHERE LEN(G) = 1 GROUP BY G",
        "SELECT G, MAX(N + 1) FROM T GROUP BY G",
    ],
)
def test_what_sqlite_may_not_group_is_grouped_here(numbers: StoredTables, text: str) -> None:
    groups = numbers.plan(text).node
    assert isinstance(groups, Computed)
    assert isinstance(groups.input, Groups)
    look = groups.input.input
    assert isinstance(look, Look)
    assert group_query(groups.input, look, table_pull(look, look_plan(look)).bound()) is None
    assert numbers.run(groups)


# -- how much is looked at ------------------------------------------------------------------------


def test_the_first_rows_are_left_to_sqlite(tables: StoredTables) -> None:
    (look,) = looks_of(tables.plan("SELECT K FROM T WHERE N > 0 ORDER BY D DESC LIMIT 2 OFFSET 1").node)
    assert [(by.column, by.is_descending) for by in look.order] == [("D", True)]
    assert look.first == 3
    assert [column.name for column in look.columns] == ["K", "D"]
    few = Budget(rows=2)
    assert tables.asked("SELECT K FROM T ORDER BY D DESC, K LIMIT 2", few) == [("a",), ("d",)]
    with pytest.raises(BudgetSpent, match=r"more than 2 rows, which is all that sql.pull.scan.max.rows allows"):
        tables.asked("SELECT K FROM T ORDER BY LEN(K) LIMIT 2", few)


def test_the_order_of_the_key_needs_no_sorting(tables: StoredTables) -> None:
    assert tables.asked("SELECT K FROM T ORDER BY K", Budget(memory_bytes=1)) == [(row[0],) for row in ITEMS]
    windows = "SELECT K, WINDOWSTART FROM W ORDER BY K, WINDOWSTART"
    assert tables.asked(windows, Budget(memory_bytes=1)) == [("a", 0), ("a", 10), ("a", 20), ("b", 10)]


def test_partners_are_looked_up_by_their_key(tables: StoredTables) -> None:
    text = "SELECT LABEL FROM T JOIN C ON COLOUR = NAME WHERE K = 'a'"
    # One row of T, and one of C; all of both would be eight.
    assert tables.asked(text, Budget(rows=3)) == [("warm",)]
    with pytest.raises(BudgetSpent):
        tables.asked("SELECT LABEL FROM T JOIN C ON COLOUR = LABEL WHERE K = 'a'", Budget(rows=3))


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("SELECT K FROM T ORDER BY N", "ORDER BY"),
        ("SELECT F, COUNT(*) FROM T GROUP BY F", "GROUP BY"),
        ("SELECT DISTINCT N FROM T", "SELECT DISTINCT"),
        ("SELECT T.K FROM T JOIN C ON N = RANK", "The join"),
    ],
)
def test_memory_is_bounded(tables: StoredTables, text: str, step: str) -> None:
    with pytest.raises(MemorySpent) as caught:
        tables.asked(text, Budget(memory_bytes=100))
    assert caught.value.message.startswith(
        f"{step} would take more than 100 bytes of memory, which is all that sql.pull.memory.max.bytes allows."
    )


def test_time_is_bounded_in_joins_too(tables: StoredTables) -> None:
    with pytest.raises(BudgetSpent, match=r"which is all that sql.pull.scan.max.ms allows"):
        tables.asked("SELECT X.K FROM T X JOIN T Y ON X.N < Y.N", Budget(seconds=0))
