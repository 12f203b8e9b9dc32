"""Queries whose rows go to whoever asked."""

from __future__ import annotations

import pytest

from streams_sql.analysis.pull import plan_pull
from streams_sql.analysis.push import plan_push
from streams_sql.plan.nodes import PullPlan
from streams_sql.plan.text import expression_text
from streams_sql.problem import SqlProblem
from tests.streams_sql.analysis.catalogues import Sources, query_of, sources


@pytest.fixture(scope="module")
def catalogue() -> Sources:
    return sources(
        "CREATE STREAM s (k INT KEY, v INT, a ARRAY<INT>) WITH (kafka_topic='s')",
        "CREATE TABLE t (k INT PRIMARY KEY, v INT) WITH (kafka_topic='t')",
        "CREATE TABLE w AS SELECT v, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY v",
    )


PUSHED = {
    "SELECT * FROM s EMIT CHANGES": "K INTEGER, V INTEGER, A ARRAY<INTEGER>",
    "SELECT v, ROWTIME, ROWOFFSET FROM s EMIT CHANGES": "V INTEGER, ROWTIME BIGINT, ROWOFFSET BIGINT",
    "SELECT v + 1, EXPLODE(a) AS e FROM s WHERE k = 1 EMIT CHANGES LIMIT 3": "KSQL_COL_0 INTEGER, E INTEGER",
    "SELECT * FROM w EMIT CHANGES": "V INTEGER, WINDOWSTART BIGINT, WINDOWEND BIGINT, N BIGINT",
    "SELECT * FROM t WHERE v > 1 EMIT CHANGES": "K INTEGER, V INTEGER",
    "SELECT COUNT(*) AS n FROM s EMIT CHANGES": "N BIGINT",
    "SELECT COUNT(*) AS n FROM s GROUP BY v HAVING COUNT(*) > 1 EMIT CHANGES": "N BIGINT",
    "SELECT WINDOWSTART, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 DAY) GROUP BY v EMIT FINAL": "WINDOWSTART BIGINT, N BIGINT",
}


@pytest.mark.parametrize(("text", "wanted"), PUSHED.items(), ids=PUSHED)
def test_push_queries_send_what_is_selected(catalogue: Sources, text: str, wanted: str) -> None:
    query = query_of(text)
    plan = plan_push(query, catalogue)
    assert ", ".join(f"{column.name} {column.type}" for column in plan.columns) == wanted
    assert plan.node.shape.columns[: len(plan.columns)] == plan.columns
    assert plan.limit == query.limit


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT v, v FROM s EMIT CHANGES", "Duplicate value columns found in schema: `V` INTEGER"),
        ("SELECT v AS rowtime FROM s EMIT CHANGES", "`ROWTIME` is a reserved column name."),
        ("SELECT WINDOWSTART FROM s EMIT CHANGES", "SELECT column 'WINDOWSTART' cannot be resolved."),
        ("SELECT * FROM s ORDER BY v EMIT CHANGES", "ORDER BY needs rows that come to an end"),
        ("SELECT DISTINCT v FROM s EMIT CHANGES", "SELECT DISTINCT needs rows that come to an end."),
        ("SELECT * FROM s EMIT CHANGES LIMIT 1 OFFSET 2", "OFFSET needs rows in an order that stays."),
        ("SELECT * FROM s EMIT FINAL", "EMIT FINAL is only supported for windowed aggregations."),
    ],
)
def test_wrong_push_queries_are_refused(catalogue: Sources, text: str, message: str) -> None:
    with pytest.raises(SqlProblem) as caught:
        plan_push(query_of(text), catalogue)
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("text", "is_local"),
    [
        ("SELECT v, COUNT(*) FROM s GROUP BY v EMIT CHANGES", False),
        ("SELECT v, COUNT(*) FROM t GROUP BY v EMIT CHANGES", True),
        ("SELECT v, COUNT(*) FROM s GROUP BY v HAVING COUNT(*) > 1 EMIT CHANGES", True),
        ("SELECT v, COUNT(*) FROM s WINDOW SESSION (1 HOUR) GROUP BY v EMIT CHANGES", True),
    ],
)
def test_what_spark_does_not_run_is_for_the_host_in_this_process(catalogue: Sources, text: str, is_local: bool) -> None:
    assert plan_push(query_of(text), catalogue).is_local is is_local


def plain_plan(text: str, catalogue: Sources) -> PullPlan:
    plan = plan_pull(query_of(text), catalogue)
    assert isinstance(plan, PullPlan)
    return plan


def test_a_pull_query(catalogue: Sources) -> None:
    plan = plain_plan("SELECT v, k, v + k AS sum, ROWTIME FROM t WHERE k = 1 AND v > 2 LIMIT 5", catalogue)
    assert plan.source == catalogue.source("T")
    assert [(named.name, expression_text(named.expression)) for named in plan.columns] == [
        ("V", "`V`"),
        ("K", "`K`"),
        ("SUM", "(`V` + `K`)"),
        ("ROWTIME", "`ROWTIME`"),
    ]
    assert plan.keys == (False, True, False, False)
    assert plan.condition is not None
    assert expression_text(plan.condition) == "((`K` = 1) AND (`V` > 2))"
    assert plan.limit == 5


def test_windows_can_be_asked_for_by_their_bounds(catalogue: Sources) -> None:
    plan = plain_plan("SELECT * FROM w WHERE v = 1 AND WINDOWSTART >= '1970-01-01T00:00:01Z'", catalogue)
    assert [named.name for named in plan.columns] == ["V", "WINDOWSTART", "WINDOWEND", "N"]
    assert plan.condition is not None
    assert expression_text(plan.condition) == "((`V` = 1) AND (`WINDOWSTART` >= CAST(1000 AS BIGINT)))"


@pytest.mark.parametrize("text", ["SELECT * FROM t", "SELECT * FROM s WHERE v = 1"])
def test_scans_and_streams_can_be_pulled(catalogue: Sources, text: str) -> None:
    assert plan_pull(query_of(text), catalogue).limit is None


NOT_PULLED = {
    "SELECT * FROM s JOIN t ON s.k = t.k": "S is a stream: queries without EMIT join tables alone.",
    "SELECT v, COUNT(*) FROM s WINDOW TUMBLING (SIZE 1 DAY) GROUP BY v": "Pull queries don't support WINDOW clauses.",
    "SELECT * FROM t PARTITION BY v": "Pull queries don't support PARTITION BY clauses.",
    "SELECT * FROM t HAVING v = 1": "HAVING requires a GROUP BY clause. Use WHERE to choose rows.",
    "SELECT * FROM t EMIT CHANGES": "Pull queries don't support EMIT clauses.",
    "SELECT * FROM t WHERE v": "Type error in WHERE expression",
    "SELECT NULL AS n FROM t": "Can't infer a type of null",
    "SELECT v, v FROM t": "Duplicate value columns found in schema",
    "SELECT * FROM nosuch": "NOSUCH does not exist.",
    "SELECT EXPLODE(a) FROM s": "Table functions cannot be used here: EXPLODE",
}


@pytest.mark.parametrize(("text", "message"), NOT_PULLED.items(), ids=NOT_PULLED)
def test_what_cannot_be_pulled_is_refused(catalogue: Sources, text: str, message: str) -> None:
    with pytest.raises(SqlProblem) as caught:
        plan_pull(query_of(text), catalogue)
    assert message in caught.value.message
