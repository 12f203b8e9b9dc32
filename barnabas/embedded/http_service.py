"""A service on this machine, asked over HTTP with what Python has: the fixtures of a test must not depend on a client's package."""

from __future__ import annotations

import json
from http.client import HTTPConnection, HTTPException
from typing import Any, Final
from urllib.parse import urlsplit

TIMEOUT_S: Final = 60.0
FIRST_ERROR: Final = 400
SHOWN_CHARACTERS_MAX: Final = 500


class Refusal(Exception):
    """The service's own words, with its status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text[:SHOWN_CHARACTERS_MAX]}")
        self.status = status


class NoAnswer(Exception):
    """The service cannot be reached, or what it says is no HTTP."""


class HttpService:
    """Each call has a connection of its own: between two of them a test may take longer than a server keeps one."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._place = urlsplit(url).netloc

    def call(self, method: str, path: str, body: object = None) -> Any:
        """What the answer says in JSON. Refusal, NoAnswer."""
        connection = HTTPConnection(self._place, timeout=TIMEOUT_S)
        headers = {"Content-Type": "application/json"}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, HTTPException) as problem:
            raise NoAnswer(f"{self.url} does not answer: {problem!r}") from None
        finally:
            connection.close()
        if answer.status >= FIRST_ERROR:
            raise Refusal(answer.status, content.decode(errors="replace"))
        return json.loads(content or b"null")
