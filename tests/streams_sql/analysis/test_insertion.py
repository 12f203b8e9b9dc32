"""INSERT INTO … VALUES."""

from __future__ import annotations

import pytest

from streams_sql.analysis.insertion import plan_insert_values
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import InsertValues
from streams_sql.plan.nodes import InsertRow
from streams_sql.plan.text import expression_text
from streams_sql.problem import SqlProblem
from tests.streams_sql.analysis.catalogues import Sources, sources


@pytest.fixture(scope="module")
def catalogue() -> Sources:
    return sources(
        "CREATE STREAM s (k STRING KEY, l BIGINT, e DECIMAL(4, 2), d DATE, a ARRAY<BIGINT>, st STRUCT<x BIGINT, z STRING>) "
        "WITH (kafka_topic='s')",
        "CREATE TABLE t (k INT PRIMARY KEY, v INT) WITH (kafka_topic='t')",
        "CREATE STREAM h (v INT, h BYTES HEADER('x')) WITH (kafka_topic='h')",
        "CREATE SOURCE STREAM locked (v INT) WITH (kafka_topic='locked')",
        "CREATE STREAM w (k INT KEY, v INT) WITH (kafka_topic='w', window_type='SESSION')",
        "CREATE STREAM \"small\" (v INT) WITH (kafka_topic='small')",
    )


def planned(text: str, catalogue: Sources) -> InsertRow:
    (row,) = planned_rows(text, catalogue)
    return row


def planned_rows(text: str, catalogue: Sources) -> tuple[InsertRow, ...]:
    statement = parse_statement(f"INSERT INTO {text}")
    assert isinstance(statement, InsertValues)
    return plan_insert_values(statement, catalogue).rows


def test_each_row_is_a_record(catalogue: Sources) -> None:
    rows = planned_rows("t VALUES (1, 2), (ABS(-3), 2 * 2)", catalogue)
    assert [[expression_text(value) for value in (*row.key, *row.value)] for row in rows] == [
        ["1", "2"],
        ["ABS(-3)", "(2 * 2)"],
    ]
    with pytest.raises(SqlProblem, match="Expected number columns and values to match: 2, 1"):
        planned("t (k, v) VALUES (1, 2), (3)", catalogue)


def test_values_are_cast_to_their_columns(catalogue: Sources) -> None:
    plan = planned("s VALUES ('k', 1, 1.5, '2020-01-01', ARRAY[1], STRUCT(x := 1))", catalogue)
    assert [expression_text(value) for value in (*plan.key, *plan.value)] == [
        "'k'",
        "CAST(1 AS BIGINT)",
        "CAST(1.5 AS DECIMAL(4, 2))",
        "CAST('2020-01-01' AS DATE)",
        "CAST(ARRAY[1] AS ARRAY<BIGINT>)",
        "CAST(STRUCT(`X` := 1) AS STRUCT<`X` BIGINT, `Z` STRING>)",
    ]
    assert plan.rowtime is None


def test_columns_that_are_not_named_are_null(catalogue: Sources) -> None:
    plan = planned("s (ROWTIME, l, k) VALUES (1000, ABS(-7), NULL)", catalogue)
    assert [expression_text(value) for value in (*plan.key, *plan.value)] == [
        "NULL",
        "CAST(ABS(-7) AS BIGINT)",
        *["NULL"] * 4,
    ]
    assert plan.rowtime is not None
    assert expression_text(plan.rowtime) == "CAST(1000 AS BIGINT)"
    assert all(value.type is not None for value in (*plan.key, *plan.value))


WRONG = {
    "nosuch VALUES (1)": "Cannot insert values into an unknown stream/table: `NOSUCH`",
    "small VALUES (1)": 'Did you mean "small"? Hint: wrap the source name in double quotes to make it case-sensitive.',
    "`T` VALUES (1)": "Expected a value for each column. Expected Columns: [`K`, `V`]. Got [1]",
    "t (k, v) VALUES (1)": "Expected number columns and values to match: 2, 1",
    "t (v) VALUES (1)": "Value for primary key column(s) K is required for tables",
    "t (k, w) VALUES (1, 2)": "Column name `W` does not exist. There are K, V.",
    "t (k, k) VALUES (1, 2)": "Column name K is there more than once.",
    "t (k, ROWOFFSET) VALUES (1, 2)": "Inserting into column `ROWOFFSET` is not allowed.",
    "t VALUES ('1', 2)": "for field `K` but got STRING('1'). CAST('1' AS INTEGER) would make it fit.",
    "t VALUES (1, 2147483648)": "Expected type INTEGER for field `V` but got BIGINT(2147483648)",
    "t VALUES (1, v)": "Unsupported column reference in insert value: V",
    "s (k, e) VALUES ('a', 123.5)": "Expected type DECIMAL(4, 2) for field `E` but got DECIMAL(123.5)",
    "s (k, st) VALUES ('a', STRUCT(q := 1))": "for field `ST` but got STRUCT",
    "h VALUES (1, NULL)": "Cannot insert into HEADER columns: H",
    "h (h) VALUES (NULL)": "Cannot insert into HEADER columns: H",
    "locked VALUES (1)": "Cannot insert values into read-only stream: LOCKED",
    "w VALUES (1, 2)": "Cannot insert values into windowed stream/table: W",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items(), ids=WRONG)
def test_what_cannot_be_inserted_is_refused(catalogue: Sources, text: str, message: str) -> None:
    with pytest.raises(SqlProblem) as caught:
        planned(text, catalogue)
    assert message in caught.value.message


def test_only_a_cast_that_gives_something_is_proposed(catalogue: Sources) -> None:
    for text in ("t VALUES (1, 'z')", "t VALUES (1, TRUE)", "s (l) VALUES ('9' || 'z' || '')"):
        with pytest.raises(SqlProblem) as caught:
            planned(text, catalogue)
        assert "CAST" not in caught.value.message, text


def test_the_value_of_a_stream_with_headers_can_be_inserted(catalogue: Sources) -> None:
    assert len(planned("h VALUES (1)", catalogue).value) == 1
