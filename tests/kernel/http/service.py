"""A service as its clients see it: the application on a real server, in a thread with an event loop of its own."""

from __future__ import annotations

import asyncio
import http.client
import socket
import threading
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import orjson
import uvloop
from starlette.types import ASGIApp

from barnabas.kernel.http.answer_cache import AnswerCache
from barnabas.kernel.http.application import Application, Policy
from barnabas.kernel.http.error_answers import ErrorAnswers
from barnabas.kernel.http.listeners import Listener
from barnabas.kernel.http.metrics import Families, RequestMetrics
from barnabas.kernel.http.operation import Operation
from barnabas.kernel.http.router import Handler, Route, Router
from barnabas.kernel.http.server import Server
from barnabas.kernel.http.tls import TlsFiles

HOST = "127.0.0.1"
ANSWER_DEADLINE_S = 90.0
STOP_DEADLINE_S = 5.0

T = TypeVar("T")


def route(method: str, template: str, handler: Handler, *, cached: bool = False) -> Route:
    """A route that no document describes."""
    return Route(method, template, handler, Operation("", "", "", {}), cached)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


@dataclass
class Service:
    """Use as a context: it serves until the end, unless it was stopped before."""

    routes: Iterable[Route]
    policy: Policy = field(default_factory=Policy)
    errors: ErrorAnswers = field(default_factory=ErrorAnswers)
    cache: AnswerCache = field(default_factory=AnswerCache)
    listener: Listener = field(default_factory=lambda: Listener("http", HOST, 0))
    tls: TlsFiles | None = None
    more: Sequence[Families] = ()
    websockets: ASGIApp | None = None

    def __enter__(self) -> Service:
        self.metrics = RequestMetrics("test", self.more)
        router = Router([*self.routes, self.metrics.route()])
        app = Application(
            router,
            self.metrics,
            errors=self.errors,
            cache=self.cache,
            policy=self.policy,
            websockets=self.websockets,
        )
        self._server = Server(app, [self.listener], self.tls, websockets=self.websockets is not None)
        self._server.bind()
        self.port = self._server.addresses[0][1]
        self.failed = threading.Event()
        self._runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
        self._thread = threading.Thread(target=self._run, name="service")
        self._ready, self._over = threading.Event(), False
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        if not self._over:
            self.stop()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something in the loop of the service."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(ANSWER_DEADLINE_S)

    def stop(self, deadline_s: float = STOP_DEADLINE_S) -> None:
        self._over = True
        self.call(self._server.stop(deadline_s))
        self.loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(ANSWER_DEADLINE_S)
        assert not self._thread.is_alive()

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """One request on a connection of its own. Underscores in the names of headers stand for dashes."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=ANSWER_DEADLINE_S)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())
        finally:
            connection.close()

    def connect(self) -> socket.socket:
        return socket.create_connection((HOST, self.port), timeout=ANSWER_DEADLINE_S)

    def raw(self, data: bytes) -> bytes:
        """Send bytes as they are and read until the server closes."""
        with self.connect() as connection:
            connection.sendall(data)
            return read_to_end(connection)

    def _run(self) -> None:
        with self._runner:
            self._runner.run(self._serve())

    async def _serve(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        self._server.start(self.failed.set)
        self._ready.set()
        await self._stopped.wait()


def read_to_end(connection: socket.socket) -> bytes:
    parts = []
    while part := connection.recv(65_536):
        parts.append(part)
    return b"".join(parts)


def read_answers(connection: socket.socket, count: int) -> list[bytes]:
    """The bodies of answers that have a content length, from a connection that stays open."""
    bodies: list[bytes] = []
    with connection.makefile("rb") as stream:
        while len(bodies) < count:
            length = 0
            while (line := stream.readline().strip().lower()) != b"":
                if line.startswith(b"content-length:"):
                    length = int(line.partition(b":")[2])
            bodies.append(stream.read(length))
    return bodies
