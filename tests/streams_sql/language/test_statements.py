"""Statements: what each text says."""

from __future__ import annotations

import pytest

from streams_sql.language.expressions import Binary, ColumnName, CustomType, FunctionCall, Literal
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import (
    ChangeQuery,
    ColumnDefinition,
    ColumnRole,
    CreateAsSelect,
    CreateSource,
    DefineVariable,
    DescribeFunction,
    DescribeSource,
    DescribeSources,
    DropSource,
    Emit,
    Explain,
    InsertSelect,
    InsertValues,
    Join,
    JoinKind,
    Kind,
    Listed,
    Print,
    Query,
    QueryAction,
    Relation,
    SelectAll,
    SelectColumn,
    SetProperty,
    Show,
    Statement,
    UndefineVariable,
    UnsetProperty,
    Window,
    WindowKind,
    Within,
)
from streams_sql.sql_types import BYTES, INTEGER, STRING

S = Relation("S", "S")
T = Relation("T", "T")
A, B = ColumnName("A"), ColumnName("B")
SELECT_ALL = Query((SelectAll(),), S)
ON = Binary("=", ColumnName("A", "S"), ColumnName("B", "T"))
SECOND_MS, HOUR_MS, DAY_MS = 1_000, 3_600_000, 86_400_000


def selected(**clauses: object) -> Query:
    return Query((SelectColumn(A),), S, **clauses)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("SELECT * FROM s;", SELECT_ALL),
        ("select a from `s`", Query((SelectColumn(A),), Relation("s", "s"))),
        ("SELECT a b, b AS `c`, a emit, s.*, a->*, * FROM s AS t", Query(
            (
                SelectColumn(A, "B"),
                SelectColumn(B, "c"),
                SelectColumn(A, "EMIT"),
                SelectAll("S"),
                SelectAll(struct=A),
                SelectAll(),
            ),
            Relation("S", "T"),
        )),
        ("SELECT a FROM s EMIT CHANGES", selected(emit=Emit.CHANGES)),
        ("SELECT a FROM s EMIT FINAL LIMIT 3", selected(emit=Emit.FINAL, limit=3)),
        ("SELECT a FROM s WHERE a = b GROUP BY a, b HAVING a LIMIT 0", selected(
            where=Binary("=", A, B), group_by=(A, B), having=A, limit=0
        )),
        ("SELECT a FROM s GROUP BY (a, b)", selected(group_by=(A, B))),
        ("SELECT a FROM s GROUP BY (a)", selected(group_by=(A,))),
        ("SELECT a FROM s GROUP BY (a) + b", selected(group_by=(Binary("+", A, B),))),
        ("SELECT a FROM s PARTITION BY (a, b)", selected(partition_by=(A, B))),
        ("SELECT a FROM s PARTITION BY null", selected(partition_by=(Literal(None),))),
        ("SELECT a FROM s WINDOW TUMBLING (SIZE 1 HOUR)", selected(window=Window(WindowKind.TUMBLING, HOUR_MS))),
        ("SELECT a FROM s WINDOW w tumbling (size 5 seconds, retention 1 days, grace period 0 milliseconds)", selected(
            window=Window(WindowKind.TUMBLING, 5 * SECOND_MS, retention_ms=DAY_MS, grace_ms=0)
        )),
        ("SELECT a FROM s WINDOW HOPPING (SIZE 2 HOURS, ADVANCE BY 1 HOUR, GRACE PERIOD 1 DAY)", selected(
            window=Window(WindowKind.HOPPING, 2 * HOUR_MS, HOUR_MS, grace_ms=DAY_MS)
        )),
        ("SELECT a FROM s WINDOW SESSION (60 SECONDS, RETENTION 1 DAY)", selected(
            window=Window(WindowKind.SESSION, 60 * SECOND_MS, retention_ms=DAY_MS)
        )),
        ("SELECT a FROM s JOIN t ON s.a = t.b", selected(joins=(Join(JoinKind.INNER, T, ON),))),
        ("SELECT a FROM s INNER JOIN t x ON s.a = t.b WHERE a", selected(
            joins=(Join(JoinKind.INNER, Relation("T", "X"), ON),), where=A
        )),
        ("SELECT a FROM s LEFT JOIN t WITHIN 1 HOUR ON s.a = t.b", selected(
            joins=(Join(JoinKind.LEFT, T, ON, Within(HOUR_MS, HOUR_MS)),)
        )),
        ("SELECT a FROM s FULL OUTER JOIN t WITHIN (1 HOUR, 1 DAY) GRACE PERIOD 1 SECOND ON s.a = t.b", selected(
            joins=(Join(JoinKind.OUTER, T, ON, Within(HOUR_MS, DAY_MS, SECOND_MS)),)
        )),
        ("SELECT a FROM s RIGHT OUTER JOIN t ON s.a = t.b LEFT OUTER JOIN t ON s.a = t.b", selected(
            joins=(Join(JoinKind.RIGHT, T, ON), Join(JoinKind.LEFT, T, ON))
        )),
    ],
)  # fmt: skip
def test_a_query(text: str, query: Query) -> None:
    assert parse_statement(text) == query


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        (
            "CREATE STREAM s (a VARCHAR(255), b INT(11), c my_type(3, STRING))",
            CreateSource(
                Kind.STREAM,
                "S",
                (
                    ColumnDefinition("A", STRING),
                    ColumnDefinition("B", INTEGER),
                    ColumnDefinition("C", CustomType("MY_TYPE")),
                ),
            ),
        ),
        ("CREATE STREAM s;", CreateSource(Kind.STREAM, "S")),
        (
            """CREATE OR REPLACE SOURCE TABLE IF NOT EXISTS `t-1` (id INT PRIMARY KEY, `v` VARCHAR, h BYTES HEADER(' x '))
               WITH (kafka_topic = 'T', 'value_format'='json', PARTITIONS=-1, wrap_single_value=false)""",
            CreateSource(
                Kind.TABLE,
                "t-1",
                (
                    ColumnDefinition("ID", INTEGER, ColumnRole.PRIMARY_KEY),
                    ColumnDefinition("v", STRING),
                    ColumnDefinition("H", BYTES, ColumnRole.HEADERS, "x"),
                ),
                {
                    "KAFKA_TOPIC": Literal("T"),
                    "VALUE_FORMAT": Literal("json"),
                    "PARTITIONS": Literal(-1),
                    "WRAP_SINGLE_VALUE": Literal(False),
                },
                or_replace=True,
                if_not_exists=True,
                is_source=True,
            ),
        ),
        (
            "CREATE STREAM s (key INT KEY, headers BYTES HEADERS)",
            CreateSource(
                Kind.STREAM,
                "S",
                (
                    ColumnDefinition("KEY", INTEGER, ColumnRole.KEY),
                    ColumnDefinition("HEADERS", BYTES, ColumnRole.HEADERS),
                ),
            ),
        ),
        ("CREATE STREAM x AS SELECT * FROM s", CreateAsSelect(Kind.STREAM, "X", SELECT_ALL)),
        (
            "CREATE OR REPLACE TABLE IF NOT EXISTS x WITH (partitions=2) AS SELECT * FROM s",
            CreateAsSelect(
                Kind.TABLE, "X", SELECT_ALL, {"PARTITIONS": Literal(2)}, or_replace=True, if_not_exists=True
            ),
        ),
        ("INSERT INTO x SELECT * FROM s", InsertSelect("X", SELECT_ALL)),
        (
            "INSERT INTO x WITH (query_id='q') SELECT * FROM s",
            InsertSelect("X", SELECT_ALL, {"QUERY_ID": Literal("q")}),
        ),
        ("INSERT INTO x VALUES (1, 'a')", InsertValues("X", (), (Literal(1), Literal("a")))),
        (
            "INSERT INTO x (a, `b`) VALUES (-1, UCASE('x'));",
            InsertValues("X", ("A", "b"), (Literal(-1), FunctionCall("UCASE", (Literal("x"),)))),
        ),
        ("INSERT INTO x VALUES ()", InsertValues("X", (), ())),
        ("DROP STREAM s", DropSource(Kind.STREAM, "S")),
        ("DROP TABLE IF EXISTS s DELETE TOPIC;", DropSource(Kind.TABLE, "S", if_exists=True, delete_topic=True)),
        ("TERMINATE csas_1", ChangeQuery(QueryAction.TERMINATE, "CSAS_1")),
        ("PAUSE ALL", ChangeQuery(QueryAction.PAUSE, None)),
        ("RESUME `q`", ChangeQuery(QueryAction.RESUME, "q")),
        ("SHOW PROPERTIES", Show(Listed.PROPERTIES)),
        ("LIST TOPICS", Show(Listed.TOPICS)),
        ("SHOW ALL TOPICS EXTENDED", Show(Listed.ALL_TOPICS, is_extended=True)),
        ("list streams extended;", Show(Listed.STREAMS, is_extended=True)),
        ("SHOW TABLES", Show(Listed.TABLES)),
        ("SHOW FUNCTIONS", Show(Listed.FUNCTIONS)),
        ("SHOW TYPES", Show(Listed.TYPES)),
        ("SHOW VARIABLES", Show(Listed.VARIABLES)),
        ("SHOW QUERIES EXTENDED", Show(Listed.QUERIES, is_extended=True)),
        ("DESCRIBE s", DescribeSource("S")),
        ("DESCRIBE s EXTENDED", DescribeSource("S", is_extended=True)),
        ("DESCRIBE EXTENDED s", DescribeSource("S", is_extended=True)),
        ("DESCRIBE STREAMS EXTENDED", DescribeSources(Kind.STREAM, is_extended=True)),
        ("DESCRIBE TABLES", DescribeSources(Kind.TABLE)),
        ("DESCRIBE FUNCTION abs", DescribeFunction("ABS")),
        ("DESCRIBE FUNCTION `my_fn`", DescribeFunction("my_fn")),
        ("DESCRIBE function;", DescribeSource("FUNCTION")),
        ("DESCRIBE function EXTENDED", DescribeSource("FUNCTION", is_extended=True)),
        ("EXPLAIN ctas_1", Explain(query_id="CTAS_1")),
        ("EXPLAIN show", Explain(query_id="SHOW")),
        ("EXPLAIN SELECT * FROM s", Explain(statement=SELECT_ALL)),
        ("PRINT orders", Print("orders")),
        ("PRINT 'a.b' FROM BEGINNING SAMPLE 2 LIMIT 3", Print("a.b", from_beginning=True, interval=2, limit=3)),
        ("PRINT `T` INTERVAL 5", Print("T", interval=5)),
        ("SET 'auto.offset.reset' = 'earliest'", SetProperty("auto.offset.reset", "earliest")),
        ("UNSET 'a'", UnsetProperty("a")),
        ("DEFINE fmt = 'J''SON'", DefineVariable("fmt", "J'SON")),
        ("DEFINE topic = ''", DefineVariable("topic", "")),
        ("UNDEFINE fmt", UndefineVariable("fmt")),
        ("-- first\n/* second; */ SHOW QUERIES; -- last", Show(Listed.QUERIES)),
    ],
)
def test_a_statement(text: str, statement: Statement) -> None:
    assert parse_statement(text) == statement
