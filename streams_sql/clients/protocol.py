"""What clients of both kinds send, and how they read what comes back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import httpx
import orjson

from streams_sql.clients.failures import Refused, ServerUnreachable

DEFAULT_URL: Final = "http://127.0.0.1:8088"
JSON: Final = "application/json"
DELIMITED: Final = "application/vnd.ksqlapi.delimited.v1"
ARROW: Final = "application/vnd.apache.arrow.stream"
ROWS_HEADERS: Final = {"accept": DELIMITED, "x-barnabas-figures": "true"}
"""Rows as lines, and behind them what they cost, where the server tells it."""
OK: Final = 200
CONNECT_TIMEOUT_S: Final = 10.0
ANSWER_TIMEOUT_S: Final = 120.0
CLOSE_TIMEOUT_S: Final = 5.0

Settings: TypeAlias = Mapping[str, str]

# What ends a call before there is an answer.
CALL_PROBLEMS: Final = (httpx.HTTPError, httpx.InvalidURL)


class Session:
    """What goes along with each request: properties and variables, and how far the catalogue was when it was last changed from here, so that
    another server of the same service knows of the change, too."""

    def __init__(self, url: str, properties: Settings | None, variables: Settings | None, timeout_s: float) -> None:
        self.url = url.rstrip("/")
        self._timeout_s = timeout_s
        self.properties = dict(properties or {})
        self.variables = dict(variables or {})
        self._position: int | None = None

    def statement_body(self, sql: str) -> Mapping[str, Any]:
        body = {"ksql": sql, "streamsProperties": self.properties, "sessionVariables": self.variables}
        return body if self._position is None else {**body, "commandSequenceNumber": self._position}

    def query_body(self, sql: str) -> Mapping[str, Any]:
        return {"sql": sql, "properties": self.properties, "sessionVariables": self.variables}

    def heed(self, entities: Iterable[Mapping[str, Any]]) -> None:
        for entity in entities:
            self._position = entity.get("commandSequenceNumber", self._position)

    def timeout(self, *, is_endless: bool = False) -> httpx.Timeout:
        """Rows of a push query may be long in coming."""
        return httpx.Timeout(None if is_endless else self._timeout_s, connect=min(CONNECT_TIMEOUT_S, self._timeout_s))

    @property
    def verifies(self) -> bool:
        """Without TLS there is nothing to verify, and reading the certificates of the system takes longer than a call."""
        return urlsplit(self.url).scheme == "https"


def answer(response: httpx.Response) -> Any:
    """The JSON of an answer that has been read. Refused, ServerUnreachable."""
    return parsed_answer(str(response.request.url.copy_with(path="/")), response.status_code, response.content)


def parsed_answer(url: str, status: int, content: bytes) -> Any:
    try:
        body = orjson.loads(content)
    except orjson.JSONDecodeError:
        body = None
    if status == OK and body is not None:
        return body
    if isinstance(body, dict) and "@type" in body:
        raise Refused.of(body)
    raise ServerUnreachable(f"{url} answers {status}, but not as a SQL server does")


def unreachable(url: str, problem: Exception) -> ServerUnreachable:
    return ServerUnreachable(f"cannot reach the SQL server at {url}: {str(problem) or type(problem).__name__}")


def broken_off(url: str, problem: Exception) -> ServerUnreachable:
    return ServerUnreachable(f"{url} broke off its answer: {str(problem) or type(problem).__name__}")


class LineCutter:
    """Lines of an answer that comes in pieces. Only newlines end them: JSON leaves other separators of lines as they are in texts."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []

    def cut(self, piece: bytes) -> list[bytes]:
        """The lines that are whole now, without empty ones."""
        first, *others = piece.split(b"\n")
        self._begun.append(first)
        if not others:
            return []
        lines = [b"".join(self._begun), *others[:-1]]
        self._begun = [others[-1]]
        return [line for line in lines if line]
