"""The metadata log `__cluster_metadata-0` and the image that it makes.

Records are durable before they count: they are written and synced, then replayed. A failed write changes nothing.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.wire.batch import Record, build_batch, iterate_batches, parse_header
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.records.cluster_metadata import (
    BrokerEndpoint,
    BrokerFeature,
    ConfigRecord,
    FeatureLevelRecord,
    PartitionChangeRecord,
    RegisterBrokerRecord,
    UserScramCredentialRecord,
)
from barnabas.wire.records.control import ControlType, LeaderChangeMessage, LeaderChangeVoter
from barnabas.wire.struct import Message
from core_broker.context import Listener
from core_broker.log.config import UNLIMITED, LogConfig
from core_broker.log.disk import Disk
from core_broker.log.folder import PARTITION_METADATA
from core_broker.log.meta_properties import encode_uuid
from core_broker.log.partition_log import PartitionLog
from core_broker.log.recovery import DamagedLogError
from core_broker.log.staged import Staged
from core_broker.metadata import bootstrap
from core_broker.metadata.config_view import ALL_BROKERS
from core_broker.metadata.image import EMPTY, ClusterImage, ResourceType
from core_broker.metadata.replay import MetadataError, replay
from core_broker.metadata.snapshot import (
    SnapshotId,
    control_batch,
    decode_snapshot,
    encode_snapshot,
    frame,
    newest,
    unframe,
)
from core_broker.metadata.topic_names import METADATA_TOPIC
from core_broker.metadata.topics import Node

logger = logging.getLogger(__name__)

DIRECTORY_NAME: Final = f"{METADATA_TOPIC}-0"
METADATA_TOPIC_ID: Final = (1).to_bytes(16, "big")
METADATA_VERSION: Final = "metadata.version"
METADATA_VERSION_LEVEL: Final = 30
"""Kafka 4.3-IV0: the newest record formats that Apache Kafka 4.3 writes."""
TRANSACTION_VERSION: Final = "transaction.version"
GROUP_VERSION: Final = "group.version"
"""From level 1 on the consumer protocol (KIP-848) is served."""
SNAPSHOT_AFTER_BYTES: Final = 20 << 20
RECORDS_PER_BATCH_MAX: Final = 20_000
READ_BYTES: Final = 1 << 20
PLAINTEXT: Final = 0

# The log is rolled by snapshots alone, and never gives up a record that no snapshot has.
_LOG_CONFIG: Final = LogConfig(
    segment_bytes=(1 << 31) - 1,
    segment_ms=(1 << 63) - 1,
    retention_ms=UNLIMITED,
    retention_bytes=UNLIMITED,
    file_delete_delay_ms=0,
    synced_each=True,
)

# A new cluster of Apache Kafka sets this for all its brokers, so that clients see it on every topic as set by somebody.
_FIRST_CONFIG: Final = ConfigRecord(
    resource_type=ResourceType.BROKER, resource_name=ALL_BROKERS, name="min.insync.replicas", value="1"
)


class FeatureLevels(NamedTuple):
    """The levels of a feature that this broker can work with. A cluster begins with the highest."""

    low: int
    high: int


class MetadataStore:
    """Whoever changes the cluster holds `exclusive` from reading the image until its records are applied."""

    supported_features: Final = {
        METADATA_VERSION: FeatureLevels(METADATA_VERSION_LEVEL, METADATA_VERSION_LEVEL),
        GROUP_VERSION: FeatureLevels(0, 1),
        TRANSACTION_VERSION: FeatureLevels(0, 2),
    }

    def __init__(
        self,
        log: PartitionLog,
        image: ClusterImage,
        node: Node,
        *,
        snapshot_after_bytes: int = SNAPSHOT_AFTER_BYTES,
        randomness: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self.image = image
        self.node = node
        self.broker_epoch = -1
        self.exclusive = asyncio.Lock()
        self._log = log
        self._directory = Path(log.directory)
        self._snapshot_after_bytes = snapshot_after_bytes
        self._randomness = randomness
        self._last_time_ms = 0
        # With what a new cluster begins; none once it has begun.
        self._formatted: list[Message] = []
        # The thread comes into being with the first change.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="metadata")

    @classmethod
    def open(
        cls,
        log_directory: Path,
        node: Node,
        *,
        disk: Disk,
        clock_ms: Callable[[], int],
        snapshot_after_bytes: int = SNAPSHOT_AFTER_BYTES,
        randomness: Callable[[int], bytes] = os.urandom,
    ) -> MetadataStore:
        """Reads the newest whole snapshot and the log behind it. MetadataError if anything between is missing or damaged."""
        directory = log_directory / DIRECTORY_NAME
        disk.make_directory(directory)
        if not disk.exists(directory / PARTITION_METADATA):
            identity = f"version: 0\ntopic_id: {encode_uuid(METADATA_TOPIC_ID)}"
            disk.replace_file(directory / PARTITION_METADATA, identity.encode())
        start, image = _load_snapshot(directory, disk)
        try:
            log = PartitionLog.open(
                directory, _LOG_CONFIG, disk, clock_ms, recovery_point=start, log_start_offset=start
            )
        except DamagedLogError as damage:
            raise MetadataError(str(damage)) from None
        if log.log_start_offset > start:
            raise MetadataError(
                f"{directory} has no snapshot that can be read, and its log begins at offset {log.log_start_offset}: what was changed "
                "before is not known. Restore the folder from a copy"
            )
        store = cls(log, image, node, snapshot_after_bytes=snapshot_after_bytes, randomness=randomness)
        store._load_log()
        if not store.image.features:
            store._formatted = bootstrap.read(log_directory, disk)
        return store

    @property
    def is_new(self) -> bool:
        """Whether the cluster has never begun."""
        return self._log.log_end_offset == 0

    # Starting and stopping.

    def begin(self, listeners: Iterable[Listener], rack: str | None, *, unclean: bool) -> None:
        """Opens a new epoch of the log and registers this broker. After an unclean stop all partitions get a new leader epoch,
        so that clients notice if records that they saw were lost."""
        self._log.assign_epoch(self.image.epoch + 1)
        voter = LeaderChangeVoter(voter_id=self.node.node_id)
        election = LeaderChangeMessage(leader_id=self.node.node_id, voters=[voter], granting_voters=[voter])
        epoch, now_ms = self._log.leader_epoch, self._log.clock_ms()
        batch = control_batch(ControlType.LEADER_CHANGE, election, offset=0, epoch=epoch, now_ms=now_ms)
        image = replay(self.image, (), offset=self._log.log_end_offset, epoch=epoch)
        self._write(self._stage(batch), image)
        records: list[Message] = []
        for name, levels in self.supported_features.items():
            if name not in self.image.features:
                records.append(FeatureLevelRecord(name=name, feature_level=self._first_level(name, levels)))
        if not self.image.features:
            records.append(_FIRST_CONFIG)
        records.extend(record for record in self._formatted if isinstance(record, UserScramCredentialRecord))
        # The epoch of a registration is the offset of its record.
        self.broker_epoch = self._log.log_end_offset + len(records)
        records.append(self._registration(listeners, rack))
        if unclean:
            records.extend(self._new_leader_epochs())
        for start in range(0, len(records), RECORDS_PER_BATCH_MAX):
            self.append(records[start : start + RECORDS_PER_BATCH_MAX])

    def _first_level(self, name: str, levels: FeatureLevels) -> int:
        """The level that the directory was formatted with, as far as this broker can work with it, else the highest."""
        if not self._formatted:
            return levels.high
        chosen = {one.name: one.feature_level for one in self._formatted if isinstance(one, FeatureLevelRecord)}
        # A feature at level 0 is left out.
        return min(max(chosen.get(name, 0), levels.low), levels.high)

    def close(self) -> None:
        self._writer.shutdown()
        self._log.close()

    def _registration(self, listeners: Iterable[Listener], rack: str | None) -> RegisterBrokerRecord:
        return RegisterBrokerRecord(
            broker_id=self.node.node_id,
            incarnation_id=self.new_uuid(),
            broker_epoch=self.broker_epoch,
            end_points=[
                BrokerEndpoint(
                    name=listener.name,
                    host=listener.advertised_host,
                    port=listener.advertised_port,
                    security_protocol=PLAINTEXT,
                )
                for listener in listeners
            ],
            features=[
                BrokerFeature(name=name, min_supported_version=levels.low, max_supported_version=levels.high)
                for name, levels in self.supported_features.items()
            ],
            rack=rack,
            fenced=False,
            log_dirs=[self.node.directory_id],
        )

    def _new_leader_epochs(self) -> Iterable[PartitionChangeRecord]:
        for topic in self.image.topics.values():
            for index in range(len(topic.partitions)):
                yield PartitionChangeRecord(partition_id=index, topic_id=topic.topic_id, leader=self.node.node_id)

    # Changing.

    def new_uuid(self) -> bytes:
        """A random (version 4) UUID."""
        raw = bytearray(self._randomness(16))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        return bytes(raw)

    def append(self, records: Sequence[Message]) -> None:
        """Makes records durable, then replays them. KafkaError if the disk refuses: then nothing has changed, or, when only
        the name of a new file could not be synced, the change stands as long as the power does."""
        if not records:
            return
        image, staged = self._prepare(records)
        self._write(staged, image)

    async def append_off_loop(self, records: Sequence[Message]) -> None:
        """As `append`, with the disk's part on another thread. The caller holds `exclusive`."""
        if not records:
            return
        image, staged = self._prepare(records)
        writing = self._writer.submit(self._write_and_sync, staged)
        try:
            await asyncio.shield(asyncio.wrap_future(writing))
        except asyncio.CancelledError:
            # The broker stops. What is under way ends first, so that the log can be closed in order.
            self._settle(staged, image, writing.exception())
            raise
        except OSError as problem:
            raise self._failed(staged, problem) from problem
        self._settle(staged, image, None)
        await self._snapshot_if_due()

    def _settle(self, staged: Staged, image: ClusterImage, problem: BaseException | None) -> None:
        if problem is None:
            self._publish(staged, image)
        else:
            self._log.discard(staged)

    def _prepare(self, records: Sequence[Message]) -> tuple[ClusterImage, Staged]:
        """The image to come. It is made before anything is written, so that records which do not fit it are not."""
        now_ms = self._log.clock_ms()
        end_offset = self._log.log_end_offset + len(records)
        image = replay(self.image, records, offset=end_offset - 1, epoch=self._log.leader_epoch)
        batch = build_batch([Record(index, now_ms, None, frame(record)) for index, record in enumerate(records)])
        return image, self._stage(batch)

    def _stage(self, batch: bytearray) -> Staged:
        return self._log.stage(memoryview(batch), parse_header(batch), now_ms=self._log.clock_ms())

    def _write(self, staged: Staged, image: ClusterImage) -> None:
        try:
            self._write_and_sync(staged)
        except OSError as problem:
            raise self._failed(staged, problem) from problem
        self._publish(staged, image)

    def _write_and_sync(self, staged: Staged) -> None:
        staged.write()
        staged.sync()

    def _failed(self, staged: Staged, problem: OSError) -> KafkaError:
        self._log.discard(staged)
        logger.error("cannot append to the metadata log: %s", problem)
        return KafkaError(
            ErrorCode.KAFKA_STORAGE_ERROR,
            f"the change could not be written to the metadata log: {problem}; nothing was changed, "
            "retry when the disk has recovered",
        )

    def _publish(self, staged: Staged, image: ClusterImage) -> None:
        """The batch is in the log and on disk, so that the image must have it, whatever becomes of the names of its files."""
        self._log.publish(staged)
        self._last_time_ms = staged.timestamp
        self.image = image
        try:
            self._sync_names()
        except OSError as problem:
            logger.error("cannot sync the files of the metadata log: %s", problem)
            raise KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                f"the change is made, but a power cut may undo it: {problem}; repeat it when the disk has recovered",
            ) from problem

    def _sync_names(self) -> None:
        dirty = self._log.dirty_files()
        if dirty is None:
            return
        try:
            # The batch itself is synced; of a new log the directories are not.
            for descriptor in dirty.descriptors[1:]:
                self._log.disk.fdatasync(descriptor)
        except OSError:
            self._log.sync_failed()
            raise
        self._log.mark_synced(dirty.offset)

    # Loading.

    def _load_log(self) -> None:
        log = self._log
        records: list[Message] = []
        offset, epoch = log.log_start_offset, self.image.epoch
        while offset < log.log_end_offset:
            part = log.read(offset, READ_BYTES)
            data = part.data
            assert isinstance(data, bytes), "only reads that ask for it come as a range of a file"
            for position, header in iterate_batches(data):
                epoch = header.leader_epoch
                self._last_time_ms = header.max_timestamp
                if not header.is_control:
                    records.extend(unframe(data, position))
            offset = part.next_offset
        self.image = replay(self.image, records, offset=log.log_end_offset - 1, epoch=epoch)

    # Snapshots.

    async def _snapshot_if_due(self) -> None:
        if self._log.size_bytes < self._snapshot_after_bytes:
            return
        try:
            await asyncio.wrap_future(self._writer.submit(self._write_snapshot, self.image))
            self.forget_before_snapshot()
        except OSError as problem:
            logger.warning("cannot write a snapshot of the metadata: %s; the log grows until the next attempt", problem)

    def snapshot(self) -> None:
        """Writes a snapshot of the present image, and gives up what it replaces."""
        self._write_snapshot(self.image)
        self.forget_before_snapshot()

    def _write_snapshot(self, image: ClusterImage) -> None:
        name = SnapshotId(image.offset + 1, image.epoch).file_name
        data = encode_snapshot(image, log_time_ms=self._last_time_ms, now_ms=self._log.clock_ms())
        self._log.disk.replace_file(self._directory / name, data)

    def forget_before_snapshot(self) -> None:
        """Removes the log below the newest snapshot, and older snapshots."""
        log = self._log
        snapshots = newest(log.disk.file_names(self._directory))
        if not snapshots:
            return
        log.roll()
        log.delete_records_before(min(snapshots[0].end_offset, log.log_end_offset))
        now_ms = log.clock_ms()
        log.apply_retention(now_ms, log.log_end_offset)
        log.purge_deleted(now_ms)
        for snapshot in snapshots[1:]:
            log.disk.unlink(self._directory / snapshot.file_name)


def _load_snapshot(directory: Path, disk: Disk) -> tuple[int, ClusterImage]:
    """The newest snapshot that is whole: where the log goes on, and the image until there."""
    for snapshot in newest(disk.file_names(directory)):
        try:
            records = decode_snapshot(disk.read_file(directory / snapshot.file_name))
        except MetadataError as damage:
            logger.warning("%s is not used: %s", directory / snapshot.file_name, damage)
            continue
        return snapshot.end_offset, replay(EMPTY, records, offset=snapshot.end_offset - 1, epoch=snapshot.epoch)
    return 0, EMPTY
