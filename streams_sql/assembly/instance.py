"""Puts an instance together from its settings."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Final
from urllib.parse import urlsplit

from barnabas.kernel.http import http_settings
from barnabas.kernel.http.answer_cache import AnswerCache
from barnabas.kernel.http.application import Application
from barnabas.kernel.http.error_answers import ErrorAnswers
from barnabas.kernel.http.health import Health
from barnabas.kernel.http.metrics import RequestMetrics
from barnabas.kernel.http.openapi import with_document
from barnabas.kernel.http.request import BodyLimits
from barnabas.kernel.http.router import Route, Router
from barnabas.kernel.http.server import Server
from barnabas.kernel.kafka_clients.admin import Admin
from barnabas.kernel.leadership.forwarding import Forwarder
from barnabas.kernel.leadership.identity import Identity
from barnabas.kernel.serdes.registry_check import RegistryCheck
from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Settings
from streams_sql.assembly.running_engine import RunningEngine
from streams_sql.engine.engine import Engine
from streams_sql.engine.failures import Starting
from streams_sql.engine.metrics import EngineMetrics
from streams_sql.engine_settings import EngineSettings
from streams_sql.http import query_metrics
from streams_sql.http.inserts import InsertPages
from streams_sql.http.operation import API
from streams_sql.http.problems import Problems, shape
from streams_sql.http.queries import QueryPages
from streams_sql.http.server_pages import ServerPages
from streams_sql.http.server_state import CommandStatuses, ServerState, ServerStatus
from streams_sql.http.shapes import Shapes
from streams_sql.http.statements import StatementPages
from streams_sql.http.websocket import QuerySocket
from streams_sql.kafka_access import Kafka
from streams_sql.properties import property_problem

BODY_MAX_BYTES: Final = 16 * 1024 * 1024


class Instance:
    """One server. HTTP is served while it starts, and says so."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._own = EngineSettings(settings)
        self._kafka = Kafka.of(settings)
        self._statuses = CommandStatuses()
        self._stopping = asyncio.Event()
        self._forwarder = Forwarder()
        self._metrics = RequestMetrics("streams_sql", [query_metrics.families(self._engine_metrics)])
        self._host = ""
        self._cluster_id = ""
        self._running: RunningEngine | None = None
        self._status = ServerStatus.INITIALIZING
        registry = self._own.registry
        self._registry = None if registry is None else RegistryCheck(registry.url, registry.credentials)
        checks = {"server": self._start_problem, "kafka": self._kafka_problem, "spark": self._spark_problem}
        if self._registry is not None:
            checks["registry"] = self._registry.problem
        self._health = Health("sql", checks, {"server", "kafka", "spark"})

    def server(self) -> Server:
        shapes = Shapes(lambda: self._host)
        problems = Problems(shapes)
        application = Application(
            Router(with_document(API, self._routes(shapes, problems))),
            self._metrics,
            errors=ErrorAnswers(problems.translate, shape=shape),
            # What the server knows may change with each record.
            cache=AnswerCache(max_bytes=0),
            policy=http_settings.policy(self._settings, BodyLimits(max_bytes=BODY_MAX_BYTES)),
            websockets=QuerySocket(self._engine, problems),
        )
        return http_settings.server(application, self._settings, websockets=True)

    async def start(self, addresses: Sequence[tuple[str, int]]) -> None:
        """Read the catalogue, and join the group of servers. StoreFailure, SettingError."""
        identity = _identity(self._settings, addresses)
        self._host = f"{identity.host}:{identity.port}"
        admin = Admin(self._kafka.client_settings())
        self._cluster_id = (await admin.reach()).id
        self._running = RunningEngine(self._own, self._kafka, admin, identity, property_problem, self._statuses.note)
        await self._running.start()
        self._status = ServerStatus.RUNNING

    async def end_queries(self) -> None:
        """Those of clients, which would else keep the server from stopping."""
        self._stopping.set()
        if self._running is not None:
            await self._running.end_queries()

    async def stop(self) -> None:
        if self._running is not None:
            await self._running.stop()
        await self._forwarder.close()
        if self._registry is not None:
            await self._registry.close()

    def _routes(self, shapes: Shapes, problems: Problems) -> Iterator[Route]:
        yield from StatementPages(self._engine, shapes, self._forwarder).routes()
        yield from QueryPages(self._engine, problems).routes()
        yield from InsertPages(self._engine, problems, self._stopping).routes()
        yield from self._health.routes()
        yield from self._server_pages().routes()
        yield self._metrics.route()

    def _server_pages(self) -> ServerPages:
        return ServerPages(self._state, self._part_problems, self._statuses, lambda name: property_problem(name, ""))

    def _engine(self) -> Engine:
        if self._running is None or self._status is not ServerStatus.RUNNING:
            raise Starting("The server is starting: it reads its catalogue. Try again in a moment.")
        return self._running.engine

    def _engine_metrics(self) -> EngineMetrics:
        is_started = self._status is ServerStatus.RUNNING
        return self._running.metrics() if self._running is not None and is_started else EngineMetrics()

    async def _start_problem(self) -> str | None:
        is_started = self._status is ServerStatus.RUNNING
        return None if is_started else "the server is starting: it waits for Kafka, or reads its catalogue"

    async def _kafka_problem(self) -> str | None:
        return None if self._running is None else await self._running.kafka_problem()

    async def _spark_problem(self) -> str | None:
        return None if self._running is None else self._running.spark_problem

    async def _part_problems(self) -> dict[str, str | None]:
        """What ksqlDB's page shows, under its names."""
        if self._running is None:
            return {}
        problems = await self._health.problems()
        return {"metastore": None, "kafka": problems["kafka"], "commandRunner": None, "spark": problems["spark"]}

    def _state(self) -> ServerState:
        return ServerState(version("barnabas"), self._cluster_id, self._own.service_id, self._host, self._status)


def _identity(settings: Settings, addresses: Sequence[tuple[str, int]]) -> Identity:
    """How other servers reach this one: at its first listener, unless another address is advertised."""
    advertised = settings.text("ksql.advertised.listener")
    if advertised:
        parts = urlsplit(advertised)
        if parts.scheme not in ("http", "https") or parts.hostname is None or parts.port is None:
            raise SettingError("ksql.advertised.listener", advertised, "expected http://HOST:PORT")
        return Identity(parts.scheme, parts.hostname, parts.port)
    return Identity.at(settings.items_of("listeners")[0], addresses[0])
