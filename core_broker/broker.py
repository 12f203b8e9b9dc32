"""The broker: everything that it owns, started and stopped in order."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TypeVar

from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Settings
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.struct import Message
from core_broker import listeners
from core_broker.cleaner import Cleaner, CleanerSettings
from core_broker.commit import GroupCommit
from core_broker.configs.log import log_directory
from core_broker.configs.metrics_address import MetricsAddress
from core_broker.configs.relations import completed
from core_broker.context import Listener
from core_broker.coordinators.groups.coordinator import GroupCoordinator
from core_broker.coordinators.timers import LoopTimers, SteadyTimers
from core_broker.coordinators.transactions.coordinator import TransactionCoordinator
from core_broker.disk_health import DiskHealth
from core_broker.fetch_sessions import FetchSessions
from core_broker.log.checkpoints import TopicPartition
from core_broker.log.directory import LogDirectory, LogDirectoryError
from core_broker.log.disk import Disk
from core_broker.log.meta_properties import decode_uuid
from core_broker.log.partition_log import PartitionLog
from core_broker.metadata.config_view import broker_config, topic_config
from core_broker.metadata.image import ClusterImage
from core_broker.metadata.producer_ids import ProducerIds
from core_broker.metadata.replay import MetadataError
from core_broker.metadata.store import DIRECTORY_NAME, MetadataStore
from core_broker.metadata.topics import Node
from core_broker.metrics.histogram import Histogram
from core_broker.metrics.listener import MetricsListener
from core_broker.observer import Observer
from core_broker.partition import Partition
from core_broker.quotas.client_quotas import ClientQuotas
from core_broker.quotas.connection_rates import AcceptLimits, ConnectionRates
from core_broker.quotas.rate import Windows
from core_broker.security.authorizer import AllowAll, Authorizer
from core_broker.server import ConnectionLimits, Server, bind
from core_broker.timeouts import Timeouts
from core_broker.topic_settings import TopicSettings
from core_broker.topics import Topic, Topics
from core_broker.traffic import BrokerTraffic
from core_broker.upkeep import Intervals, Upkeep
from core_broker.writer import Writer

logger = logging.getLogger(__name__)

BACKGROUND_THREADS = 2
TOPICS_LOGGED_MAX = 10
MS_PER_S = 1000
US_PER_S = 1_000_000
Result = TypeVar("Result")


def system_clock_ms() -> int:
    return time.time_ns() // 1_000_000


class Broker:
    """What handlers work with. Everything here belongs to the event loop."""

    cluster_id: str
    groups: GroupCoordinator
    transactions: TransactionCoordinator
    metadata: MetadataStore
    producer_ids: ProducerIds
    cleaner: Cleaner
    _directory: LogDirectory

    def __init__(
        self,
        settings: Settings,
        loop: asyncio.AbstractEventLoop,
        *,
        disk: Disk | None = None,
        clock_ms: Callable[[], int] = system_clock_ms,
        timers: SteadyTimers | None = None,
    ) -> None:
        """`disk`, `clock_ms` (the time of day) and `timers` (of the coordinators) are those of the system unless others are given."""
        settings = completed(settings)
        self.settings = settings
        self.loop = loop
        self.clock_ms = clock_ms
        self.timers = timers or LoopTimers(loop)
        self.node_id = settings.integer("node.id")
        self.rack = settings.text_or_none("broker.rack")
        self.authorizer: Authorizer = AllowAll()
        self.fetch_max_bytes = settings.integer("fetch.max.bytes")
        self.fetch_sessions = FetchSessions(settings.integer("max.incremental.fetch.session.cache.slots"), clock_ms)
        self.timeouts = Timeouts(loop)
        self.listeners: list[Listener] = []
        self._producer_id_expiration_ms = settings.integer("producer.id.expiration.ms")
        self.topics = Topics(self.node_id, self._open_partition, self._settings_of)
        self._disk = disk or Disk()
        self._commits = GroupCommit(loop, self._disk)
        batch_max_bytes = settings.integer("message.max.bytes")
        self.disk_health = DiskHealth(log_directory(settings), self._disk, self._commits, loop, batch_max_bytes)
        self._writer = Writer(loop)
        self._background = ThreadPoolExecutor(BACKGROUND_THREADS, thread_name_prefix="background")
        windows = _windows(settings, "quota")
        self.traffic = BrokerTraffic()
        self.metadata_times_us = Histogram()
        self.metrics: MetricsListener | None = None
        self.quotas = ClientQuotas(windows, _windows(settings, "controller.quota"))
        self._connection_rates = ConnectionRates(windows)
        self._server = Server(self, loop, _connection_limits(settings), self._connection_rates)
        self.request_log = self._server.request_log
        self._checkpointing = asyncio.Lock()
        self.upkeep = Upkeep(
            self.topics.opened,
            self._stored,
            self.checkpoint,
            self.remove_deleted,
            self._clean,
            self.disk_health.watch,
            clock_ms,
        )

    # Starting and stopping.

    async def start(self) -> None:
        """Recovers what is on disk, then listens. A start that fails leaves no thread, port or lock behind."""
        with ExitStack() as undo:
            undo.callback(self._end_threads)
            backlog = self.settings.integer("socket.listen.backlog.size")
            sockets = []
            for plan in listeners.plan(self.settings):
                sock = undo.enter_context(bind(plan.listen.host, plan.listen.port, backlog))
                sockets.append(sock)
                self.listeners.append(plan.bound(*sock.getsockname()[:2]))
            metrics_socket = self._bind_metrics(undo, backlog)
            directory = log_directory(self.settings)
            try:
                self._directory = LogDirectory.open(directory, self._disk, node_id=self.node_id)
                undo.callback(self._directory.close)
                self._recover()
            except OSError as problem:
                advice = (
                    "check who owns the folder and may write to it"
                    if isinstance(problem, PermissionError)
                    else "make room on the disk or repair it, then start again"
                )
                raise LogDirectoryError(f"the logs in {directory} cannot be opened: {problem}; {advice}") from problem
            except MetadataError as damage:
                raise LogDirectoryError(f"the topics of {directory} cannot be known: {damage}") from damage
            if metrics_socket is not None:
                await self._serve_metrics(metrics_socket)
            for listener, sock in zip(self.listeners, sockets, strict=True):
                await self._server.serve(listener, sock)
            undo.pop_all()
        logger.info(
            "node %d of cluster %s serves %d topics from %s on %s",
            self.node_id,
            self.cluster_id,
            len(self.metadata.image.topics),
            self._directory.path,
            ", ".join(map(str, self.listeners)),
        )
        self.upkeep.start(
            self.loop,
            Intervals(
                retention_ms=self.settings.integer("log.retention.check.interval.ms"),
                checkpoint_ms=self.settings.integer("log.flush.offset.checkpoint.interval.ms"),
                producers_ms=self.settings.integer("producer.id.expiration.check.interval.ms"),
                cleaner_backoff_ms=lambda: self.cleaner.settings.backoff_ms,
            ),
        )

    def _bind_metrics(self, undo: ExitStack, backlog: int) -> socket.socket | None:
        url = self.settings.text_or_none("metrics.listener")
        address = MetricsAddress.parse(url) if url else None
        return None if address is None else undo.enter_context(bind(*address, backlog))

    async def _serve_metrics(self, sock: socket.socket) -> None:
        """Begins to count, and to tell. What that needs is loaded here: a broker without metrics does without it."""
        try:
            from core_broker.metrics.exposition import Exposition
        except ImportError as problem:
            raise SettingError(
                "metrics.listener",
                repr(self.settings.text("metrics.listener")),
                f"metrics need a Python package that is not installed ({problem}); install barnabas[metrics]",
            ) from None
        per_partition = self.settings.boolean("metrics.per.partition")
        exposition = Exposition(self, self._server, self._commits, per_partition=per_partition)
        self.metrics = MetricsListener(exposition.page, self.disk_health.look)
        self._take_quotas()
        await self.metrics.serve(sock)
        logger.info("metrics are at http://%s:%d/metrics", self.metrics.host, self.metrics.port)

    def _recover(self) -> None:
        self.cluster_id = self._directory.meta.cluster_id
        node = Node(self.node_id, decode_uuid(self._directory.meta.directory_id))
        self.metadata = MetadataStore.open(
            self._directory.path,
            node,
            disk=self._disk,
            clock_ms=self.clock_ms,
            snapshot_after_bytes=self.settings.integer("metadata.log.max.record.bytes.between.snapshots"),
        )
        if self.metadata.is_new:
            self._directory.refuse_data(DIRECTORY_NAME)
        self.metadata.begin(self.listeners, self.rack, unclean=not self._directory.was_clean)
        self.producer_ids = ProducerIds(self.metadata, self.apply)
        self.cleaner = Cleaner(
            self.loop,
            self._compacted,
            self._directory,
            self.checkpoint,
            self.clock_ms,
            CleanerSettings.of(self.settings),
        )
        self._take_dynamic_settings()
        self._take_quotas()
        self.topics.follow(self.metadata.image)
        self.transactions = TransactionCoordinator(self, self.timers)
        self._settle_folders()
        self.groups = GroupCoordinator(self)
        self.groups.start()
        self.transactions.start()

    async def stop(self) -> None:
        """Answers what is under way, makes everything durable, and leaves the mark that no recovery is needed."""
        if self.metrics is not None:
            await self.metrics.stop()
        await self._server.stop()
        self.transactions.close()
        self.groups.close()
        await self.upkeep.stop()
        self.cleaner.close()
        await self._writer.drain()
        await self._commits.drain()
        self._end_threads()
        self.metadata.close()
        self._directory.close_clean(*self._opened(), broker_epoch=self.metadata.broker_epoch)
        logger.info("node %d has stopped; everything is on disk", self.node_id)

    def _end_threads(self) -> None:
        self._writer.close()
        self._commits.close()
        self._background.shutdown()

    # What handlers ask for.

    def topic_name(self, topic_id: bytes) -> str | None:
        return self.topics.name(topic_id)

    def partition(self, topic: str, index: int) -> Partition | None:
        return self.topics.partition(topic, index)

    def has_data(self, key: TopicPartition) -> bool:
        """Whether anything was ever written to a partition; what was not need not be opened to know that it is empty."""
        return self._directory.has_folder(key)

    async def apply(self, records: Sequence[Message]) -> None:
        """Makes metadata records durable and then true: partitions appear, change and go away before this returns.

        The caller holds `metadata.exclusive`.
        """
        before = self.metadata.image
        started_s = time.perf_counter()
        try:
            await self.metadata.append_off_loop(records)
        finally:
            # A change that could not be promised may stand all the same.
            self._follow(before)
            self.metadata_times_us.add(int((time.perf_counter() - started_s) * US_PER_S))

    def _follow(self, before: ClusterImage) -> None:
        if self.metadata.image.configs is not before.configs:
            self._take_dynamic_settings()
        if self.metadata.image.client_quotas is not before.client_quotas:
            self._take_quotas()
        for topic in self.topics.follow(self.metadata.image):
            self._remove(topic)
        if self.metadata.image.topics is not before.topics:
            _log_topics("created", self.metadata.image.topics.keys() - before.topics.keys())
            _log_topics("deleted", before.topics.keys() - self.metadata.image.topics.keys())
            self.transactions.topics_changed()
            self.groups.topics_changed(before)

    def in_background(self, work: Callable[[], Result], done: Callable[[Result | Exception], None]) -> None:
        """Runs something slow on another thread; `done` gets its result or its failure on the event loop."""

        def run() -> None:
            result: Result | Exception
            try:
                result = work()
            except Exception as problem:  # noqa: BLE001 - whatever it was, somebody waits to hear of it
                result = problem
            self.loop.call_soon_threadsafe(done, result)

        self._background.submit(run)

    async def checkpoint(self) -> None:
        """Writes down from where a recovery would have to start, and where each log begins."""
        async with self._checkpointing:
            checkpoint = self._directory.begin_checkpoints(*self._opened())
            await self.loop.run_in_executor(self._background, checkpoint.write)
            checkpoint.end()

    async def _clean(self) -> None:
        await self.cleaner.clean()

    def _opened(self) -> tuple[dict[TopicPartition, PartitionLog], dict[TopicPartition, int]]:
        logs: dict[TopicPartition, PartitionLog] = {}
        high_watermarks: dict[TopicPartition, int] = {}
        for partition in self.topics.opened():
            key = TopicPartition(partition.topic, partition.index)
            logs[key] = partition.log
            high_watermarks[key] = partition.high_watermark
        return logs, high_watermarks

    def _take_dynamic_settings(self) -> None:
        """What can be changed while the broker runs and is not a matter of topics."""
        effective = broker_config(self.settings, self.metadata.image, self.node_id).effective()
        self._server.limits = _connection_limits(effective)
        self.request_log.configure(effective.text("request.log"), effective.integer("request.log.slow.ms"))
        self._connection_rates.configure(_accept_limits(effective, self.listeners))
        self.cleaner.configure(CleanerSettings.of(effective))
        self.verifies_transactions = effective.boolean("transaction.partition.verification.enable")
        self._producer_id_expiration_ms = effective.integer("producer.id.expiration.ms")
        for partition in self.topics.opened():
            partition.log.producer_id_expiration_ms = self._producer_id_expiration_ms

    def _take_quotas(self) -> None:
        self.quotas.follow(self.metadata.image)
        self._connection_rates.follow(self.metadata.image)
        counting = self.metrics is not None
        if self._server.observer is None or not counting:
            observed = counting or self.quotas.active
            self._server.observer = Observer(self.quotas, counting=counting) if observed else None
        if self._connection_rates.has_names:
            self._server.spawn(self._connection_rates.look_up())

    # Partitions.

    def _settings_of(self, image: ClusterImage, topic: str) -> TopicSettings:
        return TopicSettings.of(topic_config(self.settings, image, self.node_id, topic))

    def _settle_folders(self) -> None:
        """Recovers the logs that were open when the broker before us died, and sets aside what belongs to no topic."""
        started = time.monotonic()
        recovered = 0
        for folder in self._directory.partitions():
            if folder.path.name == DIRECTORY_NAME:
                continue
            topic = self.metadata.image.topics.get(folder.partition.topic)
            if (
                topic is None
                or folder.partition.partition >= len(topic.partitions)
                or folder.topic_id not in (None, topic.topic_id)
            ):
                self._directory.set_aside(folder)
            elif not self._directory.was_clean:
                partition = self.topics.partition(*folder.partition)
                assert partition is not None, "the image has it"
                if partition.durable:
                    partition.commit_now(self._disk)
                recovered += 1
        for leftover in self._directory.leftover_folders():
            self._background.submit(self._disk.remove_directory, leftover)
        if recovered:
            logger.info("recovered the logs of %d partition(s) in %.3f s", recovered, time.monotonic() - started)

    def _stored(self) -> Iterator[Partition]:
        """Every partition that has data. One that nobody has used since the start is opened: its records grow old all the same."""
        return self._with_data(self.topics.every())

    def _compacted(self) -> Iterator[Partition]:
        return self._with_data(self.topics.compacted())

    def _with_data(self, keys: Iterable[TopicPartition]) -> Iterator[Partition]:
        for key in list(keys):
            try:
                partition = self.topics.partition(*key) if self._directory.has_folder(key) else None
            except KafkaError:
                continue  # its log cannot be opened at the moment, which was logged
            if partition is not None:
                yield partition

    def _open_partition(self, topic: Topic, index: int) -> Partition:
        try:
            log = self._directory.open_log(
                TopicPartition(topic.name, index),
                topic.settings.log,
                self.clock_ms,
                topic_id=topic.id,
                leader_epoch=self.metadata.image.topics[topic.name].partitions[index].leader_epoch,
                producer_id_expiration_ms=self._producer_id_expiration_ms,
            )
        except OSError as problem:
            logger.error("cannot open the log of %s-%d: %s", topic.name, index, problem)
            raise KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                f"the broker could not open the log of {topic.name}-{index}: {problem}; retry when the disk has recovered",
            ) from problem
        partition = Partition(topic.name, topic.id, index, log, topic.settings, self._writer, self._commits)
        partition.traffic = topic.traffic
        if log.producers.has_open_transactions:
            self.transactions.examine(partition)
        return partition

    def _remove(self, topic: Topic) -> None:
        """Takes a deleted topic's folders out of the way at once; another thread removes the files later."""
        self.traffic.deleted.add(topic.traffic)
        remove_at_ms = self.clock_ms() + topic.settings.log.file_delete_delay_ms
        for index, partition in enumerate(topic.partitions):
            key = TopicPartition(topic.name, index)
            try:
                if partition is None:
                    self._directory.delete_folder(key, remove_at_ms)
                else:
                    partition.delete()
                    self._directory.delete_log(key, partition.log, remove_at_ms)
            except OSError as problem:
                logger.error(
                    "cannot move the folder of %s, which was deleted: %s; the next start sets it aside", key, problem
                )

    def remove_deleted(self) -> None:
        for folder in self._directory.folders_to_remove(self.clock_ms()):
            self._background.submit(self._disk.remove_directory, folder)


def _log_topics(what: str, names: Set[str]) -> None:
    if names:
        shown = sorted(names)[:TOPICS_LOGGED_MAX]
        more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
        logger.info("%s topic(s) %s%s", what, ", ".join(shown), more)


def _connection_limits(settings: Settings) -> ConnectionLimits:
    overrides = settings.text("max.connections.per.ip.overrides")
    pairs = (entry.rpartition(":") for entry in overrides.split(",") if entry.strip())
    return ConnectionLimits(
        frame_max_bytes=settings.integer("socket.request.max.bytes"),
        idle_max_ms=settings.integer("connections.max.idle.ms"),
        total_max=settings.integer("max.connections"),
        per_host_max=settings.integer("max.connections.per.ip"),
        per_host_overrides={host.strip(): int(limit) for host, _, limit in pairs},
        send_buffer_bytes=_buffer_bytes(settings, "socket.send.buffer.bytes"),
        receive_buffer_bytes=_buffer_bytes(settings, "socket.receive.buffer.bytes"),
    )


def _accept_limits(settings: Settings, known: Sequence[Listener]) -> AcceptLimits:
    names = {listener.name: f"listener.name.{listener.name.lower()}.max.connection.creation.rate" for listener in known}
    return AcceptLimits(
        total=settings.integer("max.connection.creation.rate"),
        listeners={listener: settings.integer(name) for listener, name in names.items() if settings.is_given(name)},
    )


def _windows(settings: Settings, prefix: str) -> Windows:
    return Windows(
        settings.integer(f"{prefix}.window.num"), settings.integer(f"{prefix}.window.size.seconds") * MS_PER_S
    )


def _buffer_bytes(settings: Settings, name: str) -> int | None:
    """A size that somebody asked for. Kafka's default of 100 KiB is less than what the system grows a busy socket to."""
    size = settings.integer(name)
    return size if settings.is_given(name) and size > 0 else None
