"""The topic as a log: read from an offset on, append, ask where it ends."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from barnabas.wire.batch import BatchHeader, iterate_batches, iterate_records
from barnabas.wire.batch import Record as StoredRecord
from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.fields import Blob
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from barnabas.wire.wire_error import WireError
from schema_registry.store.failures import OutOfRange, TopicReplaced
from schema_registry.store.fenced_producer import FencedProducer
from schema_registry.store.leader_link import PARTITION, LeaderLink
from schema_registry.store.record import Record
from schema_registry.store.topic import TopicSettings, provide

PAGE_BYTES: Final = 1024 * 1024
# A leader that says nothing for this long after it should have is given up.
READ_SLACK_MS: Final = 10_000

_CONSUMER: Final = -1
_LATEST: Final = -1
_EARLIEST: Final = -2

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Page:
    """Records as they stand in the log, where the next page begins, and how far the log is replicated."""

    records: list[StoredRecord]
    next_offset: int
    high_watermark: int


class TopicLog:
    """The only partition of a topic. Reading, writing and asking have a connection each, so that none waits for another."""

    def __init__(
        self,
        client: Client,
        topic: TopicSettings,
        fencing_id: str,
        *,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._topic = topic
        self._reading = LeaderLink(client, topic.name)
        self._asking = LeaderLink(client, topic.name)
        self._topic_id: bytes | None = None
        self._producer = FencedProducer(client, topic.name, fencing_id, clock_s=clock_s)

    async def open(self) -> None:
        """Make the topic, or check it; TopicUnfit when it cannot hold schemas."""
        await provide(self._client, self._topic)

    async def close(self) -> None:
        for part in (self._reading, self._asking, self._producer):
            await part.close()

    async def take_over(self) -> None:
        """Become the only writer. The first append after this shuts out every writer before."""
        await self._producer.take_over()

    def give_up(self) -> None:
        self._producer.give_up()

    async def keep(self) -> None:
        """Keep the right to write alive while there is nothing to write; Fenced when it is lost."""
        await self._producer.renew_if_due()

    async def append(self, records: Sequence[Record]) -> int:
        """One batch, acknowledged by all replicas; the offset of its first record."""
        return await self._producer.append(records)

    @property
    def writing_error(self) -> str | None:
        return self._producer.error

    async def start_offset(self) -> int:
        return await self._offset_at(_EARLIEST)

    async def end_offset(self) -> int:
        """The offset that the next record will have."""
        return await self._offset_at(_LATEST)

    async def read(self, offset: int, max_wait_ms: int) -> Page:
        """Records from `offset` on, waiting for the first.

        OutOfRange when the log has no such offset; TopicReplaced, once, when it is another log than before; KafkaError when
        the leader cannot be asked.
        """
        partition = FetchPartition(partition=PARTITION, fetch_offset=offset, partition_max_bytes=PAGE_BYTES)
        async with self._reading.use() as (connection, lead):
            former, self._topic_id = self._topic_id, lead.topic_id
            if former not in (None, lead.topic_id):
                raise TopicReplaced(f"topic {self._topic.name} was deleted and made anew")
            topic = FetchTopic(topic=self._topic.name, topic_id=lead.topic_id, partitions=[partition])
            request = FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, max_bytes=PAGE_BYTES, topics=[topic])
            answer = await connection.send(request, FetchResponse, timeout_ms=max_wait_ms + READ_SLACK_MS)
            _check(answer.error_code)
            result = answer.responses[0].partitions[0]
            if result.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                raise OutOfRange(f"topic {self._topic.name} has no offset {offset}")
            _check(result.error_code)
        records, next_offset = _records_from(result.records or b"", offset)
        return Page(records, next_offset, result.high_watermark)

    async def _offset_at(self, timestamp: int) -> int:
        async with self._asking.use() as (connection, _):
            partition = ListOffsetsPartition(partition_index=PARTITION, timestamp=timestamp)
            topic = ListOffsetsTopic(name=self._topic.name, partitions=[partition])
            request = ListOffsetsRequest(replica_id=_CONSUMER, topics=[topic])
            answer = await connection.send(request, ListOffsetsResponse)
            result = answer.topics[0].partitions[0]
            _check(result.error_code)
            return result.offset


def _records_from(buffer: Blob, offset: int) -> tuple[list[StoredRecord], int]:
    """The records of whole batches from `offset` on: a batch may begin before it, and compaction leaves gaps."""
    records: list[StoredRecord] = []
    next_offset = offset
    for position, header in iterate_batches(buffer):
        if header.last_offset < offset:
            continue
        next_offset = header.last_offset + 1
        if not header.is_control:
            records += [record for record in _readable(buffer, position, header) if record.offset >= offset]
    return records, next_offset


def _readable(buffer: Blob, position: int, header: BatchHeader) -> list[StoredRecord]:
    """The records of a batch; none of a damaged one, which must not keep the registry from those behind it."""
    try:
        return list(iterate_records(buffer, position))
    except WireError as error:
        _logger.error("offsets %d to %d are damaged and skipped: %s", header.base_offset, header.last_offset, error)
        return []


def _check(code: int) -> None:
    if code:
        raise KafkaError(ErrorCode(code))
