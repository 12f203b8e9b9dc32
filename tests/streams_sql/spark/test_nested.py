"""Queries in queries on real Spark: one plan, whose rows are those of the statements one behind the other."""

from __future__ import annotations

from streams_sql.plan.hosting import Hosting, hosting_of
from streams_sql.plan.nodes import PersistentPlan
from tests.streams_sql.analysis.catalogues import planned, sources
from tests.streams_sql.spark.query_plans import T0
from tests.streams_sql.spark.query_runs import QueryRun, exactly_once

PARTITIONS = 2


def plan_of(run: QueryRun, made: str, hosting: Hosting) -> tuple[PersistentPlan, str, str, str]:
    """The plan of a statement over two streams, their topics, and that of the sink."""
    s, t, sink = run.topic("s", PARTITIONS), run.topic("t"), run.topic("out")
    catalogue = sources(
        f"CREATE STREAM s (k STRING KEY, a INT) WITH (kafka_topic='{s}')",
        f"CREATE STREAM t (k STRING KEY, a BIGINT) WITH (kafka_topic='{t}')",
    )
    plan = planned(made.format(f"WITH (kafka_topic='{sink}')"), catalogue)
    assert hosting_of(plan.node) is hosting
    return plan, s, t, sink


def test_streams_are_put_together_and_written_once(run: QueryRun) -> None:
    """One of them is read in two places: each has marks of its own for what it has written."""
    plan, s, t, sink = plan_of(
        run,
        "CREATE STREAM made {} AS SELECT k, a FROM s UNION ALL SELECT k, a + 100 FROM t UNION ALL"
        " SELECT k, b FROM (SELECT k, a + 200 AS b FROM s WHERE a > 1) x",
        Hosting.STATELESS,
    )
    run.write(s, [(str(number), {"a": number}, T0 + number) for number in (1, 2, 3)])
    run.write(t, [("1", {"a": 1}, T0)])
    query_id = run.start(plan, **exactly_once())
    assert sorted(found.value["A"] for found in run.read(sink, 6)) == [1, 2, 3, 101, 202, 203]
    run.settled(7)
    run.stop(query_id)
    # As if the driver had died after the transactions and before Spark's own note of them.
    for note in run.checkpoint("commits"):
        note.unlink()
    run.write(s, [("4", {"a": 4}, T0)])
    run.start(plan, **exactly_once())
    assert sorted(found.value["A"] for found in run.read(sink, 8)) == [1, 2, 3, 4, 101, 202, 203, 204]


def test_groups_of_streams_that_are_put_together(run: QueryRun) -> None:
    plan, s, t, sink = plan_of(
        run,
        "CREATE TABLE made {} AS WITH both AS (SELECT k, a FROM s WHERE a > 1 UNION ALL SELECT k, a FROM t)"
        " SELECT k, COUNT(*) AS n, SUM(a) AS m FROM both GROUP BY k",
        Hosting.NATIVE,
    )
    run.write(s, [("x", {"a": 1}, T0), ("x", {"a": 2}, T0)])
    run.write(t, [("x", {"a": 5}, T0), ("y", {"a": 1}, T0)])
    run.start(plan)
    run.settled(4)
    rows = {found.key: found.value for found in run.read(sink, 2)}
    assert rows == {b"x": {"N": 2, "M": 7}, b"y": {"N": 1, "M": 1}}


def test_groups_of_groups_know_what_they_have_known_after_a_restart(run: QueryRun) -> None:
    plan, s, _, sink = plan_of(
        run,
        "CREATE TABLE made {} AS SELECT CAST(n AS STRING) AS often, COUNT(*) AS keys"
        " FROM (SELECT COUNT(*) AS n FROM s GROUP BY k) counts GROUP BY CAST(n AS STRING)",
        Hosting.SHARDS,
    )
    run.write(s, [("x", {"a": 1}, T0), ("y", {"a": 1}, T0 + 1)])
    query_id = run.start(plan)
    run.settled(2)
    run.stop(query_id)
    run.write(s, [("x", {"a": 2}, T0 + 2)])
    run.start(plan)
    told = [(found.key, (found.value or {}).get("KEYS")) for found in run.read(sink, 4)]
    assert told == [(b"1", 1), (b"1", 2), (b"1", 1), (b"2", 1)]
