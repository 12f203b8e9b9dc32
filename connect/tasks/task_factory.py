"""A task from its configuration."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from connect.api.plugin import Plugin, PluginKind
from connect.api.settings import read
from connect.errors import ConnectError
from connect.plugins import plugin_files
from connect.plugins.catalogue import Plugins
from connect.tasks import delivery as deliveries
from connect.tasks.clients import MAX_POLL_RECORDS, ClientKind, client_settings, given_settings
from connect.tasks.context import TaskContext
from connect.tasks.control import Control
from connect.tasks.dead_letter_queue import DeadLetterQueue, ensure_queue
from connect.tasks.record_consumer import BATCH_RECORDS_MAX, CONSUMER_DEFAULTS, RecordConsumer
from connect.tasks.record_decoder import RecordDecoder
from connect.tasks.record_encoder import RecordEncoder
from connect.tasks.record_producer import RecordProducer, producer_settings
from connect.tasks.retries import Retries
from connect.tasks.settings import (
    MS_PER_S,
    ErrorSettings,
    SinkSettings,
    SourceSettings,
    TransactionBoundary,
    error_settings,
    sink_settings,
    source_settings,
)
from connect.tasks.sink_task import SinkTask
from connect.tasks.source_offsets import READER_SETTINGS, ReachedOffsets, read_offsets
from connect.tasks.source_task import SourceTask
from connect.tasks.spec import TaskSpec, WorkerConfig
from connect.tasks.task_converters import converters_of
from connect.tasks.task_metrics import TaskMetrics
from connect.tasks.tolerance import Tolerance
from connect.tasks.topic_creation import TopicCreation, Topics, topic_groups
from connect.tasks.transform_chain import TransformChain, links_of

logger = logging.getLogger(__name__)

CONNECTOR_CLASS = "connector.class"
TASK_SHARDS = "task.shards"


def plugins_of(worker: WorkerConfig) -> Plugins:
    """Loaded here, so that a plugin that cannot be loaded is a failure of the task, which is told."""
    from connect.tasks.preloaded import PLUGINS

    paths = [path.strip() for path in worker.properties.get("plugin.path", "").split(",") if path.strip()]
    return Plugins([*PLUGINS, *plugin_files.load(paths)]) if paths else PLUGINS


def connector_plugin(config: Mapping[str, str], plugins: Plugins) -> Plugin:
    try:
        name = config[CONNECTOR_CLASS]
    except KeyError:
        raise ConnectError(f"{CONNECTOR_CLASS} is missing: it names the connector") from None
    return plugins.find(name, (PluginKind.SOURCE, PluginKind.SINK))


def made(plugin: Plugin, config: Mapping[str, str]) -> Any:
    """The connector with its typed settings; InvalidSettings."""
    return plugin.made_by(read(plugin.settings_type, config))


@dataclass(frozen=True, slots=True)
class TaskFactory:
    """Makes the task of a spec."""

    spec: TaskSpec
    plugins: Plugins
    control: Control
    tell: Callable[[object], None]

    def make(self) -> SourceTask | SinkTask:
        plugin = connector_plugin(self.spec.config, self.plugins)
        return self._source_task(plugin) if plugin.kind is PluginKind.SOURCE else self._sink_task(plugin)

    def _source_task(self, plugin: Plugin) -> SourceTask:
        spec, config = self.spec, self.spec.config
        source = made(plugin, config)
        settings = source_settings(config)
        errors = error_settings(config)
        metrics = TaskMetrics(is_source=True)
        retries = Retries(errors, self.control.wait, self.tell, metrics)
        is_exactly_once = spec.worker.exactly_once_source and spec.worker.offsets_topic is not None
        producer = RecordProducer(self._producer_settings(is_exactly_once), self.control.check)
        tolerance = Tolerance(errors, spec.id, metrics, self._queue(errors, producer, retries))
        context = self._context(metrics, tolerance, retries)
        encoder = RecordEncoder(
            TransformChain(links_of(config, self.plugins), tolerance),
            converters_of(config, spec.worker.properties, self.plugins),
            tolerance,
            retries,
        )
        groups = topic_groups(config, settings.topic_creation_groups) if spec.worker.topic_creation else ()
        delivery = self._delivery(settings, producer, context, is_exactly_once=is_exactly_once)
        shards = json.loads(config.get(TASK_SHARDS, "[{}]"))
        return SourceTask(source, shards, encoder, delivery, TopicCreation(groups, self._topics()), context)

    def _delivery(
        self, settings: SourceSettings, producer: RecordProducer, context: TaskContext, *, is_exactly_once: bool
    ) -> deliveries.Delivery:
        spec = self.spec
        topic = settings.offsets_topic or spec.worker.offsets_topic
        offsets = spec.offsets
        interval_s = context.commit_interval_s
        if is_exactly_once and topic is not None:
            reader = client_settings(
                spec.worker, spec.config, ClientKind.CONSUMER, self._client_id("offsets"), READER_SETTINGS
            )
            context.retries.call(lambda: deliveries.shut_out_predecessors(producer))
            # Only now is nobody left who could still move them.
            offsets = context.retries.call(lambda: read_offsets(reader, topic, spec.id.connector))
            interval_s = _transaction_s(settings, interval_s)
        parts = deliveries.DeliveryContext(
            producer, ReachedOffsets(spec.id.connector, offsets), context.tolerance, context.metrics, interval_s
        )
        if topic is None:
            return deliveries.ReportedDelivery(parts, self.tell)
        return (deliveries.TransactionalDelivery if is_exactly_once else deliveries.StoredDelivery)(parts, topic)

    def _sink_task(self, plugin: Plugin) -> SinkTask:
        spec, config = self.spec, self.spec.config
        sink = made(plugin, config)
        subscription = sink_settings(config)
        errors = error_settings(config)
        sink.tolerates_rejected = errors.tolerates_all
        metrics = TaskMetrics(is_source=False)
        retries = Retries(errors, self.control.wait, self.tell, metrics)
        has_queue = bool(errors.dlq_topic)
        producer = RecordProducer(self._producer_settings(), self.control.check) if has_queue else None
        queue = None if producer is None else self._queue(errors, producer, retries)
        tolerance = Tolerance(errors, spec.id, metrics, queue)
        converters = converters_of(config, spec.worker.properties, self.plugins)
        chain = TransformChain(links_of(config, self.plugins), tolerance)
        return SinkTask(
            sink,
            RecordDecoder(converters, chain, tolerance, retries),
            lambda task: self._consumer(subscription, task),
            producer,
            Retries(errors, self.control.wait, self.tell, metrics),
            self._context(metrics, tolerance, retries),
        )

    def _consumer(self, subscription: SinkSettings, task: SinkTask) -> RecordConsumer:
        spec = self.spec
        defaults = {**CONSUMER_DEFAULTS, "group.id": f"connect-{spec.id.connector}"}
        given = {
            **given_settings(spec.worker.properties, "consumer."),
            **given_settings(spec.config, "consumer.override."),
        }
        return RecordConsumer(
            client_settings(spec.worker, spec.config, ClientKind.CONSUMER, self._client_id("consumer"), defaults),
            subscription,
            int(given.get(MAX_POLL_RECORDS, BATCH_RECORDS_MAX)),
            task,
        )

    def _queue(self, errors: ErrorSettings, producer: RecordProducer, retries: Retries) -> DeadLetterQueue | None:
        if not errors.dlq_topic:
            return None
        retries.call(lambda: ensure_queue(errors, self._topics()))
        return DeadLetterQueue(errors, self.spec.id, producer)

    def _producer_settings(self, is_exactly_once: bool = False) -> dict[str, Any]:
        spec = self.spec
        return producer_settings(
            spec.worker,
            spec.config,
            self._client_id("producer"),
            transactional_id(spec.worker.group_id, spec.id.connector, spec.id.number) if is_exactly_once else None,
        )

    def _topics(self) -> Topics:
        spec = self.spec
        return Topics(client_settings(spec.worker, spec.config, ClientKind.ADMIN, self._client_id("admin")))

    def _context(self, metrics: TaskMetrics, tolerance: Tolerance, retries: Retries) -> TaskContext:
        worker = self.spec.worker
        return TaskContext(
            self.control, metrics, tolerance, retries, self.tell,
            worker.offset_flush_interval_ms / MS_PER_S, worker.offset_flush_timeout_ms / MS_PER_S,
        )  # fmt: skip

    def _client_id(self, role: str) -> str:
        return f"connector-{role}-{self.spec.id}"


def transactional_id(group_id: str, connector: str, task: int) -> str:
    """Kafka Connect's name for it."""
    return f"{group_id}-{connector}-{task}"


def _transaction_s(settings: SourceSettings, commit_interval_s: float) -> float:
    """How long a transaction lasts; 0: it ends with each batch."""
    if settings.boundary is TransactionBoundary.POLL:
        return 0.0
    given_ms = settings.boundary_interval_ms
    return commit_interval_s if given_ms is None else given_ms / MS_PER_S
