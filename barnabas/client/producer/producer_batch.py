"""A batch of records that waits to be sent: encoded when they are added, framed once when the batch is closed."""

import asyncio
import struct
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from barnabas.client.consumer.assignors import TopicPartition
from barnabas.wire.batch import (
    CRC_START_BYTES,
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    MAGIC,
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    TRANSACTIONAL,
)
from barnabas.wire.compression import compress
from barnabas.wire.errors import KafkaError
from barnabas.wire.varint import varlong

Headers = tuple[tuple[str, bytes | None], ...]

_header = struct.Struct(">qiibIhiqqqhii")
_CRC_POSITION: Final = 17
_NO_OFFSET: Final = -1
_LATEST_MS: Final = 1 << 63
# Lengths and places in a batch are small numbers: a look-up is several times faster than working them out.
_SMALL: Final = tuple([varlong(number) for number in range(2048)])
# Attributes, deltas of time and offset, lengths: what a record takes beside its key, value and headers, at most.
RECORD_OVERHEAD_BYTES: Final = 21


class Identity(NamedTuple):
    """Who the producer is to the brokers; none without idempotence."""

    producer_id: int = NO_PRODUCER_ID
    epoch: int = NO_PRODUCER_EPOCH


class Delivered(NamedTuple):
    """Where a record has been written; the offset is -1 with acks=0."""

    partition: TopicPartition
    offset: int
    timestamp_ms: int


class ProducerBatch:
    """Records of one partition. `notes` are what senders gave along, one for each call, for whoever hears of the outcome."""

    __slots__ = (
        "_body",
        "_framed",
        "attempts",
        "base_offset",
        "base_sequence",
        "base_timestamp_ms",
        "count",
        "created_s",
        "done",
        "error",
        "identity",
        "log_append_time_ms",
        "max_timestamp_ms",
        "notes",
        "partition",
        "size_bytes",
        "timestamps_ms",
    )

    def __init__(self, partition: TopicPartition, created_s: float, timestamp_ms: int) -> None:
        self.partition = partition
        self.created_s = created_s
        self.count = 0
        self.size_bytes = HEADER_BYTES
        self.base_timestamp_ms = timestamp_ms
        self.max_timestamp_ms = timestamp_ms
        self.timestamps_ms: list[tuple[int, int]] = []  # (count after it, time) of each call that added records
        self.notes: list[Any] = []
        self.attempts = 0
        self.identity = Identity()
        self.base_sequence = NO_SEQUENCE
        self.base_offset = _NO_OFFSET
        self.log_append_time_ms = -1
        self.error: KafkaError | None = None
        self.done: asyncio.Future[None] | None = None
        self._body: list[bytes] = []
        self._framed = bytearray()

    def append(self, timestamp_ms: int, key: bytes | None, value: bytes | None, headers: Headers, note: Any) -> int:
        """Add a record and return its place in the batch."""
        place = self.count
        body = (
            b"\0"
            + _varlong(timestamp_ms - self.base_timestamp_ms)
            + _varlong(place)
            + (b"\x01" if key is None else _varlong(len(key)) + key)
            + (b"\x01" if value is None else _varlong(len(value)) + value)
            + (_encode_headers(headers) if headers else b"\0")
        )
        framed = _varlong(len(body)) + body
        self._body.append(framed)
        self.size_bytes += len(framed)
        self._count(1, timestamp_ms, note)
        return place

    def append_values(self, timestamp_ms: int, values: Sequence[bytes], note: Any, limit_bytes: int) -> int:
        """Add records that are nothing but values until the batch has `limit_bytes`; returns how many were added, one at least.

        All of them share one note.
        """
        stamp = b"\0" + _varlong(timestamp_ms - self.base_timestamp_ms)
        place, size_bytes = self.count, self.size_bytes
        length = -1
        tail = b""
        for value in values:
            if len(value) != length:
                length = len(value)
                tail = b"\x01" + _varlong(length)
            if size_bytes + length + RECORD_OVERHEAD_BYTES > limit_bytes and place > 0:
                break
            head = stamp + _varlong(place) + tail
            framed = _varlong(len(head) + length + 1) + head + value + b"\0"
            self._body.append(framed)
            size_bytes += len(framed)
            place += 1
        added = place - self.count
        self.size_bytes = size_bytes
        self._count(added, timestamp_ms, note)
        return added

    def _count(self, added: int, timestamp_ms: int, note: Any) -> None:
        self.count += added
        if timestamp_ms > self.max_timestamp_ms:
            self.max_timestamp_ms = timestamp_ms
        self.timestamps_ms.append((self.count, timestamp_ms))
        self.notes.append(note)

    def frame(
        self, identity: Identity, base_sequence: int, *, compression: int, level: int | None, transactional: bool
    ) -> None:
        """Make the bytes to send. A batch that is sent again is framed anew only if its identity or sequence has changed."""
        if self._framed and (self.identity, self.base_sequence) == (identity, base_sequence):
            return
        if not self._framed:
            self._framed = bytearray(HEADER_BYTES) + compress(compression, b"".join(self._body), level)
            self._body = []
        out = self._framed
        attributes = compression | (TRANSACTIONAL if transactional else 0)
        _header.pack_into(
            out, 0, 0, len(out) - LENGTH_OVERHEAD_BYTES, NO_LEADER_EPOCH, MAGIC, 0, attributes, self.count - 1,
            self.base_timestamp_ms, self.max_timestamp_ms, *identity, base_sequence, self.count,
        )  # fmt: skip
        from crc32c import crc32c

        struct.pack_into(">I", out, _CRC_POSITION, crc32c(memoryview(out)[CRC_START_BYTES:]))
        self.identity, self.base_sequence = identity, base_sequence

    @property
    def framed(self) -> bytearray:
        """The bytes to send, once they are made."""
        return self._framed

    def finish(self, base_offset: int, log_append_time_ms: int, error: KafkaError | None) -> None:
        """The outcome is known: wake who waits for it."""
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.error = error
        self._framed = bytearray()
        if self.done is not None and not self.done.done():
            self.done.set_result(None)

    def delivered(self, place: int) -> Delivered:
        offset = self.base_offset + place if self.base_offset >= 0 else _NO_OFFSET
        timestamp_ms = self.log_append_time_ms
        if timestamp_ms < 0:
            _, timestamp_ms = self.timestamps_ms[bisect_right(self.timestamps_ms, (place, _LATEST_MS))]
        return Delivered(self.partition, offset, timestamp_ms)


class Delivery(NamedTuple):
    """A record on its way."""

    batch: ProducerBatch
    place: int

    async def outcome(self) -> Delivered:
        """Where the record was written; KafkaError when it was not."""
        done = self.batch.done
        assert done is not None, "a batch that was made by a producer has a future"
        await asyncio.shield(done)
        if self.batch.error is not None:
            raise self.batch.error
        return self.batch.delivered(self.place)


def serialized_bytes(key: bytes | None, value: bytes | None, headers: Headers) -> int:
    """The most that a batch of this record alone takes, as Java's producer works it out."""
    parts = [key, value]
    for name, content in headers:
        parts += [name.encode(), content]
    lengths = [-1 if part is None else len(part) for part in parts]
    counted = sum(len(_varlong(length)) + max(length, 0) for length in lengths)
    return HEADER_BYTES + RECORD_OVERHEAD_BYTES + counted + len(_varlong(len(headers)))


def record_size_bytes(key: bytes | None, value: bytes | None, headers: Headers) -> int:
    """The most that a record takes in a batch."""
    size = RECORD_OVERHEAD_BYTES + (len(key) if key else 0) + (len(value) if value else 0)
    for name, content in headers:
        size += len(name.encode()) + (len(content) if content else 0) + 2 * 5
    return size


def _varlong(number: int) -> bytes:
    return _SMALL[number] if 0 <= number < len(_SMALL) else varlong(number)


def _encode_headers(headers: Headers) -> bytes:
    parts = [varlong(len(headers))]
    for name, value in headers:
        encoded = name.encode()
        parts += [varlong(len(encoded)), encoded]
        parts += [b"\x01"] if value is None else [varlong(len(value)), value]
    return b"".join(parts)
