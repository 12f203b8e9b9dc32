"""A client that listens to a push query for as long as it likes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tests.sql_service import CALL_TIMEOUT_S, FROM_EARLIEST, SqlProcess

STREAMED = "application/vnd.ksql.v1+json"


class Listener:
    """`header` is what comes before the rows."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.header = self.take()["header"]

    @property
    def query_id(self) -> str:
        return str(self.header["queryId"])

    def take(self) -> dict[str, Any]:
        """The next object."""
        found: dict[str, Any] = json.loads(next(self._lines).strip("[],"))
        return found

    def row(self) -> list[Any]:
        found = self.take()
        assert "row" in found, found
        columns: list[Any] = found["row"]["columns"]
        return columns


@contextmanager
def listening(server: SqlProcess, sql: str, **properties: str) -> Iterator[Listener]:
    """Leaves at the end, whether the query has ended or not."""
    body = {"sql": sql, "properties": {**FROM_EARLIEST, **properties}}
    with (
        httpx.Client(timeout=CALL_TIMEOUT_S, trust_env=False, verify=False) as client,
        client.stream("POST", f"{server.url}/query-stream", json=body, headers={"accept": STREAMED}) as answer,
    ):
        assert answer.status_code == 200, answer.read()
        # Nobody else may hold it, and without it the connection would go.
        listener = Listener(answer.iter_lines())
        yield listener


def push_ids(server: SqlProcess) -> set[str]:
    """The push queries that run."""
    (listed,) = server.execute("SHOW QUERIES;")
    return {query["id"] for query in listed["queries"] if query["queryType"] == "PUSH"}
