"""Our SQL server as a process of its own, asked over HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from tests.service_process import HttpServiceProcess
from tests.waiting import wait_for

CALL_TIMEOUT_S = 90.0
# The first query of a server waits for Spark, and on a busy machine Spark takes its time.
QUERY_DEADLINE_S = 500.0
# Tests are over before code is worth being compiled well, by Java, or by Spark for a whole stage; expressions are compiled all the same. Spark
# starts in half the time, and tests of queries take about a tenth less processor time. Those that run the platform as it is compile everything.
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
QUICK_SPARK = {
    "spark.driver.extraJavaOptions": QUICK_JAVA,
    "spark.sql.codegen.wholeStage": "false",
}
FROM_EARLIEST = {"auto.offset.reset": "earliest"}


class SqlProcess(HttpServiceProcess):
    """Our SQL server, with some registry. Statements read topics from their beginnings unless they say otherwise."""

    name = "sql"

    def __init__(
        self, home: Path, bootstrap: str, registry_url: str, port: int = 0, settings: Mapping[str, str] | None = None
    ) -> None:
        own = {"ksql.schema.registry.url": registry_url, **QUICK_SPARK}
        super().__init__(home, bootstrap, port, {**own, **(settings or {})})

    def command(self) -> list[str]:
        return [*super().command(), "--data-dir", str(self.home / "data")]

    def get(self, path: str, **headers: str) -> httpx.Response:
        """Underscores in the names of headers stand for hyphens."""
        return self._call("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def post(self, path: str, body: object) -> httpx.Response:
        """Send a body as JSON; text goes as it is."""
        return self._call("POST", path, **{"content" if isinstance(body, str) else "json": body})

    def _call(self, method: str, path: str, **what: Any) -> httpx.Response:
        # Without TLS nothing is verified, and reading the certificates of the system takes 20 times as long as a call.
        return httpx.request(method, f"{self.url}{path}", **what, timeout=CALL_TIMEOUT_S, trust_env=False, verify=False)

    def execute(self, text: str, **properties: str) -> list[dict[str, Any]]:
        """The answers to statements, which the server must take. Underscores in the names of properties stand for dots."""
        answer = self._post_statements(text, properties)
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()
        return found

    def start_query(self, text: str, **properties: str) -> str:
        """The id of the persistent query that the last of these statements starts."""
        return str(self.execute(text, **properties)[-1]["commandStatus"]["queryId"])

    def refusal(self, text: str) -> str:
        """What the server says of a statement that it does not take."""
        answer = self._post_statements(text, {})
        assert answer.status_code == 400, answer.text
        return str(answer.json()["message"])

    def rows(self, sql: str, **properties: str) -> list[list[Any]]:
        """The rows of a query that ends: a pull query, or a push query with LIMIT."""
        answer = self.post("/query-stream", {"sql": sql, "properties": {**FROM_EARLIEST, **_dotted(properties)}})
        assert answer.status_code == 200, answer.text
        lines = [json.loads(line) for line in answer.text.splitlines()]
        assert all(isinstance(line, list) for line in lines[1:]), answer.text
        return lines[1:]

    def printed(self, text: str) -> list[str]:
        """The lines of a PRINT that ends."""
        answer = self.post("/query", {"ksql": text})
        assert answer.status_code == 200, answer.text
        return [line for line in answer.text.splitlines() if line]

    def query(self, query_id: str) -> dict[str, Any]:
        """What EXPLAIN tells of a persistent query."""
        found: dict[str, Any] = self.execute(f"EXPLAIN {query_id};")[0]["queryDescription"]
        return found

    def wait_for_state(self, query_id: str, state: str) -> dict[str, Any]:
        """What EXPLAIN tells as soon as the query is in this state."""

        def found() -> dict[str, Any] | None:
            query = self.query(query_id)
            return query if query["state"] == state else None

        return wait_for(found, f"{query_id} to be {state}", QUERY_DEADLINE_S)

    def wait_for_rows(self, sql: str, wanted: list[list[Any]]) -> None:
        """Return as soon as a pull query gives these rows, in any order."""

        def key(row: list[Any]) -> str:
            return json.dumps(row, sort_keys=True)

        last: list[list[Any]] = []

        def found() -> bool:
            nonlocal last
            last = self.rows(sql)
            return sorted(last, key=key) == sorted(wanted, key=key)

        try:
            wait_for(found, sql, QUERY_DEADLINE_S)
        except AssertionError:
            assert last == wanted
            raise

    def _post_statements(self, text: str, properties: Mapping[str, str]) -> httpx.Response:
        return self.post("/ksql", {"ksql": text, "streamsProperties": {**FROM_EARLIEST, **_dotted(properties)}})


def _dotted(properties: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "."): value for name, value in properties.items()}
