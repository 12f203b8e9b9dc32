"""Requests to a registry over kept connections, to the next address when one does not answer."""

from __future__ import annotations

import base64
import http.client
import json
import threading
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlencode, urlsplit

from barnabas.kernel import current_request

TIMEOUT_DEFAULT_MS: Final = 10_000
ANSWER_MAX_BYTES: Final = 256 * 1024 * 1024
CONTENT_TYPE: Final = "application/vnd.schemaregistry.v1+json"
# Newer members of answers come only to clients that say they bear them.
ACCEPT_UNKNOWN: Final = "Confluent-Accept-Unknown-Properties"

Query = Mapping[str, str | int | bool | None]


class RegistryClientError(Exception):
    """A registry's refusal, or its silence: then `status` and `code` are None."""

    def __init__(self, status: int | None, code: int | None, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


class RegistryTransport:
    """One kept connection for each address. Calls from several threads are made one after the other."""

    def __init__(self, urls: str, user_info: str | None = None, timeout_ms: int = TIMEOUT_DEFAULT_MS) -> None:
        self._addresses = [_Address(url.strip(), user_info, timeout_ms) for url in urls.split(",") if url.strip()]
        if not self._addresses:
            raise RegistryClientError(None, None, "no registry is named: give a URL such as http://127.0.0.1:8081")
        self._current = 0
        self._lock = threading.Lock()

    def close(self) -> None:
        with self._lock:
            for address in self._addresses:
                address.close()

    def call(self, method: str, path: str, query: Query | None = None, body: object = None) -> Any:
        """Send a request and return the JSON of its answer; None for an answer without a body."""
        target = path + _query_text(query or {})
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        with self._lock:
            status, answer = self._exchange(method, target, data)
        return _parsed(status, answer)

    def _exchange(self, method: str, target: str, data: bytes | None) -> tuple[int, bytes]:
        reasons = []
        for _ in self._addresses:
            address = self._addresses[self._current]
            try:
                return address.exchange(method, target, data)
            except (OSError, http.client.HTTPException) as error:
                reasons.append(f"{address.shown}: {_reason(error)}")
                self._current = (self._current + 1) % len(self._addresses)
        raise RegistryClientError(None, None, f"cannot reach the schema registry at {'; '.join(reasons)}")


class _Address:
    """A registry at one URL."""

    def __init__(self, url: str, user_info: str | None, timeout_ms: int) -> None:
        parts = _split(url)
        self._host = parts.hostname or ""
        self._port = parts.port
        self._secure = parts.scheme == "https"
        self._prefix = parts.path.rstrip("/")
        self._timeout_s = timeout_ms / 1000
        self._headers = {"Accept": CONTENT_TYPE, "Content-Type": CONTENT_TYPE, ACCEPT_UNKNOWN: "true"}
        if parts.username is not None:
            user_info = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        if user_info:
            self._headers["Authorization"] = f"Basic {base64.b64encode(user_info.encode()).decode()}"
        self._connection: http.client.HTTPConnection | None = None
        # A password in a URL stays out of messages.
        self.shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{self._prefix}"

    def exchange(self, method: str, target: str, data: bytes | None) -> tuple[int, bytes]:
        kept = self._connection is not None
        try:
            return self._try(method, target, data)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            # The other side may close a connection that was idle; a new one tells whether it is there.
            if not kept:
                raise
            return self._try(method, target, data)

    def _try(self, method: str, target: str, data: bytes | None) -> tuple[int, bytes]:
        connection = self._connection or self._open()
        try:
            connection.request(method, self._prefix + target, data, {**self._headers, **current_request.headers()})
            answer = connection.getresponse()
            text = answer.read(ANSWER_MAX_BYTES + 1)
        except BaseException:
            self.close()
            raise
        if len(text) > ANSWER_MAX_BYTES:
            self.close()
            raise OSError(f"the answer to {method} {target} has more than {ANSWER_MAX_BYTES} bytes")
        self._connection = connection
        return answer.status, text

    def _open(self) -> http.client.HTTPConnection:
        if self._secure:
            return http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout_s)
        return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout_s)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts
    except ValueError:
        # urlsplit's own words for a port that is no number say less than those below.
        pass
    raise RegistryClientError(None, None, f"{url!r} is no address of a registry: write http://host:port")


def _query_text(query: Query) -> str:
    """Without what is None or false, which is the default everywhere."""
    given = {name: "true" if value is True else value for name, value in query.items() if value not in (None, False)}
    return f"?{urlencode(given)}" if given else ""


def _parsed(status: int, answer: bytes) -> Any:
    try:
        content = json.loads(answer) if answer else None
    except ValueError:
        shown = answer[:200].decode("utf-8", "replace")
        raise RegistryClientError(status, status, f"the answer is not JSON (status {status}): {shown}") from None
    if 200 <= status < 300:
        return content
    known = content if isinstance(content, dict) else {}
    message = known.get("message") or f"the registry answered with status {status}"
    raise RegistryClientError(status, known.get("error_code", status), message)


def _reason(error: OSError | http.client.HTTPException) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
