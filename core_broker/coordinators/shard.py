"""One partition of a coordinator's topic: the state that its records make, and the way for more records into it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Generic, Protocol, TypeVar

from barnabas.wire.batch import BatchHeader, iterate_batches, iterate_records, parse_header
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.records.framing import decode_key, decode_versioned
from barnabas.wire.struct import Message
from barnabas.wire.wire_error import WireError
from core_broker.coordinators.record import (
    NOT_TRANSACTIONAL,
    CoordinatorRecord,
    EncodedRecord,
    TransactionalWriter,
    encode_batch,
    encode_ready,
)
from core_broker.log.checkpoints import TopicPartition
from core_broker.log.marker import build_marker, read_marker
from core_broker.log.producer_state import Marker
from core_broker.partition import Partition

logger = logging.getLogger(__name__)

LOAD_SLICE_BYTES: Final = 1 << 20
"""Read at a time, at most: between two slices the event loop gets its turn."""

LOAD_RETRY_INTERVAL_S: Final = 1.0

Then = Callable[[KafkaError | None], None]
"""Told once that what was written is durable, or why not."""

# What a coordinator's client can do something with.
_CLIENT_ERRORS: Final = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}


class StateMachine(Protocol):
    """What the records come to. Live and at start-up the same calls are made in the same order."""

    def replay(self, offset: int, producer_id: int, key: Message, value: Message | None) -> None:
        """A record stands in the log; with a producer id of 0 or more it counts when that producer's marker says so."""

    def replay_marker(self, producer_id: int, commits: bool) -> None:
        """A transaction has ended here."""

    def activate(self) -> None:
        """All that is in the log has been replayed: clients are served from now on, and timers may run."""

    def deactivate(self) -> None:
        """The topic or the broker goes away: no timer may call any more, and who waits is told NOT_COORDINATOR."""


State = TypeVar("State", bound=StateMachine)


class Schema:
    """The keys and values that a topic has, by record type."""

    __slots__ = ("keys", "values")

    def __init__(self, keys: Mapping[int, type[Message]], values: Mapping[int, type[Message]]) -> None:
        self.keys = keys
        self.values = values


class Shard(Generic[State]):
    """Owned by the event loop. Records are replayed as soon as they stand in the log; answers wait until they are durable."""

    def __init__(
        self,
        key: TopicPartition,
        open_partition: Callable[[], Partition],
        schema: Schema,
        new_state: Callable[[Shard[State]], State],
        clock_ms: Callable[[], int],
        load_slice_bytes: int = LOAD_SLICE_BYTES,
    ) -> None:
        self.key = key
        self._load_slice_bytes = min(load_slice_bytes, LOAD_SLICE_BYTES)
        self.is_active = False
        self.load_time_ms = 0
        self._open_partition = open_partition
        self._partition: Partition | None = None
        self._schema = schema
        self._new_state = new_state
        self._clock_ms = clock_ms
        self.state = new_state(self)

    @property
    def partition(self) -> Partition:
        """Opened when first needed: most of the fifty partitions of a topic never are. KafkaError when that fails."""
        if self._partition is None:
            self._partition = self._open_partition()
        return self._partition

    def write(
        self, records: Sequence[CoordinatorRecord], then: Then, *, writer: TransactionalWriter = NOT_TRANSACTIONAL
    ) -> None:
        """Appends the records as one batch and replays them, all before this returns; `then` hears when they are durable.

        When the append fails nothing is replayed, and `then` hears at once. When only the sync fails the records stand in the
        log, are replayed, and may yet become durable: `then` hears of the failure and the client asks again. Without records
        `then` hears when everything before is durable.
        """
        if not records:
            self._when_committed(then)
            return
        now_ms = self._clock_ms()
        try:
            base_offset = self._append(encode_batch(records, now_ms, writer), now_ms)
        except KafkaError as error:
            then(client_error(error))
            return
        for offset, (key, value, _) in enumerate(records, base_offset):
            self.state.replay(offset, writer.producer_id, key, value)
        self._when_committed(then)

    def write_ready(
        self,
        records: Sequence[EncodedRecord],
        replay: Callable[[int], None],
        then: Then,
        *,
        writer: TransactionalWriter = NOT_TRANSACTIONAL,
    ) -> None:
        """As `write`, with records whose bytes are ready. `replay` does, from a base offset on, what replaying them would do."""
        if not records:
            self._when_committed(then)
            return
        now_ms = self._clock_ms()
        try:
            base_offset = self._append(encode_ready(records, now_ms, writer), now_ms)
        except KafkaError as error:
            then(client_error(error))
            return
        replay(base_offset)
        self._when_committed(then)

    def write_marker(self, writer: TransactionalWriter, marker: Marker, then: Then) -> None:
        """Ends a transaction here, as `write` does it."""
        now_ms = self._clock_ms()
        try:
            self._append(build_marker(writer.producer_id, writer.producer_epoch, marker, now_ms), now_ms)
        except KafkaError as error:
            then(client_error(error))
            return
        self.state.replay_marker(writer.producer_id, marker.commits)
        self._when_committed(then)

    def _append(self, batch: bytearray, now_ms: int) -> int:
        """The first offset of what is in the log when this returns; KafkaError when it is not."""
        partition = self._partition or self.partition
        limit_bytes = partition.rules.max_message_bytes
        if len(batch) > limit_bytes:
            raise KafkaError(
                ErrorCode.MESSAGE_TOO_LARGE,
                f"a batch of {len(batch)} bytes is too large for {self.key}: max.message.bytes is {limit_bytes}",
            )
        view = memoryview(batch)
        return partition.append_at_once(view, parse_header(view), now_ms)

    def _when_committed(self, then: Then) -> None:
        partition = self._partition
        if partition is None or partition.is_committed:
            then(None)
        else:
            partition.when_committed(lambda error: then(None if error is None else client_error(error)))

    # Loading.

    async def load(self) -> None:
        """Replays the partition, again and again until the disk lets it be read, and then serves."""
        while True:
            try:
                await self._replay_all()
            except (KafkaError, OSError) as problem:
                logger.error("cannot load %s: %s; trying again", self.key, problem)
                await asyncio.sleep(LOAD_RETRY_INTERVAL_S)
                self.state = self._new_state(self)
            else:
                self.activate()
                return

    def activate(self) -> None:
        self.is_active = True
        self.state.activate()

    async def _replay_all(self) -> None:
        started_ms = self._clock_ms()
        log = self.partition.log
        offset = log.log_start_offset
        while offset < log.log_end_offset:
            part = log.read(offset, self._load_slice_bytes)
            for position, header in iterate_batches(part.data):
                self._replay_batch(part.data, position, header)
            offset = part.next_offset
            await asyncio.sleep(0)
        self.load_time_ms = self._clock_ms() - started_ms

    def _replay_batch(self, data: bytes, position: int, header: BatchHeader) -> None:
        if header.is_control:
            marker = read_marker(memoryview(data)[position : position + header.size_bytes])
            if marker is not None:
                self.state.replay_marker(header.producer_id, marker.commits)
            return
        producer_id = header.producer_id if header.is_transactional else NOT_TRANSACTIONAL.producer_id
        for record in iterate_records(data, position):
            try:
                key, value = self._decode(record.key, record.value)
            except WireError as problem:
                # A newer version may have written it; what we do not know we can only leave alone.
                logger.warning("record %d of %s is passed over: %s", record.offset, self.key, problem)
            else:
                self.state.replay(record.offset, producer_id, key, value)

    def _decode(self, key: bytes | None, value: bytes | None) -> tuple[Message, Message | None]:
        if key is None:
            raise WireError("it has no key")
        decoded = decode_key(key, self._schema.keys)
        return decoded, None if value is None else decode_versioned(self._schema.values[decoded.API_KEY], value)

    def unload(self) -> None:
        if self.is_active:
            self.is_active = False
            self.state.deactivate()


def client_error(error: KafkaError) -> KafkaError:
    """What is wrong with the coordinator's partition, in terms of a coordinator."""
    return KafkaError(_CLIENT_ERRORS.get(error.code, error.code), error.message)
