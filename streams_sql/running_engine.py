"""The engine put together: what it is made of, in the order in which it starts and stops."""

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
from streams_sql.engine.answers import IndexStatus
from streams_sql.engine.assertions import Assertions
from streams_sql.engine.catalogue import Catalogue
from streams_sql.engine.changes import Changes
from streams_sql.engine.command_log import CommandLog
from streams_sql.engine.completeness import Completeness
from streams_sql.engine.connect_client import ConnectClient
from streams_sql.engine.connectors import Connectors
from streams_sql.engine.engine import Engine, EngineParts
from streams_sql.engine.error_log import ErrorLog
from streams_sql.engine.explaining import Explaining
from streams_sql.engine.failures import EngineError
from streams_sql.engine.figures import EngineFigures
from streams_sql.engine.inserting import Inserts
from streams_sql.engine.leadership import Duties, Leadership
from streams_sql.engine.listing import Listing
from streams_sql.engine.outcome import Outcome
from streams_sql.engine.preparation import Preparation
from streams_sql.engine.printing import Printing
from streams_sql.engine.processing_log import ProcessingLog
from streams_sql.engine.pulling import Pulling
from streams_sql.engine.push_jobs import PushJobs
from streams_sql.engine.push_queries import PushQueries
from streams_sql.engine.queries import Queries
from streams_sql.engine.queries_file import QueriesFile
from streams_sql.engine.resolution import Resolution
from streams_sql.engine.retention import RetentionCheck
from streams_sql.engine.scanning import Scanning
from streams_sql.engine.scheduling import Scheduling
from streams_sql.engine.session import PropertyCheck
from streams_sql.engine.swap_tasks import SwapTasks
from streams_sql.engine.swapping import Swapping
from streams_sql.engine.topics import SourceTopics
from streams_sql.engine_settings import MASTER, EngineSettings
from streams_sql.kafka_access import Kafka
from streams_sql.own_folder import OwnFolder
from streams_sql.sources import Source
from streams_sql.spark.driver_process import Driver
from streams_sql.spark.messages import Event, Idle, Open, Progress
from streams_sql.topics.schemas import TopicSchemas
from streams_sql.views.pull_texts import PullTexts
from streams_sql.views.view_follower import ViewFollower
from streams_sql.views.views import Views

RESIGN_DEADLINE_S: Final = 10.0
"""How long queries may take to end their batches when another server is to run them."""

COMMAND_REPLICAS: Final = 3
"""Of the command topic, as of the topics of Kafka's own: it outlives any one broker."""
_FOREVER: Final = {"cleanup.policy": "delete", "retention.ms": "-1"}

KAFKA_CHECK_TIMEOUT_S: Final = 2.0

_logger = logging.getLogger(__name__)


class RunningEngine:
    """`on_applied` hears of each change of the catalogue."""

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
        self._tell = on_applied
        self._catalogue = Catalogue()
        client, registry = kafka.client_settings(), own.registry
        changes = Changes(own.defaults, own.internal_prefix)
        self._commands = CommandLog(self._catalogue, changes, self._on_applied)
        self._log = self._command_log(LogClients(admin, client, client))
        self._commands.open(self._log)
        scratch = str(own.folder / "spark")
        opening = Open(own.settings.text(MASTER), own.spark, kafka.for_spark(), registry, own.internal_prefix, scratch)
        self._driver = Driver(opening, self._hear)
        self._processing_log = ProcessingLog(own.processing_log, client)
        self.errors = ErrorLog(self._processing_log.write, has_rows=own.processing_log.has_rows)
        self._queries = Queries(self._driver, own.queries, self.errors, own.functions)
        self._views = Views(own.folder / "views", client, registry)
        pulls_max = own.settings.integer("ksql.query.pull.max.concurrent.requests")
        self._follower = ViewFollower(self._views, self._tables)
        self._completeness = Completeness(self._catalogue, self._queries, self._views, admin)
        self._pulling = self._make_pulling(pulls_max)
        pushes = own.pushes(client)
        self._jobs = PushJobs(pushes, admin, self._driver, own.queries, f"{identity.host}:{identity.port}")
        self._pushes = PushQueries(pushes, self._jobs, own.queries, self.errors)
        self._inserts = Inserts(client, registry)
        self._connect = ConnectClient(own.connect)
        self._wire = kafka.wire_client()
        duties = Duties(self._resume_queries, self._drop_queries, self._driver.lease)
        self._leadership = Leadership(self._wire, identity, own.election, self._log, duties)
        scheduling = Scheduling(admin, registry, own.queries, self._driver.check_slots)
        preparation = Preparation(SourceTopics(admin, own.replicas), registry, own.defaults, scheduling, own.functions)
        self._file = self._queries_file(changes, preparation, check_property)
        self._folder = OwnFolder(own.folder)
        self._resolution = Resolution(admin, TopicSchemas(client, registry))
        self._scanning = Scanning(client, registry, own.budget, pulls_max)
        self._retention = RetentionCheck(admin, own.queries, self._scanning.earliest_rowtime)
        self._printing = Printing(admin, client, registry, pushes.queries_max)
        self._swapping = self._make_swapping(preparation.topics, client)
        self.engine = Engine(self._parts(changes, preparation, check_property))
        self._swaps = SwapTasks(self.engine.swap)
        self._making_stream: asyncio.Task[None] | None = None
        self._sweeping: asyncio.Task[None] | None = None

    def _command_log(self, clients: LogClients) -> ConfigLog:
        """The command topic; with a file of queries, its statements are all that there is."""
        own, apply = self._own, self._commands.apply
        if own.queries_file is not None:
            return MemoryLog(apply)
        return LeaderLog(own.command_topic, own.election.group_id, clients, apply, self._on_fenced)

    def _queries_file(
        self, changes: Changes, preparation: Preparation, check_property: PropertyCheck
    ) -> QueriesFile | None:
        path = self._own.queries_file
        if path is None:
            return None
        return QueriesFile(path, self._catalogue, changes, preparation, self._commands, check_property)

    def _make_pulling(self, queries_max: int) -> Pulling:
        notes = self._completeness.notes
        return Pulling(
            self._views, self._follower, self._catalogue, self._own.budget, queries_max, self._queries, notes
        )

    def _make_swapping(self, topics: SourceTopics, client: Mapping[str, Any]) -> Swapping:
        self._queries.on_caught_up = self._on_caught_up
        return Swapping(
            self._catalogue,
            self._commands,
            self._queries,
            topics,
            client,
            self._own.internal_prefix,
            self._driver.end_stopped,
            self._run_own_queries,
        )

    def _listing(self) -> Listing:
        return Listing(
            self._catalogue,
            self._admin,
            self._queries.status,
            self._pushes.statuses,
            self._view_text,
            self._index_statuses,
            self._own.shown(),
            self.errors,
            self._completeness.notes,
            self._retention.warnings,
        )

    def _parts(self, changes: Changes, preparation: Preparation, check_property: PropertyCheck) -> EngineParts:
        own, catalogue = self._own, self._catalogue
        listing = self._listing()
        return EngineParts(
            catalogue=catalogue,
            changes=changes,
            commands=self._commands,
            leadership=self._leadership,
            preparation=preparation,
            listing=listing,
            explaining=Explaining(
                catalogue,
                own.defaults,
                listing,
                self._queries,
                PullTexts(self._views),
                self._resolution,
                self._scanning,
            ),
            inserts=self._inserts,
            pushes=self._pushes,
            pulling=self._pulling,
            resolution=self._resolution,
            scanning=self._scanning,
            printing=self._printing,
            swapping=self._swapping,
            connectors=Connectors(self._connect, catalogue),
            assertions=Assertions(
                self._admin,
                own.registry,
                own.settings.integer("ksql.assert.topic.default.timeout.ms"),
                own.settings.integer("ksql.assert.schema.default.timeout.ms"),
            ),
            check_property=check_property,
            functions=own.functions,
            incompleteness=self._completeness.notes,
            retention=self._retention.warnings,
            catch_up=self._log.read_to_end,
            refusal=None if self._file is None else self._file.refusal,
        )

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
        await self._jobs.sweep()
        await self._processing_log.start(self._admin)
        await self._follower.start()
        self._completeness.start()
        self._leadership.start()

    async def _command_replicas(self) -> int:
        """Statements are lost with the last copy of their topic, so they do not depend on what is good enough for any topic."""
        if self._own.replicas != BROKER_DEFAULT:
            return self._own.replicas
        return min(COMMAND_REPLICAS, (await self._admin.cluster()).brokers)

    async def end_queries(self) -> None:
        """Those of clients, which would else keep the server from stopping."""
        await asyncio.gather(self._pushes.stop(), self._printing.stop())

    async def stop(self) -> None:
        await self._leadership.stop()
        own = (self._making_stream, self._sweeping, *self._swaps.running)
        tasks = [task for task in own if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._completeness.stop()
        await self._driver.stop()
        await self._follower.stop()
        self._scanning.stop()
        await self._inserts.stop()
        await asyncio.to_thread(self._processing_log.stop)
        await self._log.stop()
        await self._wire.close()
        await self._connect.close()
        self._folder.close()

    async def kafka_problem(self) -> str | None:
        """Why Kafka cannot be used: it is asked, since the election learns of a silence late."""
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

    def figures(self) -> EngineFigures:
        """What is counted here, where most is known by the one who runs the queries."""
        return EngineFigures(
            queries=[self._queries.status(query) for query in self._catalogue.queries.values()],
            views=self._views.status(),
            errors=self.errors.counts(),
            pushes=len(self._pushes.statuses()),
            pushes_started=self._pushes.started,
            pulls=self._pulling.running,
            pulls_started=self._pulling.started,
            is_leader=self._leadership.is_leader,
        )

    # --- what happens ---

    def _on_applied(self, outcome: Outcome) -> None:
        self._tell(outcome)
        if self._leadership.is_leader:
            for query in outcome.ended:
                self._queries.forget(query.id)
            self._run_queries()
        self._follower.catalogue_changed()
        self._completeness.catalogue_changed()

    def _on_fenced(self) -> None:
        self._leadership.lost()

    def _on_caught_up(self, query_id: str) -> None:
        """A query that was built in the place of another one may take it."""
        if self._leadership.is_leader:
            self._swaps.begin(query_id)

    def _run_own_queries(self) -> None:
        """Those that it is this server's turn to run."""
        if self._leadership.is_leader:
            self._run_queries()

    async def _sweep(self) -> None:
        try:
            await self._swapping.sweep()
        except StoreFailure as failure:
            _logger.warning("topics of queries that are built no more are not deleted: %s", failure)

    def _run_queries(self) -> None:
        self._queries.reconcile(self._catalogue.queries.values())

    def _resume_queries(self) -> None:
        """What a file asks for may never have run; what the command topic has was run by a server before."""
        self._queries.reconcile(self._catalogue.queries.values(), are_resumed=self._file is None)
        self._completeness.catalogue_changed()
        self._sweeping = asyncio.create_task(self._sweep(), name="sweep topics")
        statement = self._own.processing_log.stream_statement
        if statement is not None and self._file is None:
            self._making_stream = asyncio.create_task(self._make_stream(statement), name="make the stream of errors")

    async def _make_stream(self, statement: str) -> None:
        try:
            await self.engine.execute(statement, {}, {})
        except EngineError as problem:
            _logger.warning("the stream of errors is not made: %s", problem)

    async def _drop_queries(self) -> None:
        self._queries.reconcile(())
        await self._driver.end_stopped(RESIGN_DEADLINE_S)

    def _hear(self, event: Event) -> None:
        self._queries.hear(event)
        self._pushes.hear(event)
        if isinstance(event, Progress | Idle):
            self._completeness.progressed()

    def _tables(self) -> list[Source]:
        return [source for source in self._catalogue.sources.values() if source.has_view]

    def _index_statuses(self) -> tuple[IndexStatus, ...]:
        return tuple(
            IndexStatus(index.name, source.name, index.columns, self._views.index_state(source, index))
            for source in self._catalogue.sources.values()
            for index in source.indexes
        )

    def _view_text(self, name: str) -> str:
        view = self._views.view(name)
        if view is None:
            return ""
        status = view.status()
        text = f"view lag: {status.lag}"
        for index in view.source.indexes:
            text += f"\nindex {index}: {self._views.index_state(view.source, index)}"
        if status.problem_count:
            text += f"\nrecords that cannot be read: {status.problem_count}"
        return text if status.problem is None else f"{text}\n{status.problem}"
