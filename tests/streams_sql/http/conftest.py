"""The pages on a real server, in front of an engine that tests set up."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest

from barnabas.kernel.http.error_answers import ErrorAnswers
from barnabas.kernel.http.router import Route
from barnabas.kernel.leadership.forwarding import Forwarder
from streams_sql.engine.engine import Engine
from streams_sql.engine.failures import Starting
from streams_sql.http.inserts import InsertPages
from streams_sql.http.problems import Problems, shape
from streams_sql.http.queries import QueryPages
from streams_sql.http.server_pages import ServerPages
from streams_sql.http.server_state import CommandStatuses, ServerState, ServerStatus
from streams_sql.http.shapes import Shapes
from streams_sql.http.statements import StatementPages
from streams_sql.http.websocket import QuerySocket
from tests.kernel.http.service import Answer, Service
from tests.streams_sql.http.staged_engine import StagedEngine


@dataclass
class Stage:
    """A server, while it is used as a context."""

    engine: StagedEngine = field(default_factory=StagedEngine)
    statuses: CommandStatuses = field(default_factory=CommandStatuses)
    is_started: bool = True

    def __post_init__(self) -> None:
        shapes = Shapes(lambda: "127.0.0.1:8088")
        self._problems = Problems(shapes)
        self._shapes = shapes
        self._forwarder = Forwarder()
        self.stopping = asyncio.Event()
        self.service = Service(
            list(self._routes()),
            errors=ErrorAnswers(self._problems.translate, shape=shape),
            websockets=QuerySocket(self._engine, self._problems),
        )

    def __enter__(self) -> Stage:
        self.service.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.service.call(self._forwarder.close())
        self.service.__exit__(*error)

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        raw = body if isinstance(body, bytes) else orjson.dumps(body)
        return self.service.ask("POST", path, raw, **headers)

    def get(self, path: str, **headers: str) -> Answer:
        return self.service.ask("GET", path, None, **headers)

    def _engine(self) -> Engine:
        if not self.is_started:
            raise Starting("The server is starting.")
        return self.engine

    def _state(self) -> ServerState:
        status = ServerStatus.RUNNING if self.is_started else ServerStatus.INITIALIZING
        return ServerState("1.2.3", "c1", "default_", "127.0.0.1:8088", status)

    async def _part_problems(self) -> dict[str, str | None]:
        return {"kafka": None if self.is_started else "nobody answers"}

    def _routes(self) -> Iterator[Route]:
        yield from StatementPages(self._engine, self._shapes, self._forwarder).routes()
        yield from QueryPages(self._engine, self._problems).routes()
        yield from InsertPages(self._engine, self._problems, self.stopping).routes()
        yield from ServerPages(self._state, self._part_problems, self.statuses, _property_problem).routes()


def _property_problem(name: str) -> str | None:
    return None if name == "auto.offset.reset" else f"'{name}' is no property"


@pytest.fixture
def stage() -> Iterator[Stage]:
    with Stage() as made:
        yield made
