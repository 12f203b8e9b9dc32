"""Statements that differ in their literals alone are analysed once, and mean what analysis would say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.plan.nodes import PullPlan
from streams_sql.problem import SqlProblem
from streams_sql.sql_types import BIGINT, BOOLEAN, DOUBLE, INTEGER, STRING, TIMESTAMP, Decimal
from streams_sql.views.layout import ViewLayout
from streams_sql.views.prepared import SHAPES_MAX, PreparedPulls, ReadyPull
from streams_sql.views.pull import TablePull
from streams_sql.views.shapes import cut
from streams_sql.views.store import Store
from tests.streams_sql.views.tables import plan_of, prepared_pulls, stream, table

SOURCE = table(
    "topic",
    {"A": INTEGER, "L": BIGINT, "F": DOUBLE, "D": Decimal(6, 2), "B": BOOLEAN, "S": STRING, "TS": TIMESTAMP},
)


class Counted:
    """Prepared queries over SOURCE, and how often something was analysed."""

    def __init__(self) -> None:
        self.catalogue = Catalogue({"T": SOURCE})
        self.analysed = 0
        self.indexed: frozenset[str] = frozenset()
        self.pulls = PreparedPulls(self._analyse, self.catalogue.source, lambda _: self.indexed)

    def _analyse(self, text: str) -> PullPlan:
        self.analysed += 1
        return plan_of(text, self.catalogue)

    def ready(self, text: str) -> ReadyPull:
        return self.pulls.find(text) or self.pulls.learn(text, plan_of(text, self.catalogue))


@pytest.mark.parametrize(
    ("text", "literals", "pieces"),
    [
        ("SELECT 1", (1,), ("SELECT ", "")),
        ("a='it''s'", ("it's",), ("a=", "")),
        ("''", ("",), ("", "")),
        ("x = -5", (5,), ("x = -", "")),
        ('x1 = "5" AND `6` = 7', (7,), ('x1 = "5" AND `6` = ', "")),
        ("1x 2.5 .5 5. 1e5 1E-5 x@1 a.1", (5,), ("1x 2.5 .5 5. 1e5 1E-", " x@1 a.1")),
        ("-- it's 5\n6 /* '7' */ 8", (6, 8), ("-- it's 5\n", " /* '7' */ ", "")),
        ("2147483647 2147483648 2147483649", (2147483647, 2147483649), ("", " 2147483648 ", "")),
        ("9223372036854775807 9223372036854775808", (9223372036854775807,), ("", " 9223372036854775808")),
        ("12345678901234567890123", (), ("12345678901234567890123",)),
        ("'open", (), ("'open",)),
    ],
)
def test_literals_are_cut_out(text: str, literals: tuple[Any, ...], pieces: tuple[str, ...]) -> None:
    parts = cut(text)
    assert (parts.literals, parts.pieces) == (literals, pieces)


def test_the_type_of_a_number_belongs_to_the_shape() -> None:
    assert cut("K = 5").shape == cut("K = 70").shape
    assert cut("K = 5").shape != cut("K = 5000000000").shape
    assert cut("K = 5").shape != cut("K = '5'").shape


@pytest.mark.parametrize(
    ("first", "second", "is_remembered"),
    [
        ("SELECT * FROM T WHERE K = 'a';", "SELECT * FROM T WHERE K = 'it''s \\ \"x\"';", True),
        ("SELECT A FROM T WHERE L IN (1, 2, -3);", "SELECT A FROM T WHERE L IN (4, 5, -6);", True),
        ("SELECT A FROM T WHERE A = 5;", "SELECT A FROM T WHERE A = 0;", True),
        ("SELECT A FROM T WHERE A > -0;", "SELECT A FROM T WHERE A > -7;", True),
        ("SELECT A FROM T WHERE F < 5 AND D = 7;", "SELECT A FROM T WHERE F < 6 AND D = 7;", True),
        ("SELECT A FROM T WHERE A BETWEEN 1 AND 1;", "SELECT A FROM T WHERE A BETWEEN 2 AND 3;", True),
        ("SELECT A FROM T WHERE TS = '2020-01-01';", "SELECT A FROM T WHERE TS = '2021-01-01T01:00';", True),
        ("SELECT A FROM T WHERE K = 'a' LIMIT 3;", "SELECT A FROM T WHERE K = 'b' LIMIT 3;", True),
        ("SELECT A FROM T WHERE K = 'a' LIMIT 3;", "SELECT A FROM T WHERE K = 'a' LIMIT 4;", False),
        ("SELECT A + 1 FROM T WHERE A = 1;", "SELECT A + 1 FROM T WHERE A = 2;", True),
        ("SELECT A + 1 FROM T WHERE A = 1;", "SELECT A + 2 FROM T WHERE A = 1;", False),
        ("SELECT A FROM T WHERE S LIKE 'a%';", "SELECT A FROM T WHERE S LIKE 'b%';", False),
        ("SELECT A FROM T WHERE UCASE('a') = S;", "SELECT A FROM T WHERE UCASE('b') = S;", False),
        ("SELECT A FROM T WHERE A + 1 = 5;", "SELECT A FROM T WHERE A + 2 = 5;", False),
        (
            "SELECT A FROM T WHERE ROWTIME > '2020' AND K = 'a';",
            "SELECT A FROM T WHERE ROWTIME > '2020' AND K = 'b';",
            True,
        ),
        (
            "SELECT A FROM T WHERE ROWTIME > '2020' AND K = 'a';",
            "SELECT A FROM T WHERE ROWTIME > '2021' AND K = 'a';",
            False,
        ),
        ("SELECT A FROM T WHERE A = 5;", "SELECT A FROM T WHERE A = 5000000000;", False),
        ("SELECT A FROM T WHERE A = -2147483649;", "SELECT A FROM T WHERE A = -2147483648;", False),
    ],
)
def test_what_is_remembered_is_what_analysis_says(first: str, second: str, is_remembered: bool) -> None:
    counted = Counted()
    counted.ready(first)
    found = counted.pulls.find(second)
    assert (found is not None) is is_remembered
    for text in (first, second):
        assert_means_the_same(counted.ready(text), plan_of(text, counted.catalogue))


def assert_means_the_same(ready: ReadyPull, plan: PullPlan) -> None:
    """What SQLite is asked, with which values, and what is left to do here."""
    expected = TablePull(plan).bound()
    assert ready.table is not None
    assert (ready.plan.columns, ready.plan.keys, ready.plan.limit) == (plan.columns, plan.keys, plan.limit)
    assert repr(ready.table.values) == repr(expected.values)
    assert ready.table.query.condition.text == expected.query.condition.text
    assert ready.table.query.limit == expected.query.limit


TEXTS = st.text(max_size=8) | st.sampled_from(["'", "''", "\\", "\\'", "--", "/*", "?'", '"', "`", "5", "\n"])
# Outside of what BIGINT holds, numbers are decimals.
NUMBERS = st.integers(-(2**63) + 1, 2**63 - 1) | st.sampled_from([2**31, 2**31 - 1, -(2**31), -(2**31) - 1, 0])


@settings(max_examples=100)
@given(st.lists(st.tuples(TEXTS.filter(lambda text: text.isprintable()), NUMBERS, NUMBERS), min_size=2, max_size=4))
def test_no_literal_is_mistaken_for_another(literals: list[tuple[str, int, int]]) -> None:
    counted = Counted()
    for text, number, other in literals:
        quoted = text.replace("'", "''")
        statement = f"SELECT S, L FROM T WHERE S = '{quoted}' AND (L > {number} OR {other} = L) AND K <> '{quoted}';"
        assert_means_the_same(counted.ready(statement), plan_of(statement, counted.catalogue))


def test_a_shape_is_analysed_once() -> None:
    counted = Counted()
    for number in range(50):
        counted.ready(f"SELECT A FROM T WHERE K = 'key {number}' AND A > {number};")
    assert counted.analysed == 1


def test_a_source_that_was_made_anew_is_analysed_again() -> None:
    counted = Counted()
    text = "SELECT * FROM T WHERE K = 'a';"
    counted.ready(text)
    assert counted.pulls.find(text) is not None
    changed = replace(SOURCE, schema=replace(SOURCE.schema, value=SOURCE.schema.value[:1]))
    counted.catalogue.put(changed)
    assert counted.pulls.find(text) is None
    plan = counted.ready(text).plan
    assert isinstance(plan, PullPlan)
    assert plan.source is changed


def test_a_source_that_has_other_indexes_is_looked_into_anew() -> None:
    counted = Counted()
    text = "SELECT A FROM T WHERE A > 5;"
    counted.ready(text)
    assert counted.pulls.find(text) is not None
    counted.indexed = frozenset({"A"})
    assert counted.pulls.find(text) is None
    table_pull = counted.ready(text).table
    assert table_pull is not None
    assert "ORDER BY c1, c0" in table_pull.query.text


def test_the_memory_for_shapes_is_bounded() -> None:
    counted = Counted()
    first = "SELECT A AS N0 FROM T;"
    for number in range(SHAPES_MAX + 1):
        counted.ready(f"SELECT A AS N{number} FROM T;")
    assert counted.pulls.find(first) is None
    assert counted.pulls.find(f"SELECT A AS N{SHAPES_MAX} FROM T;") is not None
    long = f"SELECT A FROM T WHERE S = '{'x' * 20_000}';"
    counted.ready(long)
    assert counted.pulls.find(long) is None


def test_queries_over_streams_are_not_remembered() -> None:
    catalogue = Catalogue({"S": stream("topic", {"A": INTEGER})})
    pulls = prepared_pulls(catalogue)
    text = "SELECT * FROM S WHERE A = 5;"
    assert pulls.learn(text, plan_of(text, catalogue)).table is None
    assert pulls.find(text) is None


def test_only_tables_with_keys_can_be_views(tmp_path: Path) -> None:
    without = replace(SOURCE, schema=replace(SOURCE.schema, key=()))
    with pytest.raises(SqlProblem, match="T has no key"):
        Store(tmp_path, ViewLayout.of(without))
