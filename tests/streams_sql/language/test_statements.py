"""Statements: what each text says."""

from __future__ import annotations

from typing import cast

import pytest

from streams_sql.language.expressions import Binary, ColumnName, CustomType, FunctionCall, Literal
from streams_sql.language.external_statements import (
    AssertSchema,
    AssertTopic,
    ConnectorKind,
    CreateConnector,
    DescribeConnector,
    DropConnector,
    ShowConnectorPlugins,
    ShowConnectors,
)
from streams_sql.language.function_statements import CreateFunction, DropFunction, FunctionKind, FunctionParameter
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import (
    Ago,
    AlterSource,
    AlterSystem,
    AssertRows,
    AssertSource,
    AtOffset,
    AtTime,
    ChangeQuery,
    ColumnDefinition,
    ColumnRole,
    CreateAsSelect,
    CreateSource,
    CreateType,
    DefineVariable,
    DescribeFunction,
    DescribeSource,
    DescribeSources,
    DropSource,
    DropType,
    Emit,
    Explain,
    InsertSelect,
    InsertValues,
    Join,
    JoinKind,
    Kind,
    Print,
    Query,
    QueryAction,
    Relation,
    SelectAll,
    SelectColumn,
    SetProperty,
    Show,
    ShowErrors,
    ShowTarget,
    SortItem,
    Statement,
    TopicRange,
    UndefineVariable,
    UnsetProperty,
    Window,
    WindowKind,
    Within,
)
from streams_sql.language.table_statements import CreateIndex, DeleteRows, DropIndex
from streams_sql.sql_types import BIGINT, BYTES, INTEGER, STRING, Array, SqlType

S = Relation("S", "S")
T = Relation("T", "T")
A, B = ColumnName("A"), ColumnName("B")
SELECT_ALL = Query((SelectAll(),), S)
ON = Binary("=", ColumnName("A", "S"), ColumnName("B", "T"))
SECOND_MS, HOUR_MS, DAY_MS = 1_000, 3_600_000, 86_400_000


def selected(**clauses: object) -> Query:
    return Query((SelectColumn(A),), S, **clauses)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("s PARTITION 0, 2", Relation("S", "S", range=TopicRange(partitions=(0, 2)))),
        ("`a.b-c` x BETWEEN OFFSET 10 AND 20", Relation("a.b-c", "X", range=TopicRange(since=AtOffset(10), until=AtOffset(21)))),
        ("s SINCE 15 MINUTES", Relation("S", "S", range=TopicRange(since=Ago(900_000)))),
        ("s AS x SINCE BEGINNING UNTIL 1 HOUR", Relation("S", "X", range=TopicRange(since=AtOffset(0), until=Ago(HOUR_MS)))),
        ("s SINCE OFFSET 3 UNTIL OFFSET 5", Relation("S", "S", range=TopicRange(since=AtOffset(3), until=AtOffset(5)))),
        ("s AS OF TIMESTAMP '2026-05'", Relation("S", "S", range=TopicRange(until=AtTime("2026-05", is_behind=True)))),
        ("s BETWEEN TIMESTAMP '2026' AND 1800000000000", Relation(
            "S", "S", range=TopicRange(since=AtTime("2026"), until=AtTime("1800000000000", True, True)),
        )),
        ("s PARTITION 1 TAIL 20", Relation("S", "S", range=TopicRange(partitions=(1,), tail=20))),
        ("TOPIC('orders')", Relation("orders", "ORDERS", is_topic=True)),
        ("topic('a.b') AS x TAIL 1", Relation("a.b", "X", is_topic=True, range=TopicRange(tail=1))),
        ("topic('a.b')", Relation("a.b", "a.b", is_topic=True)),
        ("s tail", Relation("S", "TAIL")),
        ("s since", Relation("S", "SINCE")),
        ("s partition", Relation("S", "PARTITION")),
        ("s AS of", Relation("S", "OF")),
    ],
)  # fmt: skip
def test_what_a_query_reads(text: str, relation: Relation) -> None:
    assert parse_statement(f"SELECT * FROM {text} EMIT CHANGES;") == Query((SelectAll(),), relation, emit=Emit.CHANGES)
    assert parse_statement(f"SELECT a FROM s JOIN {text} ON a;") == selected(joins=(Join(JoinKind.INNER, relation, A),))


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
        ("SELECT DISTINCT a FROM s", selected(is_distinct=True)),
        ("SELECT a FROM s ORDER BY a", selected(order_by=(SortItem(A),))),
        ("SELECT a FROM s HAVING b ORDER BY 1 DESC, a + b ASC NULLS LAST, b NULLS FIRST LIMIT 3 OFFSET 4", selected(
            having=B,
            order_by=(
                SortItem(Literal(1), is_descending=True),
                SortItem(Binary("+", A, B), has_nulls_first=False),
                SortItem(B, has_nulls_first=True),
            ),
            limit=3,
            offset=4,
        )),
        ("SELECT a FROM s OFFSET 4 LIMIT 3", selected(limit=3, offset=4)),
        ("SELECT a FROM s ORDER BY a EMIT CHANGES", selected(emit=Emit.CHANGES, order_by=(SortItem(A),))),
        ("SELECT a FROM s EMIT CHANGES ORDER BY a", selected(emit=Emit.CHANGES, order_by=(SortItem(A),))),
        ("SELECT a order, b offset FROM s order", Query(
            (SelectColumn(A, "ORDER"), SelectColumn(B, "OFFSET")), Relation("S", "ORDER")
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
        ("INSERT INTO x VALUES (1, 'a')", InsertValues("X", (), ((Literal(1), Literal("a")),))),
        (
            "INSERT INTO x (a, `b`) VALUES (-1, UCASE('x'));",
            InsertValues("X", ("A", "b"), ((Literal(-1), FunctionCall("UCASE", (Literal("x"),))),)),
        ),
        ("INSERT INTO x VALUES ()", InsertValues("X", (), ((),))),
        ("INSERT INTO x VALUES (1), (2)", InsertValues("X", (), ((Literal(1),), (Literal(2),)))),
        (
            "CREATE TYPE IF NOT EXISTS a AS ARRAY<b>",
            CreateType("A", Array(cast("SqlType", CustomType("B"))), if_not_exists=True),
        ),
        ("CREATE TYPE `a` AS VARCHAR", CreateType("a", STRING)),
        (
            "CREATE FUNCTION f (a INT, b ARRAY<STRING>) RETURNS BIGINT LANGUAGE PYTHON AS 'a.b:C.d';",
            CreateFunction(
                FunctionKind.SCALAR,
                "F",
                (FunctionParameter("A", INTEGER), FunctionParameter("B", Array(STRING))),
                BIGINT,
                ("a.b", "C.d"),
            ),
        ),
        (
            "CREATE OR REPLACE AGGREGATE FUNCTION IF NOT EXISTS f () RETURNS INT LANGUAGE PYTHON STRICT AS $$it's;$$",
            CreateFunction(
                FunctionKind.AGGREGATE,
                "F",
                (),
                INTEGER,
                None,
                "it's;",
                or_replace=True,
                if_not_exists=True,
                is_strict=True,
            ),
        ),
        (
            "CREATE TABLE FUNCTION `f` () RETURNS INT LANGUAGE PYTHON CALLED ON NULL INPUT AS 'a:b'",
            CreateFunction(
                FunctionKind.TABLE,
                "F",
                (),
                INTEGER,
                ("a", "b"),
            ),
        ),
        ("CREATE TABLE function (a INT)", CreateSource(Kind.TABLE, "FUNCTION", (ColumnDefinition("A", INTEGER),))),
        ("DROP FUNCTION IF EXISTS f", DropFunction("F", if_exists=True)),
        ("DROP TYPE IF EXISTS a", DropType("A", if_exists=True)),
        (
            "ALTER STREAM s ADD COLUMN a INT, ADD `b` VARCHAR",
            AlterSource(Kind.STREAM, "S", (ColumnDefinition("A", INTEGER), ColumnDefinition("b", STRING))),
        ),
        ("ALTER SYSTEM 'a.b'='c'", AlterSystem("a.b", "c")),
        (
            """CREATE SOURCE CONNECTOR IF NOT EXISTS `c` WITH ('connector.class'='x', "tasks.max"=1, topics='T', `a.b`=TRUE)""",
            CreateConnector(
                ConnectorKind.SOURCE,
                "c",
                {"connector.class": "x", "tasks.max": "1", "topics": "T", "a.b": "true"},
                if_not_exists=True,
            ),
        ),
        ("CREATE SINK CONNECTOR c WITH (a=1.50)", CreateConnector(ConnectorKind.SINK, "C", {"a": "1.50"})),
        ("DROP CONNECTOR IF EXISTS c", DropConnector("C", if_exists=True)),
        ("DESCRIBE CONNECTOR `c`", DescribeConnector("c")),
        ("SHOW CONNECTORS", ShowConnectors()),
        ("LIST SOURCE CONNECTORS", ShowConnectors(ConnectorKind.SOURCE)),
        ("SHOW SINK CONNECTORS", ShowConnectors(ConnectorKind.SINK)),
        ("SHOW CONNECTOR PLUGINS", ShowConnectorPlugins()),
        ("ASSERT TOPIC my_topic", AssertTopic("my_topic")),
        (
            "ASSERT NOT EXISTS TOPIC 'a-b' WITH (partitions=2) TIMEOUT 3 SECONDS",
            AssertTopic("a-b", False, {"PARTITIONS": Literal(2)}, 3_000),
        ),
        ("ASSERT SCHEMA SUBJECT 'a-value' ID 3 TIMEOUT 1 MINUTE", AssertSchema("a-value", 3, timeout_ms=60_000)),
        ("ASSERT NOT EXISTS SCHEMA ID 3", AssertSchema(None, 3, exists=False)),
        (
            "ASSERT VALUES s (a, `b`) VALUES (1, 'x'), (2, NULL)",
            AssertRows(InsertValues("S", ("A", "b"), ((Literal(1), Literal("x")), (Literal(2), Literal(None))))),
        ),
        ("ASSERT NULL VALUES s KEY (1)", AssertRows(InsertValues("S", (), ((Literal(1),),)), is_deletion=True)),
        (
            "ASSERT TABLE t (k INT PRIMARY KEY) WITH (kafka_topic='x')",
            AssertSource(
                CreateSource(
                    Kind.TABLE,
                    "T",
                    (ColumnDefinition("K", INTEGER, ColumnRole.PRIMARY_KEY),),
                    {"KAFKA_TOPIC": Literal("x")},
                )
            ),
        ),
        ("DROP STREAM s", DropSource(Kind.STREAM, "S")),
        ("CREATE INDEX by_a ON t (a, `b`)", CreateIndex("BY_A", "T", ("A", "b"))),
        ("CREATE INDEX IF NOT EXISTS i ON t (a)", CreateIndex("I", "T", ("A",), if_not_exists=True)),
        ("DROP INDEX i", DropIndex("I")),
        ("DROP INDEX IF EXISTS i", DropIndex("I", if_exists=True)),
        ("SHOW INDEXES", Show(ShowTarget.INDEXES)),
        ("DELETE FROM t WHERE a = b", DeleteRows("T", Binary("=", A, B))),
        ("DROP TABLE IF EXISTS s DELETE TOPIC;", DropSource(Kind.TABLE, "S", if_exists=True, delete_topic=True)),
        ("TERMINATE csas_1", ChangeQuery(QueryAction.TERMINATE, "CSAS_1")),
        ("PAUSE ALL", ChangeQuery(QueryAction.PAUSE, None)),
        ("RESUME `q`", ChangeQuery(QueryAction.RESUME, "q")),
        ("SHOW ERRORS", ShowErrors()),
        ("LIST ERRORS FOR ctas_x_1 LIMIT 5;", ShowErrors("ctas_x_1", 5)),
        ("SHOW ERRORS OF `transient_A_1`", ShowErrors("transient_A_1")),
        ("SHOW PROPERTIES", Show(ShowTarget.PROPERTIES)),
        ("LIST TOPICS", Show(ShowTarget.TOPICS)),
        ("SHOW ALL TOPICS EXTENDED", Show(ShowTarget.ALL_TOPICS, is_extended=True)),
        ("list streams extended;", Show(ShowTarget.STREAMS, is_extended=True)),
        ("SHOW TABLES", Show(ShowTarget.TABLES)),
        ("SHOW FUNCTIONS", Show(ShowTarget.FUNCTIONS)),
        ("SHOW TYPES", Show(ShowTarget.TYPES)),
        ("SHOW VARIABLES", Show(ShowTarget.VARIABLES)),
        ("SHOW QUERIES EXTENDED", Show(ShowTarget.QUERIES, is_extended=True)),
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
        ("-- first\n/* second; */ SHOW QUERIES; -- last", Show(ShowTarget.QUERIES)),
    ],
)
def test_a_statement(text: str, statement: Statement) -> None:
    assert parse_statement(text) == statement
