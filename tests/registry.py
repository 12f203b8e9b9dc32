"""Our Schema Registry as a process of its own, and a plain way to ask it."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.ports import HOST
from tests.service_process import ServiceProcess

ANSWER_DEADLINE_S = 30.0
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


class RegistryProcess(ServiceProcess):
    """`barnabas serve registry` on the cluster of some broker."""

    def __init__(self, home: Path, bootstrap: str, port: int = 0, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(home)
        self._bootstrap = bootstrap
        self._port = port
        self._settings = dict(settings or {})

    @property
    def address(self) -> str:
        return self.announced

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def command(self) -> list[str]:
        program = Path(sys.executable).with_name("barnabas")
        where = ["--listeners", f"http://{HOST}:{self._port}", "--bootstrap-servers", self._bootstrap]
        settings = [word for name, value in self._settings.items() for word in ("--set", f"{name}={value}")]
        return [str(program), "serve", "registry", *where, *settings]

    def is_ready(self) -> bool:
        return bool(self.address)

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
