"""A client of a live stream that reads what comes, as it comes."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from types import TracebackType
from typing import Any, Self

from tests.rest_proxy.v3.v3_service import V3Service

DEADLINE_S = 90.0
EVENTS = "text/event-stream"
LINES = "application/x-ndjson"


class OpenStream:
    """Use as a context. The stream is open when the context begins."""

    def __init__(self, service: V3Service, topic: str, query: str = "", accept: str = LINES, **headers: str) -> None:
        self._connection = HTTPConnection(service.url.removeprefix("http://"), timeout=DEADLINE_S)
        path = f"/v3/clusters/{service.cluster_id}/topics/{topic}/records?{query}"
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        self._connection.request("GET", path, headers={"Accept": accept, **given})
        self.answer = self._connection.getresponse()
        assert self.answer.status == 200, self.answer.read()
        assert self.answer.headers["content-type"].startswith(accept)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _value: object, _trace: TracebackType | None) -> None:
        self._connection.close()

    def records(self, count: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while len(found) < count:
            line = self.answer.readline()
            assert line, f"the stream ended after {len(found)} of {count} records: {found}"
            found.append(json.loads(line))
        return found

    def events(self, count: int) -> list[tuple[str, dict[str, Any]]]:
        """The next events, each with its id."""
        found: list[tuple[str, dict[str, Any]]] = []
        name = ""
        while len(found) < count:
            line = self.answer.readline().decode()
            assert line, f"the stream ended after {len(found)} of {count} events"
            field, _, value = line.rstrip("\n").partition(": ")
            if field == "id":
                name = value
            elif field == "data":
                found.append((name, json.loads(value)))
        return found

    def rest(self) -> list[dict[str, Any]]:
        """Everything up to the end."""
        return [json.loads(line) for line in self.answer.read().splitlines()]
