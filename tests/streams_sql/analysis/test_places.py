"""What is wrong with a statement is told with its place, whatever it is about."""

from __future__ import annotations

from functools import partial

import pytest

from streams_sql.analysis.push import plan_push
from streams_sql.analysis.scan import plan_scan
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import Query
from streams_sql.problem import SqlProblem
from tests.streams_sql.engine.catalogues import Statements

EXTRA = (
    "CREATE TABLE WT AS SELECT K, COUNT(*) AS N FROM S WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY K;",
    "CREATE TYPE ADDRESS AS STRUCT<CITY STRING>;",
    "CREATE STREAM N (A INT, H BYTES HEADER('h')) WITH (KAFKA_TOPIC='n', VALUE_FORMAT='JSON');",
)
PLACES = {
    # Types and formats, and which may be meant.
    "CREATE STREAM X (A VARCHR) WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON')": ("VARCHR", "Did you mean VARCHAR?"),
    "CREATE STREAM X (A ARRAY<INTEGR>) WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON')": (
        "INTEGR",
        "Did you mean INTEGER?",
    ),
    "CREATE STREAM X (A ADRESS) WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON')": ("ADRESS", "Did you mean ADDRESS?"),
    "CREATE STREAM X (A INT) WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSN')": ("'JSN'", "Did you mean JSON?"),
    "CREATE STREAM X (A INT) WITH (KAFKA_TOPIC='x', FORMAT='AVROO')": ("'AVROO'", "Did you mean AVRO?"),
    "CREATE STREAM X WITH (VALUE_FORMAT='JSNO') AS SELECT * FROM S": ("'JSNO'", "Did you mean JSON?"),
    # Declarations.
    "CREATE STREAM X (A INT) WITH (VALUE_FORMAT='JSON')": ("X", "KAFKA_TOPIC"),
    "CREATE TABLE X (A INT) WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON')": ("X", "PRIMARY KEY"),
    "CREATE STREAM X (A INT) WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON', VALUE_DELIMITER='x')": ("'JSON'", "delimiter"),
    "CREATE STREAM X (A INT) WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON', TIMESTAMP='b')": ("'b'", "does not exist"),
    "CREATE STREAM X (A INT) WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON', WINDOW_SIZE='1 DAY')": (
        "'1 DAY'",
        "WINDOW_TYPE",
    ),
    "CREATE STREAM S (A INT) WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON')": ("S", "already exists"),
    "ALTER STREAM T ADD X INT": ("T", ""),
    "DROP TABLE S": ("S", "Incompatible data source type"),
    "TERMINATE nothing": ("nothing", "Unknown queryId"),
    # Queries.
    "CREATE TABLE X AS SELECT * FROM S": ("X", "produces a STREAM"),
    "CREATE STREAM X AS SELECT K FROM S": ("SELECT", "no value columns"),
    "CREATE STREAM X AS SELECT A FROM S": ("SELECT", "missing from projection"),
    "CREATE STREAM X AS SELECT K, A, B AS A FROM S": ("SELECT", "Duplicate"),
    "CREATE STREAM X AS SELECT * FROM WT": ("WT", "windowed tables"),
    "CREATE TABLE X AS SELECT K, A, COUNT(*) FROM S GROUP BY K": ("A", "Non-aggregate SELECT"),
    "CREATE TABLE X AS SELECT K, COUNT(*) AS N FROM S GROUP BY K HAVING A > 1": ("A", "HAVING"),
    "CREATE TABLE X AS SELECT K, A FROM S GROUP BY K, A": ("SELECT", "GROUP BY requires aggregate"),
    "CREATE TABLE X AS SELECT K, COUNT(*) FROM S GROUP BY K EMIT FINAL": ("EMIT", "windowed aggregations"),
    "CREATE TABLE X AS SELECT K, EXPLODE(ARRAY[1]), COUNT(*) FROM S GROUP BY K": ("SELECT", "Table functions"),
    "CREATE STREAM X AS SELECT DISTINCT A FROM S": ("SELECT", "DISTINCT"),
    "INSERT INTO R SELECT K, B AS C FROM S": ("SELECT", "Incompatible schema"),
    "CREATE STREAM X AS SELECT * FROM S WHERE A IN (SELECT C FROM R)": ("SELECT", "only in a SELECT without EMIT"),
    "INSERT INTO S SELECT K, COUNT(*) AS A FROM R GROUP BY K": ("S", "KTABLE"),
}
QUERIES = {
    "SELECT K FROM S PARTITION BY K": ("K", "PARTITION BY"),
    "SELECT K, K FROM S GROUP BY K EMIT CHANGES": ("K", "more than once"),
    # The LIMIT of a query that is joined: its reason, and not that of a query that never ends.
    "SELECT * FROM (SELECT K, A FROM S LIMIT 3) A JOIN R WITHIN 1 HOUR ON A.K = R.K": (
        "(",
        "cannot have here: a query over streams",
    ),
}


@pytest.mark.parametrize("text", PLACES)
def test_statements(text: str) -> None:
    word, message = PLACES[text]
    with pytest.raises(SqlProblem) as caught:
        Statements(*EXTRA).apply(f"{text};")
    _check(text, caught.value, word, message)


@pytest.mark.parametrize("text", QUERIES)
def test_queries(text: str) -> None:
    word, message = QUERIES[text]
    query, catalogue = parse_statement(text), Statements(*EXTRA).catalogue
    assert isinstance(query, Query)
    plan = partial(plan_scan if query.emit is None else plan_push, query, catalogue, now_ms=0)
    with pytest.raises(SqlProblem) as caught:
        plan()
    _check(text, caught.value, word, message)


def _check(text: str, problem: SqlProblem, word: str, message: str) -> None:
    assert message in problem.message
    assert problem.position is not None, problem.message
    start = problem.position.column - 1
    assert text[start : start + problem.position.length] == word, problem.message
