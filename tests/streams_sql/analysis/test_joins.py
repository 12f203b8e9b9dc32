"""Joins: what may be joined, on what, and which column is the key."""

from __future__ import annotations

import pytest

from streams_sql.language.statements import JoinKind, WindowKind
from streams_sql.plan.nodes import ForeignKeyJoin, LookupJoin, Node, Project, StreamJoin, TableJoin
from streams_sql.plan.text import expression_text
from streams_sql.problem import SqlProblem
from streams_sql.sources import KeyWindow
from tests.streams_sql.analysis.catalogues import Sources, planned, sources


@pytest.fixture(scope="module")
def catalogue() -> Sources:
    return sources(
        "CREATE STREAM l (a INT KEY, b INT, c INT) WITH (kafka_topic='l')",
        "CREATE STREAM r (a INT KEY, b INT, d STRING) WITH (kafka_topic='r')",
        "CREATE STREAM x (e BIGINT KEY, rowkey INT) WITH (kafka_topic='x')",
        "CREATE STREAM maps (k INT KEY, m MAP<STRING, INT>) WITH (kafka_topic='m')",
        "CREATE STREAM more (k2 INT KEY, m2 MAP<STRING, INT>) WITH (kafka_topic='m2')",
        "CREATE STREAM w (a INT KEY, v INT) WITH (kafka_topic='w', window_type='TUMBLING', window_size='1 SECOND')",
        "CREATE STREAM v (a INT KEY, v INT) WITH (kafka_topic='v', window_type='TUMBLING', window_size='1 SECOND')",
        "CREATE STREAM u (a INT KEY, v INT) WITH (kafka_topic='u', window_type='SESSION')",
        "CREATE STREAM y (a INT KEY, v INT) WITH (kafka_topic='y', window_type='SESSION')",
        "CREATE STREAM z (a INT KEY, v INT) WITH (kafka_topic='z', window_type='HOPPING', window_size='2 SECONDS')",
        "CREATE STREAM kv (k INT KEY, v INT) WITH (kafka_topic='kv', value_format='KAFKA')",
        "CREATE TABLE t (id INT PRIMARY KEY, b INT) WITH (kafka_topic='t')",
        "CREATE TABLE o (id INT PRIMARY KEY, f INT, n BIGINT) WITH (kafka_topic='o')",
        "CREATE TABLE q (id INT PRIMARY KEY, p INT) WITH (kafka_topic='q')",
        "CREATE TABLE two (i INT PRIMARY KEY, j INT PRIMARY KEY, v INT) WITH (kafka_topic='two', key_format='JSON')",
    )


SCHEMAS = {
    "SELECT * FROM l JOIN r WITHIN 1 SECOND ON l.a = r.a": (
        "`L_A` INTEGER KEY, `L_B` INTEGER, `L_C` INTEGER, `R_A` INTEGER, `R_B` INTEGER, `R_D` STRING"
    ),
    "SELECT r.a, l.b, c, d FROM l JOIN r WITHIN 1 SECOND ON l.a = r.a": "`R_A` INTEGER KEY, `L_B` INTEGER, `C` INTEGER, `D` STRING",
    "SELECT l.a AS id, d FROM l LEFT JOIN r WITHIN 1 SECOND ON r.b = l.a": "`ID` INTEGER KEY, `D` STRING",
    "SELECT l.*, d FROM l JOIN r WITHIN 1 SECOND ON l.a = r.a": "`L_A` INTEGER KEY, `L_B` INTEGER, `L_C` INTEGER, `D` STRING",
    "SELECT ROWKEY, c, d FROM l FULL OUTER JOIN r WITHIN 1 SECOND ON l.a = r.a": "`ROWKEY` INTEGER KEY, `C` INTEGER, `D` STRING",
    "SELECT ROWKEY AS id, c FROM l JOIN r WITHIN 1 SECOND ON ABS(l.a) = ABS(r.a)": "`ID` INTEGER KEY, `C` INTEGER",
    "SELECT ROWKEY_1, c FROM l JOIN x WITHIN 1 SECOND ON ABS(l.a) = ABS(rowkey)": "`ROWKEY_1` INTEGER KEY, `C` INTEGER",
    "SELECT id, c, t.b FROM l JOIN t ON l.a = t.id": "`ID` INTEGER KEY, `C` INTEGER, `T_B` INTEGER",
    "SELECT id, a, p.ROWTIME AS moment FROM l p LEFT JOIN t q ON id = p.b + 1": "`ID` INTEGER KEY, `A` INTEGER, `MOMENT` BIGINT",
    "SELECT ROWKEY, c FROM l JOIN r WITHIN 1 SECOND ON DATEADD(DAYS, 1, FROM_DAYS(l.a)) = FROM_DAYS(r.a)": (
        "`ROWKEY` DATE KEY, `C` INTEGER"
    ),
    "SELECT c, l.a, d FROM l JOIN r WITHIN 1 SECOND ON l.a = r.a PARTITION BY c": "`C` INTEGER KEY, `L_A` INTEGER, `D` STRING",
}


@pytest.mark.parametrize(("select", "wanted"), SCHEMAS.items(), ids=SCHEMAS)
def test_columns_of_joins_are_named_as_in_ksqldb(catalogue: Sources, select: str, wanted: str) -> None:
    made = planned(f"CREATE STREAM made WITH (key_format='JSON') AS {select}", catalogue)
    assert str(made.sink.schema) == wanted


def test_a_join_of_streams(catalogue: Sources) -> None:
    plan = planned(
        "CREATE STREAM made AS SELECT l.a, d FROM l RIGHT JOIN r WITHIN (1 SECOND, 2 SECONDS) GRACE PERIOD 3 SECONDS ON r.b = l.a",
        catalogue,
    )
    assert isinstance(plan.node, Project)
    join = plan.node.input
    assert isinstance(join, StreamJoin)
    assert (join.kind, expression_text(join.left_key), expression_text(join.right_key)) == (
        JoinKind.RIGHT,
        "`L_A`",
        "`R_B`",
    )
    assert (join.within.before_ms, join.within.after_ms, join.within.grace_ms) == (1000, 2000, 3000)
    names = [column.name for column in join.shape.columns]
    assert names[:6] == ["L_A", "L_B", "L_C", "L_ROWTIME", "L_ROWPARTITION", "L_ROWOFFSET"]
    assert names[-1] == "ROWTIME"
    assert names.count("ROWTIME") == 1
    assert join.left.shape.columns[-1].name == "ROWTIME"


KEYS = {
    "SELECT l.a, d FROM l LEFT JOIN r WITHIN 1 SECOND ON l.a = r.a": "`L_A`",
    "SELECT r.a, d FROM l LEFT JOIN r WITHIN 1 SECOND ON l.a = r.a": "`L_A`",
    "SELECT l.a, d FROM l RIGHT JOIN r WITHIN 1 SECOND ON l.a = r.a": "`R_A`",
    "SELECT ROWKEY, d FROM l FULL JOIN r WITHIN 1 SECOND ON l.a = r.a": "CASE WHEN (`L_A` IS NOT NULL) THEN `L_A` ELSE `R_A` END",
    "SELECT id, c FROM l LEFT JOIN t ON id = a + 1": "(`L_A` + 1)",
}


@pytest.mark.parametrize(("select", "wanted"), KEYS.items(), ids=KEYS)
def test_the_key_is_that_of_the_side_that_is_there(catalogue: Sources, select: str, wanted: str) -> None:
    node = planned(f"CREATE STREAM made AS {select}", catalogue).node
    assert isinstance(node, Project)
    assert expression_text(node.columns[0].expression) == wanted


def test_a_stream_is_looked_up_in_a_table(catalogue: Sources) -> None:
    node = planned("CREATE STREAM made AS SELECT id, c FROM l JOIN t ON id = l.b", catalogue).node
    assert isinstance(node, Project)
    join = node.input
    assert isinstance(join, LookupJoin)
    assert (join.kind, expression_text(join.stream_key), join.table.shape.key) == (JoinKind.INNER, "`L_B`", ("T_ID",))


MANY = {
    "TABLE made AS SELECT t.id, t.b, f FROM t JOIN o ON t.id = o.id": "`T_ID` INTEGER KEY, `B` INTEGER, `F` INTEGER",
    "TABLE made AS SELECT ROWKEY, f FROM t FULL JOIN o ON t.id = o.id": "`ROWKEY` INTEGER KEY, `F` INTEGER",
    "TABLE made AS SELECT o.id, f, t.b FROM o LEFT JOIN t ON f = t.id": "`O_ID` INTEGER KEY, `F` INTEGER, `B` INTEGER",
    "TABLE made AS SELECT two.i, two.j, t.id FROM two JOIN t ON two.v = t.id": "`I` INTEGER KEY, `J` INTEGER KEY, `ID` INTEGER",
    "TABLE made AS SELECT t.id, n, p FROM t JOIN o ON t.id = o.id LEFT JOIN q ON o.id = q.id": (
        "`T_ID` INTEGER KEY, `N` BIGINT, `P` INTEGER"
    ),
    "TABLE made AS SELECT q.id, f FROM o JOIN t ON f = t.id JOIN q ON q.id = o.id": "`Q_ID` INTEGER KEY, `F` INTEGER",
    "STREAM made AS SELECT r.a, id, x.e FROM l JOIN r WITHIN 1 SECOND ON l.a = r.a JOIN t ON r.a = id "
    "JOIN x WITHIN 2 SECONDS ON rowkey = t.id": "`R_A` INTEGER KEY, `ID` INTEGER, `E` BIGINT",
    "STREAM made AS SELECT d, e, c FROM l JOIN r WITHIN 1 SECOND ON l.a = r.a JOIN x WITHIN 1 SECOND ON CAST(l.c AS BIGINT) = e": (
        "`E` BIGINT KEY, `D` STRING, `C` INTEGER"
    ),
    "STREAM made AS SELECT w.a, w.v, v.v FROM w JOIN v WITHIN 1 SECOND ON w.a = v.a": (
        "`W_A` INTEGER KEY, `W_V` INTEGER, `V_V` INTEGER"
    ),
}


@pytest.mark.parametrize(("text", "wanted"), MANY.items(), ids=MANY)
def test_tables_and_many_sources_are_joined_as_in_ksqldb(catalogue: Sources, text: str, wanted: str) -> None:
    assert str(planned(f"CREATE {text}", catalogue).sink.schema) == wanted


def node_of(text: str, catalogue: Sources) -> Node:
    node = planned(f"CREATE {text}", catalogue).node
    assert isinstance(node, Project)
    return node.input


def test_a_join_of_tables_is_by_their_keys(catalogue: Sources) -> None:
    inner = node_of("TABLE made AS SELECT t.id, f FROM t JOIN o ON o.id = t.id", catalogue)
    assert isinstance(inner, TableJoin)
    assert (inner.kind, inner.shape.key, inner.shape.is_table) == (JoinKind.INNER, ("T_ID",), True)
    right = node_of("TABLE made AS SELECT t.id, f FROM t RIGHT JOIN o ON o.id = t.id", catalogue)
    assert right.shape.key == ("O_ID",)


def test_a_foreign_key_join_keeps_the_key_of_the_left_table(catalogue: Sources) -> None:
    node = node_of("TABLE made AS SELECT o.id, t.b FROM o JOIN t ON f + 1 = t.id", catalogue)
    assert isinstance(node, ForeignKeyJoin)
    assert (expression_text(node.foreign_key), node.shape.key) == ("(`O_F` + 1)", ("O_ID",))


def test_rows_that_have_the_key_already_keep_it_in_the_next_join(catalogue: Sources) -> None:
    """After a right join, the left side's column may be NULL where the key is not."""
    node = node_of(
        "STREAM made AS SELECT r.a, c, t.b FROM l RIGHT JOIN r WITHIN 1 SECOND ON l.a = r.a JOIN t ON l.a = id",
        catalogue,
    )
    assert isinstance(node, LookupJoin)
    assert expression_text(node.stream_key) == "`R_A`"
    assert isinstance(node.stream, StreamJoin)


@pytest.mark.parametrize(
    ("join", "bounds", "window"),
    [
        ("w JOIN v WITHIN 1 SECOND ON w.a = v.a", ["`W_WINDOWSTART`"], KeyWindow(WindowKind.TUMBLING, 1000)),
        (
            "u JOIN y WITHIN 1 SECOND ON u.a = y.a",
            ["`U_WINDOWSTART`", "`U_WINDOWEND`"],
            KeyWindow(WindowKind.SESSION, None),
        ),
    ],
)
def test_windows_of_keys_must_be_equal(catalogue: Sources, join: str, bounds: list[str], window: KeyWindow) -> None:
    plan = planned(f"CREATE STREAM made AS SELECT * FROM {join}", catalogue)
    assert plan.sink.key_window == window
    assert isinstance(plan.node, Project)
    assert isinstance(plan.node.input, Project)
    node = plan.node.input.input
    assert isinstance(node, StreamJoin)
    assert list(map(expression_text, node.left_bounds)) == bounds
    assert [column.name for column in plan.node.shape.columns][-3:] == ["WINDOWSTART", "WINDOWEND", "ROWTIME"]


WRONG = {
    "t JOIN o ON t.id = o.id JOIN q ON t.b = q.id": "foreign-key table-table joins are not supported as part of n-way joins. Got T.B = Q.ID.",
    "t FULL JOIN o ON t.id = o.id JOIN q ON t.id = q.id": "foreign-key table-table joins are not supported as part of n-way joins.",
    "o FULL JOIN t ON f = t.id": "full-outer join not supported for foreign-key table-table join. Got O [FULL] OUTER JOIN T.",
    "l JOIN r WITHIN 1 SECOND ON l.a = r.a JOIN t ON l.a = r.a": "A join criteria is expected to reference the source (`T`) in the FROM clause",
    "l JOIN r WITHIN 1 SECOND ON l.a = r.a JOIN l m WITHIN 1 SECOND ON m.a = r.a": "N-way joins do not support multiple occurrences",
    "l JOIN r WITHIN 1 SECOND ON l.a = r.a JOIN x ON rowkey = l.a": "Stream-Stream joins must have a WITHIN clause specified.",
    "l JOIN l AS m WITHIN 1 SECOND ON l.a = m.a": "Can not join 'L' to 'L': self joins are not yet supported.",
    "l JOIN r ON l.a = r.a": "Stream-Stream joins must have a WITHIN clause specified.",
    "l JOIN r WITHIN 1 SECOND ON l.a = r.a AND l.b = r.b": "joins on multiple conditions are not yet supported. Got ((L.A = R.A) AND (L.B = R.B)).",
    "l JOIN r WITHIN 1 SECOND ON l.a > r.a": "Only equality join criteria is supported.",
    "l JOIN r WITHIN 1 SECOND ON TRUE": "Unsupported join expression: true",
    "l JOIN r WITHIN 1 SECOND ON l.a = 0": "Invalid comparison expression '0' in join '(L.A = 0)'.",
    "l JOIN r WITHIN 1 SECOND ON l.a = l.b": "Each side of the join must reference exactly one source and not the same source.",
    "l JOIN r WITHIN 1 SECOND ON l.aa = r.a": "JOIN ON column 'L.AA' cannot be resolved.",
    "l JOIN r WITHIN 1 SECOND ON a = r.a": "Column 'A' is ambiguous. Could be L.A or R.A.",
    "l JOIN x WITHIN 1 SECOND ON a = e": "Invalid join. Key types differ: INTEGER vs BIGINT in L.A = X.E.",
    "l JOIN t ON l.a = t.b": "stream-table joins require to join on the table's primary key. Got L.A = T.B.",
    "l JOIN t ON t.b = l.a": "stream-table joins require to join on the table's primary key. Got T.B = L.A.",
    "l JOIN t WITHIN 1 SECOND ON a = id": "A window definition was provided for a Stream-Table join.",
    "l FULL JOIN t ON a = id": "full-outer join not supported for stream-table join. Got L [FULL] OUTER JOIN T.",
    "l RIGHT JOIN t ON a = id": "Invalid join type encountered: RIGHT [OUTER] JOIN.",
    "t JOIN l ON a = id": "Invalid join order: table-stream joins are not supported; only stream-table joins. Got T [INNER] JOIN L.",
    "l JOIN kv WITHIN 1 SECOND ON a = k": "Source(s) KV are using the 'KAFKA' value format. This format does not yet support JOIN.",
    "maps JOIN map WITHIN 1 SECOND ON m = m2": "MAP does not exist. Did you mean MAPS?",
    "maps JOIN more WITHIN 1 SECOND ON m = m2": "Key column name: `MAPS_M`. Column type: MAP<STRING, INTEGER>.",
    "l JOIN w WITHIN 1 SECOND ON l.a = w.a": "Can not join windowed source to non-windowed source.\n`L` is not windowed\n`W` is TUMBLING windowed",
    "w JOIN u WITHIN 1 SECOND ON w.a = u.a": "Incompatible windowed sources.\nLeft source: TUMBLING\nRight source: SESSION",
    "w JOIN z WITHIN 1 SECOND ON w.a = z.a": "Implicit repartitioning of windowed sources is not supported.",
    "w JOIN z WITHIN 1 SECOND ON w.a = z.v": "Implicit repartitioning of windowed sources is not supported.",
    "t JOIN o ON t.b = o.f": "table-table joins require to join on the primary key of the right input table. Got T.B = O.F.",
    "o JOIN t ON n = t.id": "Invalid join condition: types don't match. Got O.N{BIGINT} = T.ID{INTEGER}.",
    "o RIGHT JOIN t ON f = t.id": "RIGHT OUTER JOIN on a foreign key is not supported",
    "t JOIN o WITHIN 1 SECOND ON t.id = o.id": "A window definition was provided for a Table-Table join.",
}


@pytest.mark.parametrize(("join", "message"), WRONG.items(), ids=WRONG)
def test_what_cannot_be_joined_is_refused(catalogue: Sources, join: str, message: str) -> None:
    with pytest.raises(SqlProblem) as caught:
        planned(f"CREATE STREAM made AS SELECT * FROM {join}", catalogue)
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("select", "message"),
    [
        (
            "d FROM l JOIN r WITHIN 1 SECOND ON l.a = r.a",
            "must include the join expressions L.A or R.A in its projection (eg, SELECT L.A...).",
        ),
        ("l.*, r.* FROM l FULL JOIN r WITHIN 1 SECOND ON l.a = r.a", "ROWKEY was added as a synthetic key column"),
        (
            "l.a, l.a AS again, c FROM l JOIN r WITHIN 1 SECOND ON l.a = r.a",
            "(`L_A`) more than once, aliased as: AGAIN and L_A.",
        ),
        ("ROWKEY, c FROM l JOIN r WITHIN 1 SECOND ON l.a = r.a", "SELECT column 'ROWKEY' cannot be resolved."),
        (
            "d FROM l JOIN r WITHIN 1 SECOND ON l.a = r.a JOIN t ON l.a = id",
            "must include the join expressions L.A, R.A or T.ID in its projection (eg, SELECT L.A...).",
        ),
    ],
)
def test_the_key_of_a_join_has_to_be_selected(catalogue: Sources, select: str, message: str) -> None:
    with pytest.raises(SqlProblem) as caught:
        planned(f"CREATE STREAM made AS SELECT {select}", catalogue)
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ("two.v FROM two JOIN t ON two.v = t.id", "Missing columns: `I`, `J`."),
        ("two.i, two.v FROM two JOIN t ON two.v = t.id", "left input table (`TWO`). Missing column: `J`."),
        ("o.id, o.id AS again, f FROM o JOIN t ON f = t.id", "(`O_ID`) more than once, aliased as: AGAIN and O_ID."),
    ],
)
def test_the_key_of_the_left_table_has_to_be_selected(catalogue: Sources, select: str, message: str) -> None:
    with pytest.raises(SqlProblem) as caught:
        planned(f"CREATE TABLE made AS SELECT {select}", catalogue)
    assert message in caught.value.message
