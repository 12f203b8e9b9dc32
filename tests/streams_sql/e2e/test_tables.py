"""Tables over HTTP: rows that are written and deleted, indexes, and queries that order, group and join."""

from __future__ import annotations

import json
import secrets
from typing import Any

import pytest

from tests.sql_service import SqlProcess
from tests.waiting import wait_for


class Tables:
    """A table that is written, and one over the same topic that is asked."""

    def __init__(self, sql: SqlProcess) -> None:
        self.sql = sql
        self.name = f"T{secrets.token_hex(4)}".upper()
        self.asked = f"{self.name}_NOW"
        topic = self.name.lower()
        columns = "(K STRING PRIMARY KEY, L BIGINT PRIMARY KEY, COLOUR STRING, N INT)"
        sql.execute(
            f"CREATE TABLE {self.name} {columns} WITH (KAFKA_TOPIC='{topic}', FORMAT='JSON', PARTITIONS=2);"
            f"CREATE SOURCE TABLE {self.asked} {columns} WITH (KAFKA_TOPIC='{topic}', FORMAT='JSON');"
        )

    def insert(self, *rows: tuple[str, int, str, int]) -> None:
        for row in rows:
            self.sql.execute(f"INSERT INTO {self.name} VALUES ({', '.join(map(repr, row))});")


@pytest.fixture(scope="module")
def tables(sql_service: SqlProcess) -> Tables:
    made = Tables(sql_service)
    made.insert(("a", 1, "red", 3), ("a", 2, "blue", 1), ("b", 1, "red", 5), ("c", 1, "blue", 2))
    made.sql.wait_for_rows(f"SELECT COUNT(*) FROM {made.asked};", [[4]])
    return made


def test_rows_are_ordered_grouped_and_joined(tables: Tables) -> None:
    sql, asked = tables.sql, tables.asked
    assert sql.rows(f"SELECT K, L FROM {asked} ORDER BY N DESC LIMIT 2;") == [["b", 1], ["a", 1]]
    grouped = f"SELECT COLOUR, COUNT(*) AS C, SUM(N) AS S FROM {asked} GROUP BY COLOUR ORDER BY S;"
    # Once more from memory.
    for _ in range(2):
        assert sql.rows(grouped) == [["blue", 2, 3], ["red", 2, 8]]
    joined = f"SELECT X.K, Y.N FROM {asked} X JOIN {asked} Y ON X.K = Y.K AND X.L < Y.L;"
    assert sql.rows(joined) == [["a", 1]]
    failed = sql.post("/query-stream", {"sql": f"SELECT K FROM {asked} ORDER BY NN;"}).json()
    assert "ORDER BY column 'NN' cannot be resolved. Did you mean N?" in failed["message"]


def test_an_index_is_built_used_told_and_dropped(tables: Tables) -> None:
    sql, asked = tables.sql, tables.asked
    name = f"BY_COLOUR_{tables.name}"
    (made,) = sql.execute(f"CREATE INDEX {name} ON {asked} (COLOUR);")
    assert made["commandStatus"]["message"] == f"Index {name} created. It is built in the background."

    def listed() -> dict[str, Any] | None:
        found = {each["name"]: each for each in sql.execute("SHOW INDEXES;")[0]["indexes"]}.get(name)
        return found if found is not None and found["state"] == "READY" else None

    assert wait_for(listed, "the index is ready") == {
        "name": name,
        "table": asked,
        "columns": ["COLOUR"],
        "state": "READY",
    }
    query = f"SELECT K FROM {asked} WHERE COLOUR = 'red'"
    assert sorted(sql.rows(f"{query};")) == [["a"], ["b"]]
    (explained,) = sql.execute(f"EXPLAIN {query};")
    assert f"by index {name} (COLOUR=?)" in explained["queryDescription"]["executionPlan"]
    (ordered,) = sql.execute(f"EXPLAIN SELECT K FROM {asked} ORDER BY COLOUR DESC LIMIT 1;")
    assert f"all rows, in the order of index {name}" in ordered["queryDescription"]["executionPlan"]
    (described,) = sql.execute(f"DESCRIBE {asked} EXTENDED;")
    assert f"index {name} (COLOUR): READY" in described["sourceDescription"]["statistics"]
    sql.execute(f"DROP INDEX {name};")

    def is_scanned() -> bool:
        (found,) = sql.execute(f"EXPLAIN {query};")
        return "all rows, in the order of the key" in found["queryDescription"]["executionPlan"]

    wait_for(is_scanned, "the index is gone")


def test_deleted_rows_are_gone(sql_service: SqlProcess) -> None:
    tables = Tables(sql_service)
    sql, asked = tables.sql, tables.asked
    tables.insert(("a", 1, "red", 3), ("a", 2, "blue", 1), ("b", 1, "red", 5))
    sql.wait_for_rows(f"SELECT K, L FROM {asked};", [["a", 1], ["a", 2], ["b", 1]])
    assert sql.execute(f"DELETE FROM {tables.name} WHERE K IN ('a', 'c') AND L = 1;") == []
    sql.wait_for_rows(f"SELECT K, L FROM {asked};", [["a", 2], ["b", 1]])
    assert "it is a SOURCE table, which is read-only" in sql.refusal(f"DELETE FROM {asked} WHERE K = 'a' AND L = 2;")


def test_a_table_whose_query_has_not_written_says_so(tables: Tables) -> None:
    sql = tables.sql
    silent = f"{tables.name}_SILENT"
    query_id = sql.start_query(f"CREATE TABLE {silent} AS SELECT K, L, N FROM {tables.name} WHERE N > 1000;")

    def notes() -> list[str]:
        answer = sql.post("/query-stream", {"sql": f"SELECT * FROM {silent};"})
        return list(json.loads(answer.text.splitlines()[0]).get("notes", ()))

    told = wait_for(lambda: next((note for note in notes() if "has not written" in note), None), "the note")
    assert told.startswith(f"The query {query_id} has not written to {silent} yet. It is ")
