"""A registry as its clients see it, and the schemas of the load: one Avro record each, every one in a subject of its own."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any

from benchmarks.connection import HOST
from benchmarks.wire import UnexpectedAnswer
from benchmarks.wrk import Request

CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"
ASK_LIMIT_SECONDS = 30
FIELDS = (
    {"name": "id", "type": "long"},
    {"name": "name", "type": "string"},
    {"name": "price", "type": "double"},
    {"name": "tags", "type": {"type": "array", "items": "string"}},
    {"name": "note", "type": ["null", "string"], "default": None},
)


def schema(word: str) -> str:
    return json.dumps({"type": "record", "name": f"Order{word}", "namespace": "bench", "fields": FIELDS})


@dataclass(frozen=True, slots=True)
class Api:
    """`prefix` is what stands in front of the paths of Confluent's API."""

    port: int
    prefix: str

    def registration(self, word: str) -> Request:
        return Request(f"{self.prefix}/subjects/bench-{word}-value/versions", json.dumps({"schema": schema(word)}))

    def by_id(self, schema_id: int) -> Request:
        return Request(f"{self.prefix}/schemas/ids/{schema_id}")

    def latest(self, word: str) -> Request:
        return Request(f"{self.prefix}/subjects/bench-{word}-value/versions/latest")

    def subjects(self) -> Request:
        return Request(f"{self.prefix}/subjects")

    def ask(self, request: Request) -> Any:
        """The answer, decoded; an error of the registry is raised."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=ASK_LIMIT_SECONDS)
        method = "POST" if request.body else "GET"
        try:
            connection.request(method, request.path, request.body or None, {"Content-Type": CONTENT_TYPE})
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status != http.HTTPStatus.OK:
            raise UnexpectedAnswer(f"{method} {request.path} answered {answer.status}: {content[:200]!r}")
        return json.loads(content)

    def succeeds(self, request: Request) -> bool:
        try:
            self.ask(request)
        except (OSError, http.client.HTTPException, ValueError, UnexpectedAnswer):
            return False
        return True
