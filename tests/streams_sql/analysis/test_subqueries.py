"""Queries in queries: what their names mean, which of them may be combined, and how they are told."""

from __future__ import annotations

import pytest

from streams_sql.analysis.push import plan_push
from streams_sql.plan.hosting import Hosting, hosting_of
from streams_sql.plan.nodes import reads_of
from streams_sql.plan.text import plan_text
from streams_sql.problem import SqlProblem
from tests.streams_sql.analysis.catalogues import planned, query_of, sources

CATALOGUE = sources(
    "CREATE STREAM s (k STRING KEY, a INT, b STRING) WITH (kafka_topic='s')",
    "CREATE STREAM t (k STRING KEY, a BIGINT, c STRING) WITH (kafka_topic='t', key_format='JSON')",
    "CREATE STREAM bare (a INT) WITH (kafka_topic='bare', value_format='DELIMITED')",
    "CREATE TABLE u (id STRING PRIMARY KEY, name STRING, g STRING) WITH (kafka_topic='u')",
)
COUNTED = "(SELECT k, COUNT(*) AS n FROM s GROUP BY k)"
WINDOWED = "(SELECT k, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 HOUR, RETENTION 2 DAYS) GROUP BY k)"


@pytest.mark.parametrize(
    ("made", "schema"),
    [
        ("STREAM x AS SELECT * FROM (SELECT a, k, b AS c FROM s) y", "`K` STRING KEY, `A` INTEGER, `C` STRING"),
        ("STREAM x AS SELECT y.a, 1 AS one, k FROM (SELECT * FROM s) y", "`K` STRING KEY, `A` INTEGER, `ONE` INTEGER"),
        ("STREAM x AS SELECT * FROM (SELECT a, b FROM s)", "`A` INTEGER, `B` STRING"),
        ("STREAM x AS SELECT * FROM (SELECT k, k AS copy, a FROM s) y", "`K` STRING KEY, `COPY` STRING, `A` INTEGER"),
        ("TABLE x AS SELECT a, COUNT(*) AS n FROM (SELECT a FROM s) y GROUP BY a", "`A` INTEGER KEY, `N` BIGINT"),
        (f"TABLE x AS SELECT n, k FROM {COUNTED} y", "`K` STRING KEY, `N` BIGINT"),
        (f"TABLE x AS SELECT * FROM {WINDOWED} y", "`K` STRING KEY, `N` BIGINT"),
        (f"TABLE x AS SELECT k, n, windowstart AS began FROM {WINDOWED} y", "`K` STRING KEY, `N` BIGINT, `BEGAN` BIGINT"),
        ("STREAM x AS SELECT k, a FROM s UNION ALL SELECT k, a FROM t", "`K` STRING KEY, `A` BIGINT"),
        ("STREAM x AS SELECT k, a FROM s UNION ALL SELECT c, a FROM t", "`K` STRING, `A` BIGINT"),
        ("STREAM x AS SELECT a + 0.5 AS a FROM s UNION ALL SELECT a FROM bare", "`A` DECIMAL(12, 1)"),
        (
            "STREAM x AS SELECT s.k, y.n FROM s JOIN (SELECT k, COUNT(*) AS n FROM t GROUP BY k) y ON s.k = y.k",
            "`S_K` STRING KEY, `N` BIGINT",
        ),
        (
            ("TABLE x AS SELECT y.id, y.name AS one, z.name AS other"
            " FROM (SELECT * FROM u WHERE g > 'a') y JOIN (SELECT id, name FROM u) z ON y.g = z.id"),
            "`Y_ID` STRING KEY, `ONE` STRING, `OTHER` STRING",
        ),
    ],
)  # fmt: skip
def test_the_columns_of_the_result(made: str, schema: str) -> None:
    assert str(planned(f"CREATE {made}", CATALOGUE).sink.schema) == schema


def test_a_result_has_the_formats_and_the_window_of_what_is_read_first() -> None:
    sink = planned("CREATE STREAM x AS SELECT * FROM (SELECT * FROM t) y", CATALOGUE).sink
    assert (sink.key_format.name, sink.value_format.name) == ("JSON", "JSON")
    sink = planned("CREATE STREAM x AS SELECT * FROM (SELECT a FROM bare UNION ALL SELECT a FROM s) y", CATALOGUE).sink
    assert (sink.key_format.name, sink.value_format.name) == ("NONE", "DELIMITED")
    sink = planned(f"CREATE TABLE x AS SELECT * FROM {WINDOWED} y WHERE n > 1", CATALOGUE).sink
    assert sink.key_window is not None
    assert sink.window is not None
    assert sink.window.retention_ms == 2 * 86_400_000


@pytest.mark.parametrize(
    ("made", "marked", "message"),
    [
        ("STREAM x AS SELECT z FROM (SELECT a FROM s) y", "z FROM", "SELECT column 'Z' cannot be resolved. There are A, ROWTIME."),
        ("STREAM x AS SELECT rowoffset AS o FROM (SELECT a FROM s) y", "rowoffset", "SELECT column 'ROWOFFSET' cannot be resolved"),
        ("STREAM x AS SELECT b FROM (SELECT a FROM s) y", "b FROM", "SELECT column 'B' cannot be resolved"),
        ("STREAM x AS SELECT * FROM (SELECT z FROM s) y", "z FROM", "SELECT column 'Z' cannot be resolved"),
        ("STREAM x AS SELECT s.a FROM (SELECT a FROM s) y", "s.a", "'S' is not a valid stream/table name or alias. There are Y."),
        ("STREAM x AS SELECT * FROM (SELECT a, b AS a FROM s) y", None, "Duplicate value columns found in schema: `A`"),
        ("STREAM x AS WITH y AS (SELECT a FROM nothing) SELECT * FROM s", "nothing", "NOTHING does not exist."),
        ("STREAM x AS WITH y AS (SELECT a FROM y) SELECT * FROM y", "y) S", "Y is not known here"),
        ("STREAM x AS WITH y AS (SELECT a FROM z), z AS (SELECT a FROM s) SELECT * FROM y", "z), ", "Z is not known here"),
        ("STREAM x AS SELECT a FROM (SELECT * FROM s) y JOIN (SELECT * FROM t) z WITHIN 1 HOUR ON y.k = z.k", "a FROM (SELECT * FROM s)", "Column 'A' is ambiguous. Could be Y.A or Z.A."),
        ("STREAM x AS SELECT * FROM (SELECT * FROM s) y JOIN (SELECT * FROM t) y WITHIN 1 HOUR ON y.k = y.k", "(SELECT * FROM t", "Y is there twice"),
        ("STREAM x AS SELECT * FROM s y JOIN (SELECT * FROM t WHERE t.a = y.a) z WITHIN 1 HOUR ON y.k = z.k", "y.a", "'Y' stands outside of this query"),
        ("STREAM x AS SELECT a FROM s UNION ALL SELECT k, a FROM t", "SELECT a", "the first has 1, query 2 has 2"),
        ("STREAM x AS SELECT a FROM s UNION ALL SELECT c FROM t", "SELECT a", "Column A of UNION has several types: INTEGER, STRING"),
        ("STREAM x AS SELECT * FROM (SELECT a FROM s LIMIT 7) y", "(", "LIMIT stands at the end of the whole query"),
        ("STREAM x AS SELECT * FROM (SELECT a FROM s ORDER BY a) y", "a) y", "ORDER BY needs rows that come to an end"),
        ("TABLE x AS SELECT id FROM u UNION ALL SELECT id FROM u", "SELECT id FROM u UNION", "query 1 of it gives a table"),
        (f"TABLE x AS SELECT n FROM {COUNTED} y", None, "Key missing from projection"),
        ("TABLE x AS SELECT n, 1 AS one FROM (SELECT COUNT(*) AS n FROM s) y", None, "The table has no key"),
        ("STREAM x AS SELECT k FROM (SELECT COUNT(*) AS n FROM s GROUP BY k) y", "k FROM (", "SELECT column 'K' cannot be resolved"),
        ("STREAM x AS SELECT * FROM (SELECT k, rowtime FROM s) y", "rowtime", "Reserved column name in select: `ROWTIME`"),
        ("STREAM x AS SELECT * FROM (SELECT k FROM s EMIT FINAL) y", None, "EMIT FINAL is only supported for windowed aggregations"),
    ],
)  # fmt: skip
def test_what_is_refused(made: str, marked: str | None, message: str) -> None:
    text = f"CREATE {made}"
    with pytest.raises(SqlProblem) as caught:
        planned(text, CATALOGUE)
    assert message in caught.value.message
    if marked is not None:
        assert caught.value.position is not None
        assert caught.value.position.column == text.rindex(marked) + 1


@pytest.mark.parametrize(
    ("made", "hosting"),
    [
        ("STREAM x AS SELECT * FROM (SELECT * FROM s WHERE a > 1) y WHERE b = 'x'", Hosting.STATELESS),
        ("STREAM x AS SELECT k, a FROM s UNION ALL SELECT k, a FROM t", Hosting.STATELESS),
        ("TABLE x AS SELECT b, COUNT(*) AS n FROM (SELECT * FROM s WHERE a > 1) y GROUP BY b", Hosting.NATIVE),
        ("TABLE x AS SELECT k, COUNT(*) AS n FROM (SELECT k FROM s UNION ALL SELECT k FROM t) y GROUP BY k", Hosting.NATIVE),
        (f"TABLE x AS SELECT k, n + 1 AS m FROM {COUNTED} y", Hosting.NATIVE),
        (f"TABLE x AS SELECT * FROM {COUNTED} y WHERE n > 1", Hosting.SHARDS),
        (f"TABLE x AS SELECT n, COUNT(*) AS m FROM {COUNTED} y GROUP BY n", Hosting.SHARDS),
    ],
)  # fmt: skip
def test_a_query_that_keeps_nothing_costs_no_state(made: str, hosting: Hosting) -> None:
    assert hosting_of(planned(f"CREATE {made}", CATALOGUE).node) is hosting


def test_rows_are_put_into_a_stream() -> None:
    plan = planned(
        "INSERT INTO t WITH y AS (SELECT k, a, b AS c FROM s) SELECT * FROM y UNION ALL SELECT * FROM t", CATALOGUE
    )
    assert [read.source.name for read in reads_of(plan.node)] == ["S", "T"]


def test_push_queries_may_leave_the_key_out() -> None:
    plan = plan_push(query_of(f"SELECT n FROM {COUNTED} y WHERE n > 1 EMIT CHANGES LIMIT 3"), CATALOGUE)
    assert [column.name for column in plan.columns] == ["N"]
    assert plan_push(query_of("SELECT a FROM s UNION ALL SELECT a FROM t EMIT CHANGES"), CATALOGUE).is_local


def test_the_plan_is_told_step_by_step() -> None:
    text = plan_text(
        planned("CREATE STREAM x AS SELECT k, a FROM s UNION ALL SELECT k, a FROM (SELECT * FROM t) y", CATALOGUE)
    )
    assert [line.strip().split(" ")[0] for line in text.splitlines()] == [
        "Write", "Columns", "All", "Columns", "Read", "Columns", "Columns", "Read"
    ]  # fmt: skip
