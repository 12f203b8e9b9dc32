"""Puts an instance together from its settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from barnabas.kernel.http import http_settings
from barnabas.kernel.http.answer_cache import AnswerCache
from barnabas.kernel.http.application import Application
from barnabas.kernel.http.error_answers import ErrorAnswers
from barnabas.kernel.http.metrics import RequestMetrics
from barnabas.kernel.http.openapi import with_document
from barnabas.kernel.http.request import BodyLimits
from barnabas.kernel.http.router import Route, Router
from barnabas.kernel.http.server import Server
from barnabas.kernel.settings import Settings
from rest_proxy import docs_page
from rest_proxy.api import API
from rest_proxy.clients import Clients
from rest_proxy.formats.formats import Formats
from rest_proxy.health import ServiceHealth
from rest_proxy.origins import Origins
from rest_proxy.problems import translate
from rest_proxy.proxy import Proxy
from rest_proxy.record_log import RecordLog
from rest_proxy.stopping import Stopping
from rest_proxy.streams import stateless
from rest_proxy.streams.live import LiveStreams
from rest_proxy.v2 import produce as produce_v2
from rest_proxy.v2 import topics as topics_v2
from rest_proxy.v2.consumers import Consumers
from rest_proxy.v2.media import error_type
from rest_proxy.v3 import acls, brokers, clusters, configs, groups, partitions, produce, topics

REQUESTS_MAX = 5_000
"""Requests under way at once; an open stream is one."""


class Instance:
    """One instance of the proxy. Made in the running event loop."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        # What is wrong with a setting shows before any client is made.
        formats, origins = Formats(settings), Origins(settings)
        self._proxy = Proxy(
            settings, Clients(settings), formats, origins, Stopping(), RecordLog(settings.text("request.log"))
        )
        self._health = ServiceHealth(self._proxy)
        self._consumers = Consumers(self._proxy)
        self._streams = LiveStreams(self._proxy)
        self._metrics = RequestMetrics("rest_proxy", [self._families])

    def server(self) -> Server:
        settings = self._settings
        application = Application(
            Router(with_document(API, self.routes(), self._proxy.origins.of)),
            self._metrics,
            errors=ErrorAnswers(
                partial(translate, brokers=", ".join(settings.items_of("bootstrap.servers"))), error_type
            ),
            # What a cluster says may change with each request.
            cache=AnswerCache(max_bytes=0),
            policy=http_settings.policy(
                settings, BodyLimits(max_bytes=settings.integer("producer.request.max.bytes")), REQUESTS_MAX
            ),
        )
        return http_settings.server(application, settings)

    def _families(self) -> Iterator[Metric]:
        clients = self._proxy.clients
        reachable = 0 if clients.reachability.is_known_to_be_away else 1
        yield GaugeMetricFamily("rest_proxy_kafka_reachable", "0 while no broker is known to answer.", reachable)
        taken = clients.producer.records_taken
        yield CounterMetricFamily("rest_proxy_records_taken", "Records that were taken to be written.", taken)
        failed = self._proxy.record_log.records_failed
        yield CounterMetricFamily("rest_proxy_records_failed", "Records that could not be written.", failed)

    async def start(self, _addresses: Sequence[tuple[str, int]]) -> None:
        """There is nothing to read before requests can be served."""

    async def end_streams(self) -> None:
        """Let streams, uploads and long reads end, which would else keep the server from stopping."""
        self._proxy.stopping.set()

    async def stop(self) -> None:
        await self._consumers.stop()
        await self._health.stop()
        await self._proxy.formats.stop()
        await self._proxy.clients.stop()

    def routes(self) -> Iterator[Route]:
        proxy = self._proxy
        if self._settings.boolean("api.v2.enable"):
            for module in (topics_v2, produce_v2, stateless):
                yield from module.routes(proxy)
            yield from self._consumers.routes()
        if self._settings.boolean("api.v3.enable"):
            for part in (clusters, topics, configs, partitions, brokers, groups, acls, produce):
                yield from part.routes(proxy)
            yield from self._streams.routes()
        yield from self._health.routes()
        yield self._metrics.route()
        yield docs_page.ROUTE
