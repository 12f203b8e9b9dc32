"""The engine of a server: its roles, the order in which they start and stop, and what they learn from each other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from barnabas.kernel.kafka_clients.admin import Admin
from barnabas.kernel.kafka_clients.topic_shape import BROKER_DEFAULT, TopicShape
from barnabas.kernel.kafka_log.failures import StoreFailure
from barnabas.kernel.kafka_log.log import ConfigLog, MemoryLog
from barnabas.kernel.kafka_log.topic_log import LeaderLog, LogClients
from barnabas.kernel.leadership.identity import Identity
from streams_sql.assembly.client_queries import client_queries
from streams_sql.assembly.engine_context import EngineContext
from streams_sql.assembly.statements import catalogue_statements, statement_executor
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.catalogue.changes import Changes
from streams_sql.engine.catalogue.command_log import CommandLog, CommandReplay
from streams_sql.engine.catalogue.leadership import Duties, Leadership
from streams_sql.engine.catalogue.outcome import Outcome
from streams_sql.engine.client_queries.table_views import TableViews
from streams_sql.engine.engine import Engine
from streams_sql.engine.failures import EngineError
from streams_sql.engine.metrics import EngineMetrics
from streams_sql.engine.queries.completeness import Completeness
from streams_sql.engine.queries.error_log import ErrorLog
from streams_sql.engine.queries.processing_log import ProcessingLog
from streams_sql.engine.queries.query_runner import QueryRunner
from streams_sql.engine.queries.scheduling import Scheduler
from streams_sql.engine.statements.preparation import Preparation
from streams_sql.engine.statements.queries_file import QueriesFile
from streams_sql.engine.statements.request import SqlRequest, parse_request
from streams_sql.engine.statements.session import PropertyCheck, Sessions
from streams_sql.engine.statements.source_topics import SourceTopics
from streams_sql.engine_settings import MASTER, EngineSettings
from streams_sql.kafka_access import Kafka
from streams_sql.own_folder import OwnFolder
from streams_sql.spark.driver.messages import Event, Idle, Open, Progress
from streams_sql.spark.driver.process import Driver

COMMAND_REPLICAS: Final = 3
"""Of the command topic, as of the topics of Kafka's own: it outlives any one broker."""
_FOREVER: Final = {"cleanup.policy": "delete", "retention.ms": "-1"}

KAFKA_CHECK_TIMEOUT_S: Final = 2.0

_logger = logging.getLogger(__name__)


class RunningEngine:
    """`on_applied` is called for each change of the catalogue."""

    def __init__(
        self,
        own: EngineSettings,
        kafka: Kafka,
        admin: Admin,
        identity: Identity,
        check_property: PropertyCheck,
        on_applied: Callable[[Outcome], None],
    ) -> None:
        self._own = own
        self._admin = admin
        self._notify = on_applied
        self._folder = OwnFolder(own.folder)
        self._catalogue = Catalogue()
        client = kafka.client_settings()
        self._processing_log = ProcessingLog(own.processing_log, client)
        self._errors = ErrorLog(self._processing_log.write, has_rows=own.processing_log.has_rows)
        self._driver = Driver(_opening(own, kafka), self._on_event)

        changes = Changes(own.defaults, own.internal_prefix)
        replay = CommandReplay(self._catalogue, changes, self._on_applied)
        self._log = self._command_log(LogClients(admin, client, client), replay)
        commands = CommandLog(self._log, replay)

        topics = SourceTopics(admin, own.replicas)
        self._runner = self._query_runner(commands, topics, client)
        queries = self._runner.queries
        self._views = TableViews(own.folder / "views", client, own.registry, self._catalogue)
        self._completeness = Completeness(self._catalogue, queries, self._views.views, admin)
        self._wire = kafka.wire_client()
        duties = Duties(self._lead, self._runner.resign, self._driver.lease)
        self._leadership = Leadership(self._wire, identity, own.election, self._log, duties)

        sessions = Sessions(check_property, self._catalogue)
        context = EngineContext(own, admin, client, self._catalogue, sessions, self._errors)
        host = f"{identity.host}:{identity.port}"
        self._clients = client_queries(context, self._driver, queries, self._views, self._completeness, host)
        scheduler = Scheduler(admin, own.registry, own.queries, self._driver.check_slots)
        preparation = Preparation(topics, own.registry, own.defaults, scheduler, own.functions)
        changing = catalogue_statements(context, changes, commands, self._leadership, preparation, self._clients)
        path = own.queries_file
        self._file = None if path is None else QueriesFile(path, changing, check_property)
        rejection = None if self._file is None else self._file.rejection
        self._statements = statement_executor(
            context, changing, queries, self._clients, self._views, self._completeness, rejection
        )
        self.engine = Engine(self._statements, self._clients, commands, self._leadership)
        self._stream_task: asyncio.Task[None] | None = None

    def _command_log(self, clients: LogClients, replay: CommandReplay) -> ConfigLog:
        """The command topic; with a file of queries, its statements are all that there is."""
        own = self._own
        if own.queries_file is not None:
            return MemoryLog(replay.apply)
        return LeaderLog(own.command_topic, own.election.group_id, clients, replay.apply, self._on_fenced)

    def _query_runner(self, commands: CommandLog, topics: SourceTopics, client: Mapping[str, Any]) -> QueryRunner:
        own = self._own
        return QueryRunner(
            self._catalogue,
            commands,
            self._driver,
            own.queries,
            self._errors,
            own.functions,
            topics,
            client,
            own.internal_prefix,
        )

    # --- start and stop ---

    async def start(self) -> None:
        """Read every command, and join the group of servers. StoreFailure."""
        own = self._own
        await self._folder.open()
        # Spark needs seconds to start, so it is first.
        self._driver.start()
        if self._file is None:
            await self._admin.create_topic(TopicShape(own.command_topic, 1, await self._command_replicas(), _FOREVER))
        await self._log.start()
        if self._file is not None:
            await self._file.run()
        await self._clients.pushes.sweep()
        await self._processing_log.start(self._admin)
        await self._views.follower.start()
        self._completeness.start()
        self._leadership.start()

    async def _command_replicas(self) -> int:
        """Statements are lost with the last copy of their topic, so they do not depend on what is good enough for any topic."""
        if self._own.replicas != BROKER_DEFAULT:
            return self._own.replicas
        return min(COMMAND_REPLICAS, (await self._admin.cluster()).brokers)

    async def end_queries(self) -> None:
        """End the queries of clients, which would else keep the server from stopping."""
        await self._clients.end_all()

    async def stop(self) -> None:
        await self._leadership.stop()
        if self._stream_task is not None:
            self._stream_task.cancel()
            await asyncio.gather(self._stream_task, return_exceptions=True)
        await self._runner.stop()
        await self._completeness.stop()
        await self._driver.stop()
        await self._views.follower.stop()
        self._clients.scans.stop()
        await self._statements.stop()
        await asyncio.to_thread(self._processing_log.stop)
        await self._log.stop()
        await self._wire.close()
        self._folder.close()

    # --- state ---

    async def kafka_problem(self) -> str | None:
        """Why Kafka cannot be used: it is called, since the election notices a silence late."""
        if self._leadership.error is not None:
            return self._leadership.error
        try:
            await self._admin.cluster(KAFKA_CHECK_TIMEOUT_S)
        except StoreFailure as failure:
            return str(failure)
        return None

    @property
    def spark_problem(self) -> str | None:
        return self._driver.problem

    def metrics(self) -> EngineMetrics:
        """What is counted here, where most is known by the server that runs the queries."""
        pushes, pulls = self._clients.pushes, self._clients.pulls
        return EngineMetrics(
            queries=[self._runner.queries.status(query) for query in self._catalogue.queries.values()],
            views=self._views.views.status(),
            errors=self._errors.counts(),
            pushes=len(pushes.statuses()),
            pushes_started=pushes.started,
            pulls=pulls.running,
            pulls_started=pulls.started,
            is_leader=self._leadership.is_leader,
        )

    # --- events ---

    def _on_applied(self, outcome: Outcome) -> None:
        self._notify(outcome)
        self._runner.catalogue_changed(outcome)
        self._views.follower.catalogue_changed()
        self._completeness.catalogue_changed()

    def _on_fenced(self) -> None:
        self._leadership.lost()

    def _on_event(self, event: Event) -> None:
        self._runner.queries.on_event(event)
        self._clients.pushes.on_event(event)
        if isinstance(event, Progress | Idle):
            self._completeness.progressed()

    def _lead(self) -> None:
        """What a file contains may never have run; what the command topic has was run by a server before."""
        self._runner.lead(are_resumed=self._file is None)
        self._completeness.catalogue_changed()
        statement = self._own.processing_log.stream_statement
        if statement is not None and self._file is None:
            self._stream_task = asyncio.create_task(self._create_stream(statement), name="create the stream of errors")

    async def _create_stream(self, statement: str) -> None:
        try:
            await self.engine.execute(parse_request(SqlRequest(statement)))
        except EngineError as problem:
            _logger.warning("the stream of errors is not created: %s", problem)


def _opening(own: EngineSettings, kafka: Kafka) -> Open:
    scratch = str(own.folder / "spark")
    return Open(own.settings.text(MASTER), own.spark, kafka.for_spark(), own.registry, own.internal_prefix, scratch)
