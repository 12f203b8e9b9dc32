"""Assemble a worker from its settings."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from barnabas.kernel.http import http_settings
from barnabas.kernel.http.answer_cache import AnswerCache
from barnabas.kernel.http.application import Application
from barnabas.kernel.http.error_answers import ErrorAnswers
from barnabas.kernel.http.health import live_routes
from barnabas.kernel.http.json_only import json_only
from barnabas.kernel.http.metrics import RequestMetrics
from barnabas.kernel.http.openapi import with_document
from barnabas.kernel.http.request import BodyLimits
from barnabas.kernel.http.router import Route, Router
from barnabas.kernel.http.server import Server
from barnabas.kernel.kafka_clients.admin import Admin
from barnabas.kernel.kafka_log.failures import StoreFailure
from barnabas.kernel.kafka_log.topic_log import LogClients
from barnabas.kernel.leadership.forwarding import Forwarder
from barnabas.kernel.leadership.routing import settle_s
from barnabas.kernel.settings import Settings
from connect.cluster.group import Group, RebalanceListener, StandaloneGroup
from connect.cluster.routing import FORWARDING, Routing
from connect.cluster.worker_group import Identity, WorkerGroup
from connect.config.providers import Providers
from connect.herder.connector_files import read_connector
from connect.herder.herder import ANSWER_TIMEOUT_S, Herder
from connect.herder.member import Member
from connect.herder.views import About
from connect.http.connectors import Connectors
from connect.http.operation import API
from connect.http.plugins import PluginPages
from connect.http.problems import translate
from connect.http.root import Root
from connect.http.startup import Startup
from connect.http.task_metrics import families
from connect.plugins.catalogue import installed
from connect.plugins.plugin_files import passed_over
from connect.storage.internal_topics import provide
from connect.storage.sink_offsets import SinkOffsets
from connect.storage.status_writer import StatusWriter
from connect.storage.stores import Stores, standalone_stores, topic_stores
from connect.tasks.clients import ClientKind, client_settings
from connect.tasks.host import TaskHost
from connect.tasks.spec import WorkerConfig
from connect.version import VERSION
from connect.worker.context import WorkerContext
from connect.worker.loggers import Loggers
from connect.worker_settings import WorkerSettings

REQUESTS_MAX: Final = 1_000
BODY_MAX_BYTES: Final = 16 * 1024 * 1024
ANSWER_INTERVAL_S: Final = 0.5

_logger = logging.getLogger(__name__)


class Instance:
    """One worker with its HTTP server, which serves while the worker starts. Made in the running event loop."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._own = WorkerSettings(settings)
        paths = settings.items_of("plugin.path")
        for path in passed_over(paths):
            _logger.warning("plugin.path names %s, which is neither a folder nor a Python file", path)
        self._plugins = installed(paths)
        self._providers = Providers(self._own.properties)
        self._loggers = Loggers()
        self._startup = Startup()
        self._metrics = RequestMetrics("connect", [families(self._startup.task_metrics)])
        self._resources = AsyncExitStack()

    def server(self) -> Server:
        application = Application(
            Router(with_document(API, self._routes())),
            self._metrics,
            errors=ErrorAnswers(translate),
            # How things are may change with each request.
            cache=AnswerCache(max_bytes=0),
            policy=http_settings.policy(self._settings, BodyLimits(max_bytes=BODY_MAX_BYTES), REQUESTS_MAX),
        )
        return http_settings.server(application, self._settings)

    async def start(self, addresses: Sequence[tuple[str, int]]) -> None:
        """Read the topics, and join the group. StoreFailure, TopicUnfit, SettingError."""
        own, stack = self._own, self._resources
        identity = own.identity(addresses)
        config = own.worker_config(identity.worker_id)
        clients = _log_clients(config)
        self._startup.stage = "asking Kafka for its topics"
        cluster = await clients.admin.reach()
        stores = await stack.enter_async_context(await self._stores(clients))
        forwarder = Forwarder(FORWARDING)
        stack.push_async_callback(forwarder.close)
        context = self._context(config, stores, identity)
        member = Member(stores, context, forwarder, own.key_lifetime_ms, self._group_factory(identity))
        stack.push_async_callback(self._stop, member, context, clients.admin)
        herder = Herder(
            About(VERSION, own.commit, cluster.id),
            stores,
            context,
            member,
            clients.admin,
            SinkOffsets(clients.admin, clients.consumer, own.wire_client),
            self._settings.boolean("topic.tracking.allow.reset"),
        )
        wait_s = settle_s(self._own.group.session_timeout_ms)
        self._startup.finish(herder, Routing(forwarder, member.group, wait_s, stores.configs.log.read_to_end))
        member.group.start()
        await self._start_connectors(member.group, herder)

    async def stop(self) -> None:
        await self._resources.aclose()

    async def _stop(self, member: Member, context: WorkerContext, admin: Admin) -> None:
        """Tasks stop before the worker leaves its group, since others may start them then."""
        watch = asyncio.create_task(_watch_kafka(admin, context.host), name="watch Kafka")
        await member.worker.close()
        await member.group.stop()
        await context.host.close(context.grace_s)
        await context.statuses.stop(waits=not watch.done())
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)

    def _routes(self) -> Iterator[Route]:
        for pages in (
            Root(self._startup, self._loggers),
            PluginPages(self._plugins, self._startup),
            Connectors(self._startup),
        ):
            for route in pages.routes():
                yield replace(route, handler=json_only(route.handler))
        yield from live_routes()
        yield self._metrics.route()

    async def _stores(self, clients: LogClients) -> AbstractAsyncContextManager[Stores]:
        own = self._own
        if own.is_standalone:
            return standalone_stores(own.offsets_file)
        await provide(clients.admin, own.topics.config, (own.topics.offsets, own.topics.status))
        self._startup.stage = "reading its topics"
        return topic_stores(clients, own.topics, own.group_id)

    def _context(self, config: WorkerConfig, stores: Stores, identity: Identity) -> WorkerContext:
        own = self._own
        return WorkerContext(
            config=config,
            plugins=self._plugins,
            providers=self._providers,
            host=TaskHost(),
            loggers=self._loggers,
            statuses=StatusWriter(stores.statuses, identity.worker_id),
            offsets=stores.offsets,
            restart_policy=own.restart_policy,
            grace_s=own.grace_s,
            tracks_topics=own.tracks_topics,
        )

    def _group_factory(self, identity: Identity) -> Callable[[RebalanceListener], Group]:
        if self._own.is_standalone:
            return StandaloneGroup
        client = self._own.wire_client()
        self._resources.push_async_callback(client.close)
        return partial(WorkerGroup, client, identity, self._own.group)

    async def _start_connectors(self, group: Group, herder: Herder) -> None:
        """Those in the files of a standalone worker."""
        for path in self._settings.items_of("standalone.connectors"):
            found = read_connector(Path(path))
            await group.settle(0)
            await herder.create(found.name, found.config, found.initial_state)


def _log_clients(config: WorkerConfig) -> LogClients:
    admin, consumer, producer = (
        client_settings(config, {}, kind, f"barnabas-connect-{config.worker_id}")
        for kind in (ClientKind.ADMIN, ClientKind.CONSUMER, ClientKind.PRODUCER)
    )
    return LogClients(Admin(admin), consumer, producer)


async def _watch_kafka(admin: Admin, host: TaskHost) -> None:
    """Return when Kafka is away. Then nothing can be committed, and tasks that stop are not waited for: what they have not committed is
    read again, as after a crash."""
    try:
        while True:
            await admin.cluster(ANSWER_TIMEOUT_S)
            await asyncio.sleep(ANSWER_INTERVAL_S)
    except StoreFailure:
        host.hurry()
