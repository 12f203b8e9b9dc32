"""GROUP BY: keys, aggregates, windows, and what may stand beside them."""

from __future__ import annotations

import pytest

from streams_sql.functions.ordered_aggregates import COLLECT_LIST_LIMIT
from streams_sql.language.statements import Emit, WindowKind
from streams_sql.plan.nodes import Aggregate, Filter, Project
from streams_sql.plan.text import expression_text
from streams_sql.problem import SqlProblem
from streams_sql.sources import KeyWindow
from tests.streams_sql.analysis.catalogues import DEFAULTS, Sources, planned, sources


@pytest.fixture(scope="module")
def catalogue() -> Sources:
    return sources(
        "CREATE STREAM s (k STRING KEY, a INT, b BIGINT, st STRUCT<f INT>, m MAP<STRING, INT>) WITH (kafka_topic='s', format='JSON')",
        "CREATE STREAM r (k STRING KEY, c INT) WITH (kafka_topic='r')",
        "CREATE STREAM kv (k INT KEY, v INT) WITH (kafka_topic='kv', value_format='KAFKA')",
        "CREATE TABLE t (k STRING PRIMARY KEY, v INT) WITH (kafka_topic='t')",
    )


SCHEMAS = {
    "SELECT a, COUNT(*) FROM s GROUP BY a": "`A` INTEGER KEY, `KSQL_COL_0` BIGINT",
    "SELECT COUNT(*) AS n, b, a AS x FROM s GROUP BY a, b": "`X` INTEGER KEY, `B` BIGINT KEY, `N` BIGINT",
    "SELECT a + 1, SUM(b) AS t FROM s GROUP BY a + 1": "`KSQL_COL_0` INTEGER KEY, `T` BIGINT",
    "SELECT a AS x, a + 1 AS y, COUNT(a) * 2 AS z FROM s GROUP BY a": "`X` INTEGER KEY, `Y` INTEGER, `Z` BIGINT",
    "SELECT st->f, COUNT(*) AS n FROM s GROUP BY st->f": "`F` INTEGER KEY, `N` BIGINT",
    "SELECT a, TOPK(b, 3) AS top FROM s GROUP BY a": "`A` INTEGER KEY, `TOP` ARRAY<BIGINT>",
    "SELECT a, AS_VALUE(a) AS again, COUNT(*) AS n FROM s GROUP BY a": "`A` INTEGER KEY, `AGAIN` INTEGER, `N` BIGINT",
    "SELECT a, WINDOWSTART AS ws, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY a": (
        "`A` INTEGER KEY, `WS` BIGINT, `N` BIGINT"
    ),
}


@pytest.mark.parametrize(("select", "wanted"), SCHEMAS.items(), ids=SCHEMAS)
def test_columns_of_groups_are_named_as_in_ksqldb(catalogue: Sources, select: str, wanted: str) -> None:
    plan = planned(f"CREATE TABLE made AS {select}", catalogue)
    assert str(plan.sink.schema) == wanted
    assert plan.node.shape.is_table


def test_aggregates_stand_apart_from_what_is_done_with_them(catalogue: Sources) -> None:
    plan = planned(
        "CREATE TABLE made AS SELECT a + 1 AS x, (a + 1) * SUM(b) + SUM(b) AS y, TOPK(b, 2)[1] AS z FROM s "
        "WINDOW HOPPING (SIZE 10 SECONDS, ADVANCE BY 5 SECONDS, RETENTION 1 DAY, GRACE PERIOD 1 SECOND) GROUP BY a + 1 EMIT FINAL",
        catalogue,
    )
    assert isinstance(plan.node, Project)
    assert [expression_text(named.expression) for named in plan.node.columns] == [
        "`X`",
        "((CAST(`X` AS BIGINT) * `KSQL_AGG_VARIABLE_0`) + `KSQL_AGG_VARIABLE_0`)",
        "`KSQL_AGG_VARIABLE_1`[1]",
    ]
    node = plan.node.input
    assert isinstance(node, Aggregate)
    assert [(key.name, expression_text(key.expression)) for key in node.keys] == [("X", "(`A` + 1)")]
    assert [(call.function, call.constants) for call in node.aggregates] == [("SUM", ()), ("TOPK", (2,))]
    assert node.emit is Emit.FINAL
    assert [column.name for column in node.shape.columns] == [
        "X",
        "KSQL_AGG_VARIABLE_0",
        "KSQL_AGG_VARIABLE_1",
        "WINDOWSTART",
        "WINDOWEND",
        "ROWTIME",
    ]
    assert plan.sink.key_window == KeyWindow(WindowKind.HOPPING, 10_000)
    assert plan.sink.window is not None
    assert plan.sink.window.retention_ms == 86_400_000


def test_the_bounds_of_a_window_go_along_to_the_key(catalogue: Sources) -> None:
    plan = planned(
        "CREATE TABLE made AS SELECT a, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY a", catalogue
    )
    assert [column.name for column in plan.node.shape.columns] == ["A", "N", "WINDOWSTART", "WINDOWEND", "ROWTIME"]
    assert str(plan.sink.schema) == "`A` INTEGER KEY, `N` BIGINT"


def test_a_setting_limits_what_a_list_holds(catalogue: Sources) -> None:
    defaults = DEFAULTS.overridden({COLLECT_LIST_LIMIT: "2"})
    plan = planned("CREATE TABLE made AS SELECT a, COLLECT_LIST(b) AS l FROM s GROUP BY a", catalogue, defaults)
    assert isinstance(plan.node, Project)
    assert isinstance(plan.node.input, Aggregate)
    assert plan.node.input.aggregates[0].constants == (2,)


@pytest.mark.parametrize("text", ["0", "-1", "many", ""])
def test_a_limit_is_a_number_above_zero(text: str) -> None:
    with pytest.raises(SqlProblem, match=f"{COLLECT_LIST_LIMIT}={text} is no number above 0."):
        DEFAULTS.overridden({COLLECT_LIST_LIMIT: text})


def test_having_is_a_filter_where_each_group_comes_once(catalogue: Sources) -> None:
    plan = planned(
        "CREATE TABLE made AS SELECT a, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY a HAVING SUM(b) > 3 "
        "EMIT FINAL",
        catalogue,
    )
    assert isinstance(plan.node, Project)
    assert isinstance(plan.node.input, Filter)
    assert expression_text(plan.node.input.condition) == "(`KSQL_AGG_VARIABLE_1` > CAST(3 AS BIGINT))"
    assert plan.sink.key_window == KeyWindow(WindowKind.TUMBLING, 1_000)


WRONG = {
    "SELECT a, b, COUNT(*) FROM s GROUP BY a": "Non-aggregate SELECT expression(s) not part of GROUP BY: B\n",
    "SELECT a, b * SUM(b) FROM s GROUP BY a": "not part of GROUP BY: (B * SUM(B))",
    "SELECT a + 2, COUNT(*) FROM s GROUP BY a + 1": "not part of GROUP BY: (A + 2)",
    "SELECT a FROM s GROUP BY a": "GROUP BY requires aggregate functions in either the SELECT or HAVING clause.",
    "SELECT COUNT(*) FROM s": "does not support aggregate function [COUNT(ROWTIME)] without a GROUP BY clause.",
    "SELECT COUNT(*) FROM s GROUP BY a": "must include the grouping expression A in its projection (eg, SELECT A...).",
    "SELECT COUNT(*) FROM s GROUP BY a, b, k": "must include the grouping expressions A, B and K in its projection",
    "SELECT a, a AS x, COUNT(*) FROM s GROUP BY a": "The projection contains a key column more than once: `A` and `X`.",
    "SELECT a, COUNT(*) FROM s GROUP BY a, s.a": "Duplicate GROUP BY expression: S.A",
    "SELECT a, SUM(COUNT(*)) FROM s GROUP BY a": "Aggregate functions can not be nested: SUM(COUNT())",
    "SELECT a, COUNT(*) FROM s GROUP BY SUM(b)": "GROUP BY does not support aggregate functions: SUM is an aggregate function.",
    "SELECT a, COUNT(*) FROM s GROUP BY NULL": "not part of GROUP BY: A",
    "SELECT a, NOSUCH(b), COUNT(*) FROM s GROUP BY a": "Can't find any functions with the name 'NOSUCH'",
    "SELECT a, TOPK(b, a) FROM s GROUP BY a": "Parameter 2 passed to function TOPK must be a literal constant, but was expression: 'A'",
    "SELECT a, SUM(k) FROM s GROUP BY a": "does not accept parameters (STRING).",
    "SELECT a, EXPLODE(ARRAY[a]), COUNT(*) FROM s GROUP BY a": "Table functions cannot be used with aggregations.",
    "SELECT a, WINDOWSTART, COUNT(*) FROM s WINDOW TUMBLING (SIZE 1 DAY) GROUP BY a": "Reserved column name in select: `WINDOWSTART`.",
    "SELECT a, WINDOWSTART AS w, COUNT(*) FROM s GROUP BY a": "SELECT column 'WINDOWSTART' cannot be resolved.",
    "SELECT a, MAX(WINDOWSTART) FROM s WINDOW TUMBLING (SIZE 1 DAY) GROUP BY a": "Window bounds column WINDOWSTART can only be used",
    "SELECT a, COUNT(*) FROM s WINDOW TUMBLING (SIZE 1 DAY) WHERE WINDOWEND > 1 GROUP BY a": "Error in WHERE expression",
    "SELECT a, COUNT(*) FROM s GROUP BY a HAVING b > 1": "Non-aggregate HAVING expression not part of GROUP BY: B",
    "SELECT a, COUNT(*) FROM s GROUP BY a HAVING COUNT(*) > 'x'": (
        "Error in HAVING expression: Cannot compare COUNT(*) (BIGINT) to 'x' (STRING) with GREATER_THAN."
    ),
    "SELECT a, COUNT(*) FROM s HAVING COUNT(*) > 1": "not part of GROUP BY: A",
    "SELECT * FROM s HAVING a > 1": "HAVING requires a GROUP BY clause.",
    "SELECT m, COUNT(*) FROM s GROUP BY m": "Map keys, including types that contain maps, are not supported",
    "SELECT v, COUNT(*) FROM kv GROUP BY v": "This format does not yet support GROUP BY.",
    "SELECT a, COUNT(*) FROM s WINDOW HOPPING (SIZE 1 SECOND, ADVANCE BY 2 SECONDS) GROUP BY a": "no more than window duration",
    "SELECT a, COUNT(*) FROM s WINDOW TUMBLING (SIZE 0 SECONDS) GROUP BY a": "Window size must be larger than zero",
    "SELECT a, COUNT(*) FROM s WINDOW TUMBLING (SIZE 9 SECONDS, RETENTION 1 SECOND) GROUP BY a": "Window retention must be larger",
    "SELECT a, COUNT(*) FROM s GROUP BY a EMIT FINAL": "EMIT FINAL is only supported for windowed aggregations.",
}


@pytest.mark.parametrize(("select", "message"), WRONG.items(), ids=WRONG)
def test_what_cannot_be_grouped_is_refused(catalogue: Sources, select: str, message: str) -> None:
    with pytest.raises(SqlProblem) as caught:
        planned(f"CREATE TABLE made AS {select}", catalogue)
    assert message in caught.value.message
