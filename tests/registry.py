"""Our Schema Registry as a process of its own, and a plain way to ask it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any

from tests.service_process import HttpServiceProcess

ANSWER_DEADLINE_S = 90.0
JSON = "application/vnd.schemaregistry.v1+json"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    @property
    def code(self) -> int:
        """The error code of a refusal."""
        code = self.body["error_code"]
        assert isinstance(code, int)
        return code


def ask(
    url: str,
    method: str,
    path: str,
    body: object = None,
    headers: Mapping[str, str] | None = None,
    *,
    modern: bool = True,
) -> Answer:
    """One request; a body that is not bytes is written as JSON. `modern`: as a client that bears unknown members."""
    connection = HTTPConnection(url.removeprefix("http://"), timeout=ANSWER_DEADLINE_S)
    given = {"Confluent-Accept-Unknown-Properties": "true"} if modern else {}
    if body is not None:
        given["Content-Type"] = JSON
    content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    try:
        connection.request(method, path, content, {**given, **(headers or {})})
        response = connection.getresponse()
        lowered = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, lowered, response.read())
    finally:
        connection.close()


class RegistryProcess(HttpServiceProcess):
    """Our Schema Registry."""

    name = "registry"

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        *,
        modern: bool = True,
    ) -> Answer:
        return ask(self.url, method, path, body, headers, modern=modern)
