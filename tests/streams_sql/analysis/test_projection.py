"""What a query without groups and joins writes: names, keys, formats."""

from __future__ import annotations

import pytest

from streams_sql.analysis.defaults import Defaults
from streams_sql.language.statements import WindowKind
from streams_sql.plan.nodes import FlatMap, Project, Rekey
from streams_sql.problem import SqlProblem
from streams_sql.sources import FormatUse, KeyWindow, TimestampRule
from streams_sql.typed import Cast
from tests.streams_sql.analysis.catalogues import Sources, planned, sources


@pytest.fixture(scope="module")
def catalogue() -> Sources:
    return sources(
        "CREATE STREAM s (k INT KEY, a INT, b BIGINT, ksql_col_0 STRING, st STRUCT<a INT, c STRING>, ar ARRAY<INT>) "
        "WITH (kafka_topic='s', value_format='JSON')",
        "CREATE STREAM two (k INT KEY, l STRING KEY, v INT) WITH (kafka_topic='two', format='JSON')",
        "CREATE STREAM keyless (v INT, h BYTES HEADER('x')) WITH (kafka_topic='keyless', key_format='NONE')",
        "CREATE STREAM windowed (k INT KEY, v INT) WITH (kafka_topic='w', window_type='TUMBLING', window_size='1 SECOND')",
        "CREATE STREAM sink (k INT KEY, x BIGINT, y DECIMAL(4, 2)) WITH (kafka_topic='sink')",
        "CREATE SOURCE STREAM locked (v INT) WITH (kafka_topic='locked')",
        "CREATE TABLE t (k INT PRIMARY KEY, v INT) WITH (kafka_topic='t')",
        "CREATE TABLE wt (k INT PRIMARY KEY, v INT) WITH (kafka_topic='wt', window_type='SESSION')",
    )


SCHEMAS = {
    "SELECT * FROM keyless": "`V` INTEGER, `H` BYTES",
    "SELECT k, v FROM windowed": "`K` INTEGER KEY, `V` INTEGER",
    "SELECT *, WINDOWSTART AS ws FROM windowed": "`K` INTEGER KEY, `V` INTEGER, `WS` BIGINT",
    "SELECT v, l, k FROM two": "`K` INTEGER KEY, `L` STRING KEY, `V` INTEGER",
    "SELECT l AS m, k, v FROM two": "`K` INTEGER KEY, `M` STRING KEY, `V` INTEGER",
    "SELECT x.k AS id, x.a FROM s AS x": "`ID` INTEGER KEY, `A` INTEGER",
    "SELECT k, a + 1, st->c, st->a, a + 2 FROM s": (
        "`K` INTEGER KEY, `KSQL_COL_1` INTEGER, `C` STRING, `A_1` INTEGER, `KSQL_COL_2` INTEGER"
    ),
    "SELECT k, st->* FROM s": "`K` INTEGER KEY, `A` INTEGER, `C` STRING",
    "SELECT k, AS_VALUE(k) AS again FROM s": "`K` INTEGER KEY, `AGAIN` INTEGER",
    "SELECT k, a, EXPLODE(ar) FROM s": "`K` INTEGER KEY, `A` INTEGER, `KSQL_COL_1` INTEGER",
    "SELECT k, EXPLODE(ar) + a AS sum FROM s": "`K` INTEGER KEY, `SUM` INTEGER",
    "SELECT * FROM two PARTITION BY v": "`V` INTEGER KEY, `K` INTEGER, `L` STRING",
    "SELECT v, l AS m, k FROM two PARTITION BY l, v": "`M` STRING KEY, `V` INTEGER KEY, `K` INTEGER",
    "SELECT * FROM two PARTITION BY v + 1": "`KSQL_COL_0` INTEGER KEY, `V` INTEGER, `K` INTEGER, `L` STRING",
    "SELECT v + 1 AS id, l FROM two PARTITION BY v + 1": "`ID` INTEGER KEY, `L` STRING",
    "SELECT * FROM two PARTITION BY NULL": "`K` INTEGER, `L` STRING, `V` INTEGER",
    "SELECT ROWTIME AS rt, k, v FROM two PARTITION BY k": "`K` INTEGER KEY, `RT` BIGINT, `V` INTEGER",
}


@pytest.mark.parametrize(("select", "wanted"), SCHEMAS.items(), ids=SCHEMAS)
def test_columns_are_named_as_in_ksqldb(catalogue: Sources, select: str, wanted: str) -> None:
    properties = "" if "BY NULL" in select else "WITH (key_format='JSON')"
    plan = planned(f"CREATE STREAM made {properties} AS {select}", catalogue)
    assert str(plan.sink.schema) == wanted
    names = [column.name for column in (*plan.sink.schema.key, *plan.sink.schema.value)]
    assert [column.name for column in plan.node.shape.columns][: len(names)] == names


def test_the_steps_of_a_plan_stand_in_order(catalogue: Sources) -> None:
    node = planned(
        "CREATE STREAM made AS SELECT a, EXPLODE(ar) AS e FROM s WHERE a > 1 PARTITION BY a EMIT CHANGES", catalogue
    ).node
    assert isinstance(node, Project)
    assert isinstance(node.input, FlatMap)
    assert isinstance(node.input.input, Rekey)
    assert node.shape.key == ("A",)
    assert [column.name for column in node.shape.columns] == ["A", "E", "ROWTIME"]


def test_the_sink_takes_after_its_source(catalogue: Sources) -> None:
    sink = planned("CREATE STREAM made AS SELECT * FROM two", catalogue, Defaults(topic_prefix="p-")).sink
    assert (sink.name, sink.topic, sink.query_id) == ("MADE", "p-MADE", None)
    assert (sink.key_format, sink.value_format) == (FormatUse("JSON"), FormatUse("JSON"))
    assert planned("CREATE STREAM made AS SELECT * FROM windowed", catalogue).sink.key_window == KeyWindow(
        WindowKind.TUMBLING, 1000
    )


def test_the_sink_is_as_its_properties_say(catalogue: Sources) -> None:
    sink = planned(
        "CREATE STREAM made WITH (kafka_topic='x', value_format='DELIMITED', value_delimiter=';', timestamp='b') "
        "AS SELECT k, b FROM s",
        catalogue,
    ).sink
    assert (sink.topic, sink.value_format) == ("x", FormatUse("DELIMITED", ";"))
    assert sink.timestamp == TimestampRule("B")


def test_a_keyless_source_gives_keys_in_the_default_format(catalogue: Sources) -> None:
    text = "CREATE STREAM made AS SELECT v, 1 AS one FROM keyless PARTITION BY v"
    assert planned(text, catalogue).sink.key_format == FormatUse("KAFKA")
    unkeyed = planned("CREATE STREAM made AS SELECT * FROM s PARTITION BY NULL", catalogue)
    assert unkeyed.sink.key_format == FormatUse("NONE")


def test_inserted_columns_are_cast_to_those_of_the_stream(catalogue: Sources) -> None:
    plan = planned("INSERT INTO sink SELECT k, a AS x, 1.5 AS y FROM s", catalogue)
    assert plan.sink == catalogue.source("SINK")
    assert isinstance(plan.node, Project)
    assert [isinstance(named.expression, Cast) for named in plan.node.columns] == [False, True, True]


WRONG = {
    "STREAM made AS SELECT * FROM nosuch": "NOSUCH does not exist.",
    "STREAM made AS SELECT * FROM `s`": "s does not exist.\nDid you mean S? Hint: try removing double quotes from the source name.",
    "STREAM made AS SELECT a FROM s": (
        "The query used to build `MADE` must include the key column K in its projection (eg, SELECT K...)."
    ),
    "STREAM made AS SELECT v FROM two": "must include the key columns K and L in its projection (eg, SELECT K, L...).",
    "STREAM made AS SELECT k, k AS k2, a FROM s": "The projection contains a key column (`K`) more than once, aliased as: K and K2.",
    "STREAM made AS SELECT k FROM s": "The projection contains no value columns.",
    "STREAM made AS SELECT k, a, b AS a FROM s": "Duplicate value columns found in schema: `A` BIGINT.",
    "STREAM made AS SELECT k, a AS k FROM s": "Value columns clash with key columns: `K`.",
    "STREAM made AS SELECT k, ROWTIME FROM s": "Reserved column name in select: `ROWTIME`.",
    "STREAM made AS SELECT k, a AS ROWTIME FROM s": "`ROWTIME` is a reserved column name.",
    "STREAM made AS SELECT x.* FROM s": "'X' is not a valid stream/table name or alias.",
    "STREAM made AS SELECT k, a->* FROM s": "A is not a STRUCT type, but INTEGER",
    "STREAM made AS SELECT k, a FROM s PARTITION BY b": "must include the partitioning expression B in its projection",
    "STREAM made AS SELECT a FROM s PARTITION BY c": "'C' must be a column in the source schema since PARTITION BY",
    "STREAM made AS SELECT k, a FROM s PARTITION BY a, NULL": "Cannot PARTITION BY multiple columns including NULL",
    "STREAM made AS SELECT * FROM windowed PARTITION BY v": "Implicit repartitioning of windowed sources is not supported.",
    "STREAM made WITH (key_format='JSON') AS SELECT * FROM s PARTITION BY NULL": "Key format specified for stream without key",
    "STREAM made AS SELECT * FROM s PARTITION BY ar": "The 'KAFKA' format does not support type 'ARRAY'",
    "STREAM made AS SELECT * FROM s WINDOW TUMBLING (SIZE 1 SECOND)": "WINDOW clause requires a GROUP BY clause.",
    "STREAM made AS SELECT * FROM s EMIT FINAL": "EMIT FINAL is only supported for windowed aggregations.",
    "TABLE made AS SELECT * FROM s": "Your SELECT query produces a STREAM. Please use CREATE STREAM AS SELECT",
    "STREAM made AS SELECT * FROM t": "Your SELECT query produces a TABLE. Please use CREATE TABLE AS SELECT",
    "TABLE made AS SELECT * FROM wt": "KSQL does not support persistent queries on windowed tables.",
    "TABLE made AS SELECT k, EXPLODE(ARRAY[v]) FROM t": "Table source is not supported with table functions",
    "STREAM made AS SELECT k, CASE WHEN a = 1 THEN EXPLODE(ar) END FROM s": "Table functions cannot be used in CASE",
    "STREAM made AS SELECT k, EXPLODE(ARRAY[EXPLODE(ar)]) FROM s": "Table functions cannot be nested: EXPLODE(EXPLODE())",
    "STREAM made AS SELECT k, EXPLODE(a) FROM s": "Function 'explode' does not accept parameters (INTEGER).",
    "STREAM made AS SELECT k, a FROM s WHERE EXPLODE(ar) = 1": "Table functions cannot be used here: EXPLODE",
    "STREAM made WITH (window_type='SESSION') AS SELECT * FROM s": "Invalid config variable(s) in the WITH clause: WINDOW_TYPE",
    "STREAM made WITH (timestamp='z') AS SELECT * FROM s": "does not exist in the schema: 'Z'",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items(), ids=WRONG)
def test_what_cannot_be_written_is_refused(catalogue: Sources, text: str, message: str) -> None:
    with pytest.raises(SqlProblem) as caught:
        planned(f"CREATE {text}", catalogue)
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nosuch SELECT * FROM s", "Source `NOSUCH` does not exist."),
        ("t SELECT * FROM t", "INSERT INTO can only be used to insert into a stream. T is a table."),
        ("locked SELECT v FROM t", "Cannot insert into read-only stream: LOCKED"),
        ("keyless SELECT v FROM keyless", "Cannot insert into KEYLESS because it has header columns"),
        ("sink SELECT k, v AS x, 1 AS y FROM t", "type is KSTREAM but select query result is KTABLE"),
        (
            "sink SELECT k, a FROM s",
            (
                "Incompatible schema between results and sink.\nResult schema is `K` INTEGER KEY, `A` INTEGER\nSink schema is "
                "`K` INTEGER KEY, `X` BIGINT, `Y` DECIMAL(4, 2)"
            ),
        ),
        ("sink SELECT k, a AS x, 1.5 AS y FROM s EMIT CHANGES LIMIT 1", "LIMIT is not possible here"),
        ("sink SELECT k, a AS x, 123.5 AS y FROM s", "Incompatible schema between results and sink."),
    ],
)
def test_what_cannot_be_inserted_is_refused(catalogue: Sources, text: str, message: str) -> None:
    with pytest.raises(SqlProblem) as caught:
        planned(f"INSERT INTO {text}", catalogue)
    assert message in caught.value.message
