"""Queries in queries over views: rows of one are the source of another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from streams_sql.problem import SqlProblem
from streams_sql.sql_types import BIGINT, INTEGER, STRING
from tests.streams_sql.views.stored_tables import StoredTables
from tests.streams_sql.views.tables import table


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoredTables]:
    sources = {
        "T": table("t", {"COLOUR": STRING, "N": INTEGER}),
        "C": replace(table("c", {"LABEL": STRING, "RANK": BIGINT}, {"NAME": STRING}), name="C"),
    }
    tables = StoredTables(tmp_path_factory.mktemp("views"), sources)
    tables.tables["T"].put([("a", "red", 3), ("b", "blue", 5), ("c", "red", 1), ("d", None, 3)])
    tables.tables["C"].put([("red", "warm", 1), ("blue", "cold", 2), ("green", None, 3)])
    yield tables
    tables.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT K FROM (SELECT K, N * 2 AS M FROM T) X WHERE M > 5", ["a", "b", "d"]),
        ("SELECT * FROM (SELECT K FROM T ORDER BY N DESC, K LIMIT 2) X ORDER BY K DESC", ["b", "a"]),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT COLOUR FROM T) X", [3]),
        ("SELECT MAX(HOW_MANY) FROM (SELECT COLOUR, COUNT(*) AS HOW_MANY FROM T GROUP BY COLOUR) X", [2]),
        (
            ("WITH X AS (SELECT COLOUR, SUM(N) AS S FROM T GROUP BY COLOUR), Y AS (SELECT NAME, LABEL FROM C WHERE RANK < 3)"
            " SELECT Y.LABEL, X.S FROM Y LEFT JOIN X ON X.COLOUR = Y.NAME ORDER BY 1"),
            [("cold", 5), ("warm", 4)],
        ),
        ("WITH X AS (SELECT K, N FROM T) SELECT ONE.K, OTHER.K FROM X ONE JOIN X OTHER ON ONE.N = OTHER.N AND ONE.K < OTHER.K", [("a", "d")]),
        ("WITH UNUSED AS (SELECT K FROM T) SELECT NAME FROM C ORDER BY RANK LIMIT 1", ["red"]),
        ("SELECT K FROM T WHERE N = 3 UNION ALL SELECT NAME FROM C ORDER BY K LIMIT 3", ["a", "blue", "d"]),
        ("SELECT N, K FROM T UNION ALL SELECT RANK, NAME FROM C ORDER BY N DESC, K LIMIT 2", [(5, "b"), (3, "a")]),
        ("SELECT COUNT(*) FROM (SELECT K FROM T UNION ALL SELECT K FROM T) X", [8]),
        ("SELECT ROWTIME FROM (SELECT ROWTIME, K FROM T) X WHERE K = 'a'", [1_000]),
        ("SELECT COLOUR FROM T UNION SELECT NAME FROM C ORDER BY COLOUR", [None, "blue", "green", "red"]),
        ("SELECT N FROM T UNION DISTINCT SELECT RANK FROM C UNION SELECT RANK FROM C ORDER BY N DESC LIMIT 3", [5, 3, 2]),
        ("SELECT COUNT(*) FROM (SELECT COLOUR, N FROM T UNION SELECT COLOUR, N FROM T) X", [4]),
        ("SELECT K FROM (SELECT K FROM T UNION SELECT K FROM T) X UNION ALL SELECT K FROM T ORDER BY K LIMIT 2", ["a", "a"]),
    ],
)  # fmt: skip
def test_a_query_gives_its_rows(tables: StoredTables, text: str, expected: list[Any]) -> None:
    assert [row[0] if len(row) == 1 else row for row in tables.asked(text)] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT ROWTIME FROM (SELECT K FROM T) X", "SELECT column 'ROWTIME' cannot be resolved"),
        ("WITH X AS (SELECT Z FROM T) SELECT K FROM T", "SELECT column 'Z' cannot be resolved"),
        ("SELECT K FROM T UNION ALL SELECT RANK FROM C", "Column K of UNION has several types: STRING, BIGINT"),
        ("SELECT K FROM T UNION ALL SELECT NAME, RANK FROM C", "the first has 1, query 2 has 2"),
        ("SELECT K FROM T UNION SELECT K FROM T UNION ALL SELECT K FROM T", "UNION and UNION ALL are mixed"),
        ("SELECT K FROM T X JOIN (SELECT NAME FROM C WHERE C.RANK = X.N) Y ON X.COLOUR = Y.NAME", "'X' stands outside"),
        (
            "SELECT * FROM (SELECT K, COUNT(*) FROM T WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY K) X",
            "Pull queries don't support WINDOW clauses.",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(tables: StoredTables, text: str, message: str) -> None:
    with pytest.raises(SqlProblem) as caught:
        tables.asked(text)
    assert message in caught.value.message
