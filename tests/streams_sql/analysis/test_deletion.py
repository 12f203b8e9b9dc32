"""DELETE FROM … WHERE."""

from __future__ import annotations

import pytest

from streams_sql.analysis.deletion import plan_delete
from streams_sql.language.parsing import parse_statement
from streams_sql.language.table_statements import DeleteRows
from streams_sql.plan.nodes import DeletePlan
from streams_sql.plan.text import expression_text
from streams_sql.problem import SqlProblem
from tests.streams_sql.analysis.catalogues import Sources, sources


@pytest.fixture(scope="module")
def catalogue() -> Sources:
    return sources(
        "CREATE STREAM s (k INT KEY, v INT) WITH (kafka_topic='s')",
        "CREATE TABLE t (k BIGINT PRIMARY KEY, v INT) WITH (kafka_topic='t')",
        "CREATE TABLE two (k BIGINT PRIMARY KEY, l STRING PRIMARY KEY, v INT) WITH (kafka_topic='two', format='JSON')",
        "CREATE SOURCE TABLE locked (k INT PRIMARY KEY, v INT) WITH (kafka_topic='t')",
        "CREATE TABLE w (k INT PRIMARY KEY, v INT) WITH (kafka_topic='w', window_type='SESSION')",
    )


def planned(text: str, catalogue: Sources) -> DeletePlan:
    statement = parse_statement(f"DELETE FROM {text}")
    assert isinstance(statement, DeleteRows)
    return plan_delete(statement, catalogue)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("t WHERE k = 1", ["CAST(1 AS BIGINT)"]),
        ("t WHERE 1 + 1 = k", ["CAST((1 + 1) AS BIGINT)"]),
        ("t WHERE t.k IN (1, 2)", ["CAST(1 AS BIGINT)", "CAST(2 AS BIGINT)"]),
        ("two WHERE l = 'a' AND k = 1", ["CAST(1 AS BIGINT) 'a'"]),
        (
            "two WHERE k IN (1, 2) AND l IN ('a', 'b')",
            [f"CAST({k} AS BIGINT) '{word}'" for k in (1, 2) for word in "ab"],
        ),
    ],
)
def test_keys_are_found(catalogue: Sources, text: str, keys: list[str]) -> None:
    assert [" ".join(map(expression_text, key)) for key in planned(text, catalogue).keys] == keys


REFUSED = {
    "s WHERE k = 1": "Cannot delete from S: it is a stream, whose records stand for themselves.",
    "tt WHERE k = 1": "Cannot delete from TT: there is no such table.",
    "locked WHERE k = 1": "Cannot delete from LOCKED: it is a SOURCE table, which is read-only.",
    "w WHERE k = 1": "Cannot delete from W: its keys have windows, which only queries write.",
    "t WHERE v = 1": "V is no column of the key of T, by which rows are deleted. There are K.",
    "t WHERE k > 1": "DELETE takes keys alone, and (K > 1) is none: DELETE FROM T WHERE K = …, or IN (…).",
    "t WHERE k = 1 OR k = 2": "DELETE takes keys alone",
    "t WHERE k NOT IN (1)": "DELETE takes keys alone",
    "t WHERE k = 1 AND k = 2": "K is given twice",
    "t WHERE k = v": "Unsupported column reference in insert value",
    "t WHERE k = 'a'": "Expected type BIGINT for field `K` but got STRING('a')",
    "two WHERE k = 1": "DELETE needs the whole key, and nothing is said of L: DELETE FROM TWO WHERE K = … AND L = …",
}


@pytest.mark.parametrize(("text", "message"), REFUSED.items(), ids=REFUSED)
def test_what_is_no_key_of_a_table_is_refused(catalogue: Sources, text: str, message: str) -> None:
    with pytest.raises(SqlProblem) as caught:
        planned(text, catalogue)
    assert message in caught.value.message


def test_one_statement_deletes_so_many(catalogue: Sources) -> None:
    numbers = ", ".join(map(str, range(200)))
    words = ", ".join(f"'{number}'" for number in range(100))
    with pytest.raises(SqlProblem, match="These are 20000 keys, and one statement deletes 10000 at most"):
        planned(f"two WHERE k IN ({numbers}) AND l IN ({words})", catalogue)
