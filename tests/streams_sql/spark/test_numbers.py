"""Numbers on real Spark: exact sums of decimals, and reports of what cannot be held."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from streams_sql.plan.hosting import Hosting, hosting_of
from streams_sql.plan.nodes import PersistentPlan
from tests.streams_sql.engine.catalogues import Statements
from tests.streams_sql.spark.query_plans import T0
from tests.streams_sql.spark.query_runs import QueryRun

LARGEST = 10**38 - 1
AMOUNTS = ("99.99", "21.01", "99.98")


def plan_of(source: str, select: str, topic: str, sink: str) -> PersistentPlan:
    statements = Statements(f"CREATE {source} WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON');")
    return statements.query(select.replace(" AS SELECT", f" WITH (KAFKA_TOPIC='{sink}') AS SELECT", 1)).plan


def exact(value: Any) -> Any:
    """What JSON has, with decimals as they were written."""
    return [exact(each) for each in value] if isinstance(value, list) else Decimal(str(value))


@pytest.mark.parametrize(("amount", "hosting"), [("DECIMAL(4, 2)", Hosting.NATIVE), ("DECIMAL(20, 2)", Hosting.SHARDS)])
def test_aggregates_of_decimals_are_exact(run: QueryRun, amount: str, hosting: Hosting) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    plan = plan_of(
        f"STREAM PAID (K STRING KEY, X {amount})",
        "CREATE TABLE SUMS AS SELECT K, SUM(X) AS A, AVG(X) AS B, MIN(X) AS C, MAX(X) AS D, TOPK(X, 2) AS E FROM PAID GROUP BY K;",
        topic,
        sink,
    )
    assert hosting_of(plan.node) is hosting
    run.write(topic, [("a", {"X": value}, T0) for value in AMOUNTS])
    run.start(plan)
    batches = run.settled(len(AMOUNTS))
    found = run.read(sink, sum(batch.written_rows for batch in batches))[-1].value
    expected = [
        Decimal("220.98"),
        Decimal("73.66"),
        Decimal("21.01"),
        Decimal("99.99"),
        [Decimal("99.99"), Decimal("99.98")],
    ]
    assert [exact(found[name]) for name in "ABCDE"] == expected
    assert sum(batch.failed for batch in batches) == 0


def test_a_sum_that_cannot_be_held_is_reported(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    plan = plan_of(
        "STREAM PAID (K STRING KEY, X DECIMAL(38, 0))",
        "CREATE TABLE SUMS AS SELECT K, SUM(X) AS A FROM PAID GROUP BY K;",
        topic,
        sink,
    )
    run.write(topic, [("a", {"X": value}, T0) for value in (str(LARGEST), "1", "-3")])
    run.start(plan)
    assert [row.value["A"] for row in run.read(sink, 3)] == [LARGEST, None, LARGEST - 2]
    batches = run.settled(3)
    assert sum(batch.failed for batch in batches) == 1
    (problem,) = [example for batch in batches for example in batch.examples]
    assert problem.reason.startswith("SUM(`X`) gave NULL: Numeric field overflow")


def test_numbers_out_of_range_are_reported(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    plan = plan_of(
        "STREAM COUNTED (K STRING KEY, I INT, L BIGINT)",
        "CREATE STREAM CASTS AS SELECT K, I, CAST(L AS INT) AS J FROM COUNTED;",
        topic,
        sink,
    )
    records = [{"I": 1, "L": 2}, {"I": 99999999999, "L": 3}, {"I": 4, "L": 2**31}, {"I": 5, "L": 2**63}]
    run.write(topic, [("a", record, T0) for record in records])
    run.start(plan)
    assert [row.value for row in run.read(sink, 2)] == [{"I": 1, "J": 2}, {"I": 4, "J": None}]
    batches = run.settled(4)
    assert sum(batch.bad_records for batch in batches) == 2
    assert sum(batch.failed for batch in batches) == 1
    reasons = [example.reason for batch in batches for example in batch.examples]
    for reason in (
        "Number out of range: 99999999999: INTEGER holds",
        "CAST(`L` AS INTEGER) gave NULL: Number out of range: 2147483648",
        "Number out of range: 9223372036854775808: BIGINT holds",
    ):
        assert any(reason in found for found in reasons), reasons
