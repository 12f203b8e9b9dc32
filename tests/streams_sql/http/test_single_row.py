"""SELECT without FROM, as clients of a real server send it."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.cli.main import main
from barnabas.sql import Client, Refused
from tests.sql_service import SqlProcess


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("SELECT 1;", [[1]]),
        ("SELECT 1 AS A, 'x' B, UCASE('y'), ARRAY[1, 2][1] + 1;", [[1, "x", "Y", 2]]),
        ("SELECT CASE WHEN 2 > 1 THEN 'yes' END WHERE 1 = 1 LIMIT 5;", [["yes"]]),
        ("SELECT 1 WHERE FALSE;", []),
        ("SELECT COUNT(*);", [[1]]),
        ("SELECT 2 AS N UNION ALL SELECT 1 AS N ORDER BY N;", [[1], [2]]),
        ("SELECT N + 1 AS M FROM (SELECT 1 AS N) X WHERE N = (SELECT 1);", [[2]]),
        ("SELECT EXISTS (SELECT 1) AS E;", [[True]]),
    ],
)
def test_it_has_one_row(sql_service: SqlProcess, text: str, rows: list[list[Any]]) -> None:
    assert sql_service.rows(text) == rows


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT ROWTIME;", "column 'ROWTIME' cannot be resolved. The query has no FROM."),
        ("SELECT 1 WHERE A = 1;", "column 'A' cannot be resolved. The query has no FROM."),
        ("SELECT *;", "Unexpected ';'. Expected ',' or FROM"),
        ("SELECT 1 / 0;", "The expression has no value"),
        ("SELECT EXPLODE(ARRAY[1, 2]);", "cannot be combined with tables, joins, windows or table functions"),
        ("SELECT 1 EMIT CHANGES;", "Unexpected 'EMIT'. Expected"),
        ("SELECT * FROM (SELECT 1 AS A) X EMIT CHANGES;", "needs FROM"),
    ],
)
def test_what_has_no_meaning_without_a_source(sql_service: SqlProcess, text: str, reason: str) -> None:
    with Client(sql_service.url) as client, pytest.raises(Refused) as caught:
        client.query(text)
    assert reason in caught.value.reason


def test_a_persistent_query_needs_a_source(sql_service: SqlProcess) -> None:
    with Client(sql_service.url) as client, pytest.raises(Refused) as caught:
        client.execute("CREATE STREAM SINGLE_ROW AS SELECT 1 AS A;")
    assert "needs FROM, with a stream or a table" in caught.value.reason


def test_the_command_prints_it(sql_service: SqlProcess, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", "--server", sql_service.url, "-o", "jsonl", "SELECT 1 AS ONE;"]) == 0
    assert capsys.readouterr().out == '{"ONE":1}\n'
    assert main(["sql", "--server", sql_service.url, "EXPLAIN SELECT 1;"]) == 0
