"""Puts a worker together from its settings."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from barnabas.kernel.http import http_settings
from barnabas.kernel.http.answer_cache import AnswerCache
from barnabas.kernel.http.application import Application
from barnabas.kernel.http.error_answers import ErrorAnswers
from barnabas.kernel.http.metrics import RequestMetrics
from barnabas.kernel.http.request import BodyLimits
from barnabas.kernel.http.router import Route, Router
from barnabas.kernel.http.server import Server
from barnabas.kernel.kafka_clients.admin import Admin, Cluster
from barnabas.kernel.kafka_log.failures import StoreFailure
from barnabas.kernel.kafka_log.topic_log import LogClients
from barnabas.kernel.leadership.forwarding import Forwarder
from barnabas.kernel.settings import Settings
from barnabas.wire.client import Client
from connect.cluster.group import Alone, Group
from connect.cluster.membership import Identity, Membership
from connect.cluster.routing import FORWARDING, Routing
from connect.config.providers import Providers
from connect.http.connectors import Connectors
from connect.http.plugins import PluginPages
from connect.http.problems import translate
from connect.http.root import Root
from connect.http.task_metrics import families
from connect.plugins.catalogue import installed
from connect.plugins.plugin_files import passed_over
from connect.tasks.clients import ClientKind, client_settings
from connect.tasks.host import TaskHost
from connect.tasks.spec import WorkerContext
from connect.version import VERSION
from connect.worker import stores
from connect.worker.config_checks import ConfigChecks
from connect.worker.connector_files import read_connector
from connect.worker.connector_offsets import ConnectorOffsets
from connect.worker.leading import Leading, is_fencing_needed
from connect.worker.loggers import Loggers
from connect.worker.member import Equipment, Member
from connect.worker.runner import Runner
from connect.worker.running import RunningTools
from connect.worker.sink_offsets import SinkOffsets
from connect.worker.status_board import StatusBoard
from connect.worker.stores import Appliers, Stores
from connect.worker.task_publishing import TaskPublishing
from connect.worker.views import About
from connect.worker.worker import TopicTracking, Worker, WorkerParts
from connect.worker_settings import WorkerSettings

REQUESTS_MAX: Final = 1_000
BODY_MAX_BYTES: Final = 16 * 1024 * 1024
KAFKA_TIMEOUT_S: Final = 5.0
KAFKA_RETRY_S: Final = 1.0
ANSWER_TIMEOUT_S: Final = 2.0
"""Kafka counts as away when it does not answer a worker that stops for so long."""
ANSWER_INTERVAL_S: Final = 0.5

_logger = logging.getLogger(__name__)


class Instance:
    """One worker: what it is made of, in the order in which it starts and stops. Made in the running event loop."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._own = WorkerSettings(settings)
        self._loggers = Loggers()
        self._member = Member(self._loggers)
        paths = settings.items_of("plugin.path")
        for path in passed_over(paths):
            _logger.warning("plugin.path names %s, which is neither a folder nor a Python file", path)
        self._plugins = installed(paths)
        self._providers = Providers(self._own.properties)
        self._forwarder = Forwarder(FORWARDING)
        self._host = TaskHost()
        self.worker = Worker(self._member, self._loggers)
        self._routing = Routing(self._forwarder)
        self._metrics = RequestMetrics("connect", [families(self.worker.figures)])
        self._admin: Admin | None = None
        self._client: Client | None = None
        self._stores: Stores | None = None
        self._board: StatusBoard | None = None
        self._group: Group | None = None
        self._runner: Runner | None = None

    def server(self) -> Server:
        application = Application(
            Router(self._routes()),
            self._metrics,
            errors=ErrorAnswers(translate),
            # How things are may change with each request.
            cache=AnswerCache(max_bytes=0),
            policy=http_settings.policy(self._settings, BodyLimits(max_bytes=BODY_MAX_BYTES), REQUESTS_MAX),
        )
        return http_settings.server(application, self._settings)

    async def start(self, addresses: Sequence[tuple[str, int]]) -> None:
        """Read what the group was told, and join it. StoreFailure, TopicUnfit, SettingError."""
        identity = self._own.identity(addresses)
        context = self._own.context(identity.worker_id)
        clients = self._log_clients(context)
        self._admin = clients.admin
        self.worker.stage = "asking Kafka for its topics"
        cluster = await self._reached(clients.admin)
        self._stores = await self._open_stores(clients)
        self.worker.stage = "reading its topics"
        await self._stores.start()
        parts = self._parts(identity, context, clients, About(VERSION, self._own.commit, cluster.id))
        self.worker.start(parts)
        self._routing.start(parts.group, parts.config_log.read_to_end)
        parts.group.start()
        await self._start_connectors(parts.group)

    async def stop(self) -> None:
        """Tasks stop before the group hears that this worker goes, since others may start them then."""
        watching = asyncio.create_task(self._watch_kafka(), name="watch Kafka")
        if self._runner is not None:
            await self._runner.close()
        if self._group is not None:
            await self._group.stop()
        await self._host.close(self._own.grace_s)
        if self._board is not None:
            await self._board.stop(waits=not watching.done())
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        if self._stores is not None:
            await self._stores.stop()
        await self._forwarder.close()
        if self._client is not None:
            await self._client.close()

    async def _watch_kafka(self) -> None:
        """Return when Kafka is away. Then nothing can be committed, and tasks that stop are not waited for: what they have not committed
        is read again, as after a crash."""
        if self._admin is None:
            return
        try:
            while True:
                await self._admin.cluster(ANSWER_TIMEOUT_S)
                await asyncio.sleep(ANSWER_INTERVAL_S)
        except StoreFailure:
            self._host.hurry()

    async def _kafka_problem(self) -> str | None:
        if self._admin is None:
            return None
        try:
            await self._admin.cluster(ANSWER_TIMEOUT_S)
        except StoreFailure as failure:
            return str(failure)
        return None

    def _routes(self) -> Iterator[Route]:
        yield from Root(self.worker, self._routing, self._kafka_problem).routes()
        yield from PluginPages(self._plugins, self.worker).routes()
        yield from Connectors(self.worker, self._routing).routes()
        yield Route("GET", "/metrics", self._metrics.page)

    def _log_clients(self, context: WorkerContext) -> LogClients:
        admin, consumer, producer = (
            client_settings(context, {}, kind, f"barnabas-connect-{context.worker_id}")
            for kind in (ClientKind.ADMIN, ClientKind.CONSUMER, ClientKind.PRODUCER)
        )
        return LogClients(Admin(admin), consumer, producer)

    async def _open_stores(self, clients: LogClients) -> Stores:
        own, member = self._own, self._member
        appliers = Appliers(member.apply_configs, member.apply_statuses)
        if own.is_standalone:
            return stores.alone(own.offsets_file, appliers)
        return await stores.in_topics(clients, own.topics, own.group_id, appliers, member.fenced)

    def _parts(self, identity: Identity, context: WorkerContext, clients: LogClients, about: About) -> WorkerParts:
        assert self._stores is not None
        own, member, found = self._own, self._member, self._stores
        self._group = group = self._make_group(identity)
        publishing = TaskPublishing(member.state, found.config_log, group, self._forwarder)
        self._board = board = StatusBoard(found.status_log, member.statuses, identity.worker_id)
        tools = RunningTools(
            plugins=self._plugins,
            host=self._host,
            board=board,
            offsets=found.offsets,
            providers=self._providers,
            context=context,
            restart_policy=own.restart_policy,
            grace_s=own.grace_s,
            tracks_topics=own.tracks_topics,
            levels=lambda: self._loggers.for_tasks,
            publish_tasks=publishing.publish,
        )

        def may_start(connector: str) -> bool:
            return not is_fencing_needed(member.state, tools, connector)

        self._runner = runner = Runner(member.state, member.statuses, tools, may_start, member.released)
        leading = Leading(found.config_log, member.state, member.statuses, tools, own.key_lifetime_ms)
        member.equip(Equipment(found.config_log, runner, leading, group))
        sinks = SinkOffsets(clients.admin, clients.consumer, own.wire_client)
        return WorkerParts(
            about=about,
            state=member.state,
            statuses=member.statuses,
            group=group,
            config_log=found.config_log,
            status_log=found.status_log,
            tools=tools,
            runner=runner,
            checks=ConfigChecks(tools),
            publishing=publishing,
            offsets=ConnectorOffsets(member.state, group, tools, found.offsets, sinks),
            tracking=TopicTracking(own.tracks_topics, self._settings.boolean("topic.tracking.allow.reset")),
        )

    def _make_group(self, identity: Identity) -> Group:
        if self._own.is_standalone:
            return Alone(self._member)
        self._client = self._own.wire_client()
        return Membership(self._client, identity, self._own.membership, self._member)

    async def _reached(self, admin: Admin) -> Cluster:
        """A worker that starts before Kafka does waits for it."""
        while True:
            try:
                return await admin.cluster(KAFKA_TIMEOUT_S)
            except StoreFailure as failure:
                servers = ", ".join(self._settings.items_of("bootstrap.servers"))
                _logger.warning("Kafka at %s does not answer, and is asked again: %s", servers, failure)
                await asyncio.sleep(KAFKA_RETRY_S)

    async def _start_connectors(self, group: Group) -> None:
        """Those in the files of a standalone worker."""
        for path in self._settings.items_of("standalone.connectors"):
            found = read_connector(Path(path))
            await group.settle(0)
            await self.worker.create(found.name, found.config, found.initial_state)
