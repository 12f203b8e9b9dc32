"""A web server for a few pages. It knows GET and HEAD, and takes no more than a small request."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import Awaitable, Callable
from typing import Final

from core_broker.disk_health import DiskFinding

logger = logging.getLogger(__name__)

PATH: Final = "/metrics"
HEALTH_PATH: Final = "/health"
LIVE_PATH: Final = "/health/live"
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
JSON_TYPE: Final = "application/json"
REQUEST_MAX_BYTES: Final = 16 * 1024
REQUEST_DEADLINE_S: Final = 10.0
ANSWER_DEADLINE_S: Final = 60.0
CONNECTIONS_MAX: Final = 16

Page = Callable[[], Awaitable[bytes]]
Check = Callable[[], Awaitable[DiskFinding]]


class Refusal(Exception):
    """What is answered to a request that is not for the page."""

    def __init__(self, status: str, text: str, *headers: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.headers = headers


class MetricsListener:
    """Answers one request on each connection, one page at a time."""

    def __init__(self, page: Page, check: Check) -> None:
        self._page = page
        self._check = check
        self._turn = asyncio.Lock()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.host, self.port = "", 0

    async def serve(self, sock: socket.socket) -> None:
        self.host, self.port = sock.getsockname()[:2]
        self._server = await asyncio.start_server(self._connected, sock=sock, limit=REQUEST_MAX_BYTES)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            async with asyncio.timeout(REQUEST_DEADLINE_S + ANSWER_DEADLINE_S):
                writer.write(await self._answer(reader))
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):  # a time-out is an OSError too; or the client has gone
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader) -> bytes:
        method = ""
        try:
            if len(self._tasks) > CONNECTIONS_MAX:
                raise Refusal("503 Service Unavailable", f"more than {CONNECTIONS_MAX} connections ask for metrics")
            method, path = _check(await _read_head(reader))
            if path == PATH:
                return _response("200 OK", CONTENT_TYPE, await self._collect(), method=method)
            status, told = await self._health(path)
            return _response(status, JSON_TYPE, json.dumps(told).encode(), method=method)
        except Refusal as refusal:
            body = f"{refusal.text}\n".encode()
            return _response(refusal.status, "text/plain; charset=utf-8", body, *refusal.headers, method=method)

    async def _health(self, path: str) -> tuple[str, dict[str, object]]:
        if path == LIVE_PATH:
            return "200 OK", {"status": "alive"}
        found = await self._check()
        disk: dict[str, object] = {"healthy": found.problem is None}
        if found.space is not None:
            disk |= {"directory": found.space.directory, "free_bytes": found.space.free_bytes}
        if reason := found.problem or found.warning:
            disk["reason"] = reason
        body = {"service": "broker", "checks": {"disk": disk}}
        if found.problem is not None:
            return "503 Service Unavailable", {"status": "unhealthy", "message": f"disk: {found.problem}", **body}
        message = f"warning: {found.warning}" if found.warning else "everything works"
        return "200 OK", {"status": "healthy", "message": message, **body}

    async def _collect(self) -> bytes:
        async with self._turn:
            try:
                return await self._page()
            except Exception:
                logger.exception("the metrics could not be collected")
                raise Refusal(
                    "500 Internal Server Error", "the metrics could not be collected; the broker's log says why"
                ) from None


async def _read_head(reader: asyncio.StreamReader) -> bytes:
    try:
        async with asyncio.timeout(REQUEST_DEADLINE_S):
            return await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        raise Refusal("431 Request Header Fields Too Large", f"a request may have {REQUEST_MAX_BYTES} bytes") from None
    except TimeoutError:
        raise Refusal("408 Request Timeout", f"the request was not whole after {REQUEST_DEADLINE_S:g} s") from None


def _check(head: bytes) -> tuple[str, str]:
    """The method and the path, if the request is for one of the pages."""
    words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise Refusal("400 Bad Request", "this is no HTTP/1 request; metrics are at http://HOST:PORT/metrics")
    method, target, _ = words
    path = target.partition("?")[0]
    if path not in (PATH, HEALTH_PATH, LIVE_PATH):
        raise Refusal("404 Not Found", f"there are {PATH}, {HEALTH_PATH} and {LIVE_PATH}")
    if method not in ("GET", "HEAD"):
        raise Refusal("405 Method Not Allowed", "pages can be read, with GET or HEAD", "Allow: GET, HEAD")
    return method, path


def _response(status: str, content_type: str, body: bytes, *headers: str, method: str) -> bytes:
    lines = [
        f"HTTP/1.1 {status}",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(body)}",
        "Connection: close",
        *headers,
    ]
    head = "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n"
    return head if method == "HEAD" else head + body
