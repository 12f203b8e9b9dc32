"""Aggregates of decimals in this process: exact results, and a report where one cannot be held."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from streams_sql.plan.expression_problems import expression_problem
from tests.streams_sql.engine.catalogues import Statements
from tests.streams_sql.local.statement_runs import Given, StatementRun

SOURCES = (
    "CREATE STREAM PAID (K STRING KEY, X DECIMAL(4, 2), Y DECIMAL(38, 0)) WITH (KAFKA_TOPIC='paid', VALUE_FORMAT='JSON');",
    "CREATE TABLE OWED (K STRING PRIMARY KEY, G STRING, X DECIMAL(4, 2), Y DECIMAL(38, 0)) WITH (KAFKA_TOPIC='owed', VALUE_FORMAT='JSON');",
)
TOPICS = {"PAID": "paid", "OWED": "owed"}
LARGEST = 10**38 - 1
OVERFLOW = "SUM(`Y`) gave NULL: Numeric field overflow"
CALLS = "SUM(X) AS TOTAL, AVG(X) AS MEAN, MAX(X) AS MOST, TOPK(X, 2) AS TOP, TOPKDISTINCT(X, 2) AS DIFFERENT"


class Run:
    """The values of the result after each record, and what was reported."""

    def __init__(self, query: str) -> None:
        self.problems: list[str] = []
        plan = Statements(*SOURCES).query(query).plan
        self._run = StatementRun(plan, TOPICS, lambda error: self.problems.append(expression_problem(error, "").reason))

    def results(self, *records: Given) -> list[Any]:
        return [row.values and tuple(row.values.values()) for row in self._run.told(records)]


def paid(time: int, **values: Any) -> Given:
    return Given("PAID", "a", values, time)


def owed(key: str, **values: Any) -> Given:
    return Given("OWED", key, {"G": "g", **values} if values else None, 0)


@pytest.mark.parametrize("window", ["", "WINDOW TUMBLING (SIZE 1 HOUR)", "WINDOW SESSION (1 HOUR)"])
def test_a_sum_has_more_digits_than_its_values(window: str) -> None:
    run = Run(f"CREATE TABLE SUMS AS SELECT K, {CALLS} FROM PAID {window} GROUP BY K;")
    *_, last = run.results(paid(0, X=99.99), paid(0, X=None), paid(0, X=21.01), paid(0, X=21.01))
    expected = Decimal("142.01"), Decimal("47.336667"), Decimal("99.99")
    assert last == (*expected, [Decimal("99.99"), Decimal("21.01")], [Decimal("99.99"), Decimal("21.01")])
    assert run.problems == []


def test_a_sum_over_a_table_follows_its_rows() -> None:
    run = Run(f"CREATE TABLE SUMS AS SELECT G, {CALLS} FROM OWED GROUP BY G;")
    *_, before = run.results(owed("a", X=99.99), owed("b", X=99.98), owed("c", X=0.01))
    assert before[:3] == (Decimal("199.98"), Decimal("66.660000"), Decimal("99.99"))
    *_, after = run.results(owed("a"), owed("b", X=0.5))
    assert after == (Decimal("0.51"), Decimal("0.255000"), Decimal("0.50"), *[[Decimal("0.50"), Decimal("0.01")]] * 2)
    assert run.problems == []


@pytest.mark.parametrize("window", ["", "WINDOW TUMBLING (SIZE 1 HOUR)", "WINDOW SESSION (1 HOUR)"])
def test_a_sum_that_cannot_be_held_is_reported_and_does_not_spoil_later_ones(window: str) -> None:
    run = Run(f"CREATE TABLE SUMS AS SELECT K, SUM(Y) AS TOTAL, COUNT(*) AS N FROM PAID {window} GROUP BY K;")
    records = [paid(0, Y=str(LARGEST)), paid(0, Y="1"), paid(0, Y="2"), paid(0, Y="-4")]
    expected = [(Decimal(LARGEST), 1), (None, 2), (None, 3), (Decimal(10**38 - 2), 4)]
    assert [found for found in run.results(*records) if found is not None] == expected
    assert len(run.problems) == 2
    assert all(problem.startswith(OVERFLOW) for problem in run.problems)


def test_what_made_a_sum_too_large_can_be_taken_back() -> None:
    run = Run("CREATE TABLE SUMS AS SELECT G, SUM(Y) AS TOTAL FROM OWED GROUP BY G;")
    assert run.results(owed("a", Y=str(LARGEST)), owed("b", Y="5"))[-1] == (None,)
    assert run.results(owed("b", Y="-5"))[-1] == (Decimal(10**38 - 6),)
    assert run.results(owed("b"), owed("a", Y="3"))[-1] == (Decimal(3),)
    assert [problem.startswith(OVERFLOW) for problem in run.problems] == [True]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("SUM(X) / COUNT(*)", Decimal("47.333333")),
        ("SUM(X) / SUM(X)", Decimal("1.000000")),
        ("SUM(X) * SUM(X)", Decimal("20164.0000")),
        ("-SUM(Y)", Decimal(-(10**37) - 1)),
    ],
)
def test_results_can_be_computed_with(expression: str, expected: Decimal) -> None:
    run = Run(f"CREATE TABLE SUMS AS SELECT K, {expression} AS V FROM PAID GROUP BY K;")
    *_, last = run.results(paid(0, X=99.99, Y=str(10**37)), paid(0, X=42.01, Y="1"), paid(0, X=0, Y="0"))
    assert last == (expected,)
    assert run.problems == []
