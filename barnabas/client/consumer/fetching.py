"""The fetch loop of a consumer: one request at a time to each leader, answers cut into batches of visible records."""

import asyncio
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from barnabas.client.consumer.assignors import TopicPartition
from barnabas.client.consumer.cluster_view import NO_LEADER, NO_TOPIC_ID, ClusterView
from barnabas.client.consumer.consumer_settings import READ_COMMITTED, ConsumerSettings
from barnabas.client.consumer.transaction_filter import visible_batches
from barnabas.wire.batch import Record, compute_crc, iterate_records
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData

TOPIC_NAMES_VERSION: Final = 12  # the last one that names topics instead of giving their ids
RETRY_BACKOFF_MS: Final = 100
# Fetch again when a partition has no more than this left to hand out.
PREFETCH_AT_BATCHES: Final = 1
# The broker may take the whole wait and then some.
FETCH_SLACK_MS: Final = 30_000

_STALE_METADATA: Final = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.OFFSET_NOT_AVAILABLE,
    }
)


@dataclass(frozen=True, slots=True)
class FetchedBatch:
    """Visible records of one batch, or the part of them that fitted one poll."""

    partition: TopicPartition
    leader_epoch: int
    is_log_append_time: bool
    records: list[Record]
    next_offset: int


@dataclass(slots=True)
class Reader:
    """Where reading of one partition has got to: `fetched` is ahead of what `poll` has handed out."""

    partition: TopicPartition
    fetched: int
    batches: deque[FetchedBatch] = field(default_factory=deque)
    high_watermark: int = -1
    paused: bool = False
    out_of_range: bool = False


class Fetcher:
    """Fetches for a changing set of readers. `poll` side and fetch side meet in the readers' batches."""

    def __init__(self, cluster: ClusterView, settings: ConsumerSettings) -> None:
        self.readers: dict[TopicPartition, Reader] = {}
        self.arrived = asyncio.Event()
        self.failure: KafkaError | None = None
        self._cluster = cluster
        self._settings = settings
        self._loops: dict[int, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()

    def start(self, partition: TopicPartition, offset: int) -> None:
        self.readers[partition] = Reader(partition, offset)
        self.changed()

    def stop(self, partition: TopicPartition) -> None:
        self.readers.pop(partition, None)

    def changed(self) -> None:
        """New readers, new positions or new room: whoever idles looks again."""
        for node in {self._cluster.leader(partition) for partition in self.readers} - {NO_LEADER}:
            if node not in self._loops or self._loops[node].done():
                self._loops[node] = asyncio.create_task(self._serve(node), name=f"fetch from broker {node}")
        self._changed.set()

    async def close(self) -> None:
        for loop in self._loops.values():
            loop.cancel()
        await asyncio.gather(*self._loops.values(), return_exceptions=True)
        self._loops.clear()

    async def _serve(self, node: int) -> None:
        try:
            while True:
                self._changed.clear()
                readers = [
                    reader
                    for reader in self.readers.values()
                    if len(reader.batches) <= PREFETCH_AT_BATCHES
                    and not reader.paused
                    and not reader.out_of_range
                    and self._cluster.leader(reader.partition) == node
                ]
                if not readers:
                    await self._changed.wait()
                    continue
                try:
                    await self._fetch(node, readers)
                except KafkaError as error:
                    if not error.code.retriable:
                        raise
                    await self._refresh()
        except KafkaError as error:
            self.failure = error
            self.arrived.set()

    async def _refresh(self) -> None:
        await asyncio.sleep(RETRY_BACKOFF_MS / 1000)
        try:
            await self._cluster.refresh({partition.topic for partition in self.readers})
        except KafkaError as error:
            if not error.code.retriable:
                raise
        self.changed()

    async def _fetch(self, node: int, readers: Collection[Reader]) -> None:
        settings = self._settings
        connection = await self._cluster.connection(node)
        version = connection.version_of(FetchRequest)
        if any(self._cluster.topic_id(reader.partition.topic) == NO_TOPIC_ID for reader in readers):
            version = min(version, TOPIC_NAMES_VERSION)
        topics: dict[str, list[FetchPartition]] = {}
        for reader in readers:
            topics.setdefault(reader.partition.topic, []).append(
                FetchPartition(
                    partition=reader.partition.partition,
                    fetch_offset=reader.fetched,
                    partition_max_bytes=settings.partition_max_bytes,
                )
            )
        ids = {self._cluster.topic_id(topic): topic for topic in topics}
        request = FetchRequest(
            max_wait_ms=settings.fetch_max_wait_ms,
            min_bytes=settings.fetch_min_bytes,
            max_bytes=settings.fetch_max_bytes,
            isolation_level=int(settings.isolation_level == READ_COMMITTED),
            topics=[
                FetchTopic(topic=topic, topic_id=self._cluster.topic_id(topic), partitions=partitions)
                for topic, partitions in topics.items()
            ],
            rack_id=settings.rack,
        )
        asked = {reader.partition: reader.fetched for reader in readers}
        answer = await connection.send(
            request, FetchResponse, version=version, timeout_ms=settings.fetch_max_wait_ms + FETCH_SLACK_MS
        )
        if answer.error_code:
            raise KafkaError(ErrorCode(answer.error_code))
        stale = False
        for topic in answer.responses:
            name = topic.topic or ids.get(topic.topic_id, "")
            for data in topic.partitions:
                partition = TopicPartition(name, data.partition_index)
                reader_now = self.readers.get(partition)
                # The consumer may have lost the partition or gone elsewhere meanwhile.
                if reader_now is not None and reader_now.fetched == asked.get(partition):
                    stale |= self._accept(reader_now, data)
        if stale:
            await self._refresh()

    def _accept(self, reader: Reader, data: PartitionData) -> bool:
        """Takes what came for one partition; True when the metadata must be asked for again."""
        code = ErrorCode(data.error_code)
        if code in _STALE_METADATA:
            return True
        if code is ErrorCode.OFFSET_OUT_OF_RANGE:
            reader.out_of_range = True
            self.arrived.set()
            return False
        if code is not ErrorCode.NONE:
            raise KafkaError(code, f"fetch of {reader.partition} at offset {reader.fetched}: {code.message}")
        reader.high_watermark = data.high_watermark
        if data.records is None or len(data.records) == 0:
            return False
        filters = self._settings.isolation_level == READ_COMMITTED
        for position, header, visible in visible_batches(data.records, data.aborted_transactions if filters else None):
            if self._settings.check_crcs and compute_crc(data.records, position, header.size_bytes) != header.crc:
                raise KafkaError(
                    ErrorCode.CORRUPT_MESSAGE,
                    f"{reader.partition}: the checksum of the batch at offset {header.base_offset} is wrong",
                )
            if header.last_offset < reader.fetched:
                continue
            records: list[Record] = []
            if visible:
                records = [entry for entry in iterate_records(data.records, position) if entry.offset >= reader.fetched]
            reader.fetched = header.last_offset + 1
            reader.batches.append(
                FetchedBatch(
                    reader.partition, header.leader_epoch, header.is_log_append_time, records, header.last_offset + 1
                )
            )
        self.arrived.set()
        return False
