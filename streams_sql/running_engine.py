"""The engine put together: what it is made of, in the order in which it starts and stops."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from barnabas.kernel.kafka_clients.admin import Admin, TopicShape
from barnabas.kernel.kafka_log.log import ConfigLog, MemoryLog
from barnabas.kernel.kafka_log.topic_log import LeaderLog, LogClients
from barnabas.wire.election.identity import Identity
from streams_sql.engine.catalogue import Catalogue
from streams_sql.engine.changes import Changes, Outcome
from streams_sql.engine.command_log import CommandLog
from streams_sql.engine.engine import Engine, EngineParts
from streams_sql.engine.explaining import Explaining
from streams_sql.engine.inserting import Inserts
from streams_sql.engine.leadership import Duties, Leadership
from streams_sql.engine.listing import Listing
from streams_sql.engine.preparation import Preparation
from streams_sql.engine.printing import Printing
from streams_sql.engine.pulling import Pulling
from streams_sql.engine.push_jobs import PushJobs
from streams_sql.engine.push_queries import PushQueries
from streams_sql.engine.queries import Queries
from streams_sql.engine.queries_file import QueriesFile
from streams_sql.engine.scheduling import Scheduling
from streams_sql.engine.session import PropertyCheck
from streams_sql.engine.topics import SourceTopics
from streams_sql.engine_settings import MASTER, EngineSettings
from streams_sql.kafka_access import Kafka
from streams_sql.own_folder import OwnFolder
from streams_sql.sources import Source
from streams_sql.spark.driver_process import Driver
from streams_sql.spark.messages import Event, Open
from streams_sql.views.views import Views

RESIGN_DEADLINE_S: Final = 10.0
"""How long queries may take to end their batches when another server is to run them."""

_FOREVER: Final = {"cleanup.policy": "delete", "retention.ms": "-1"}

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
        changes = Changes(own.defaults)
        self._commands = CommandLog(self._catalogue, changes, self._on_applied)
        self._log = self._command_log(LogClients(admin, client, client))
        self._commands.open(self._log)
        scratch = str(own.folder / "spark")
        opening = Open(own.settings.text(MASTER), own.spark, kafka.for_spark(), registry, own.internal_prefix, scratch)
        self._driver = Driver(opening, self._hear)
        self._queries = Queries(self._driver, own.queries)
        self._views = Views(own.folder / "views", client, registry)
        pushes = own.pushes(client)
        self._jobs = PushJobs(pushes, admin, self._driver, own.queries, f"{identity.host}:{identity.port}")
        self._pushes = PushQueries(pushes, self._jobs, own.queries)
        self._inserts = Inserts(client, registry)
        self._wire = kafka.wire_client()
        duties = Duties(self._resume_queries, self._drop_queries, self._driver.lease)
        self._leadership = Leadership(self._wire, identity, own.election, self._log, duties)
        scheduling = Scheduling(admin, registry, own.queries, self._driver.check_slots)
        preparation = Preparation(SourceTopics(admin, own.replicas), registry, own.defaults, scheduling)
        self._file = (
            None
            if own.queries_file is None
            else QueriesFile(own.queries_file, self._catalogue, changes, preparation, self._commands, check_property)
        )
        self._folder = OwnFolder(own.folder)
        self._printing = Printing(admin, client, registry, pushes.queries_max)
        self.engine = Engine(self._parts(changes, preparation, check_property))
        self._following: asyncio.Task[None] | None = None
        self._is_following = asyncio.Event()

    def _command_log(self, clients: LogClients) -> ConfigLog:
        """The command topic; with a file of queries, its statements are all that there is."""
        own, apply = self._own, self._commands.apply
        if own.queries_file is not None:
            return MemoryLog(apply)
        return LeaderLog(own.command_topic, own.election.group_id, clients, apply, self._on_fenced)

    def _parts(self, changes: Changes, preparation: Preparation, check_property: PropertyCheck) -> EngineParts:
        own, catalogue = self._own, self._catalogue
        listing = Listing(
            catalogue, self._admin, self._queries.status, self._pushes.statuses, self._view_text, own.shown()
        )
        pulls_max = own.settings.integer("ksql.query.pull.max.concurrent.requests")
        return EngineParts(
            catalogue=catalogue,
            changes=changes,
            commands=self._commands,
            leadership=self._leadership,
            preparation=preparation,
            listing=listing,
            explaining=Explaining(catalogue, own.defaults, listing, self._queries),
            inserts=self._inserts,
            pushes=self._pushes,
            pulling=Pulling(self._views, catalogue, own.budget, pulls_max),
            printing=self._printing,
            check_property=check_property,
            catch_up=self._log.read_to_end,
            refusal=None if self._file is None else self._file.refusal,
        )

    async def start(self) -> None:
        """Read every command, and join the group of servers. StoreFailure."""
        own = self._own
        self._folder.open()
        # Spark needs seconds to start, so it is first.
        self._driver.start()
        if self._file is None:
            await self._admin.create_topic(TopicShape(own.command_topic, 1, own.replicas, _FOREVER))
        await self._log.start()
        if self._file is not None:
            await self._file.run()
        await self._jobs.sweep()
        await self._views.start()
        await self._views.follow(self._tables())
        self._following = asyncio.create_task(self._follow(), name="follow the catalogue")
        self._leadership.start()

    async def end_queries(self) -> None:
        """Those of clients, which would else keep the server from stopping."""
        await asyncio.gather(self._pushes.stop(), self._printing.stop())

    async def stop(self) -> None:
        await self._leadership.stop()
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)
        await self._driver.stop()
        await self._views.stop()
        await self._inserts.stop()
        await self._log.stop()
        await self._wire.close()
        self._folder.close()

    @property
    def health(self) -> dict[str, bool]:
        return {
            "metastore": True,
            "kafka": self._leadership.error is None,
            "commandRunner": True,
            "spark": self._driver.unavailable is None,
        }

    @property
    def health_reasons(self) -> dict[str, str]:
        """Why a part is not well."""
        found = {"kafka": self._leadership.error, "spark": self._driver.unavailable}
        return {name: str(reason) for name, reason in found.items() if reason is not None}

    # --- what happens ---

    def _on_applied(self, outcome: Outcome) -> None:
        self._tell(outcome)
        if self._leadership.is_leader:
            for query in outcome.ended:
                self._queries.forget(query.id)
            self._run_queries()
        self._is_following.set()

    def _on_fenced(self) -> None:
        self._leadership.lost()

    def _run_queries(self) -> None:
        self._queries.reconcile(self._catalogue.queries.values())

    def _resume_queries(self) -> None:
        """What a file asks for may never have run; what the command topic has was run by a server before."""
        self._queries.reconcile(self._catalogue.queries.values(), are_resumed=self._file is None)

    async def _drop_queries(self) -> None:
        self._queries.reconcile(())
        await self._driver.end_stopped(RESIGN_DEADLINE_S)

    def _hear(self, event: Event) -> None:
        self._queries.hear(event)
        self._pushes.hear(event)

    async def _follow(self) -> None:
        """Views follow the catalogue."""
        while True:
            await self._is_following.wait()
            self._is_following.clear()
            try:
                await self._views.follow(self._tables())
            except Exception:
                _logger.exception("views could not follow the catalogue")

    def _tables(self) -> list[Source]:
        """Tables that queries fill, and those that are declared for being asked."""
        return [
            source
            for source in self._catalogue.sources.values()
            if source.is_table and source.schema.key and (source.query_id is not None or source.is_read_only)
        ]

    def _view_text(self, name: str) -> str:
        view = self._views.view(name)
        if view is None:
            return ""
        status = view.status()
        text = f"view lag: {status.lag}"
        if status.problem_count:
            text += f"\nrecords that cannot be read: {status.problem_count}"
        return text if status.problem is None else f"{text}\n{status.problem}"
