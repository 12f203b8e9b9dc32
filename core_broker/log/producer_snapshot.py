"""The `.snapshot` file: the state of the producers at an offset."""

from __future__ import annotations

import struct
from collections.abc import Collection
from typing import Final

from crc32c import crc32c

from core_broker.log.producer_state import NO_OFFSET, NO_SEQUENCE, AppendedBatch, Producer

_VERSION: Final = 1
_HEAD: Final = struct.Struct(">hI")  # version, CRC32C of all that follows
_COUNT: Final = struct.Struct(">i")
_ENTRY: Final = struct.Struct(">qhiqiqiq")
_SEQUENCES: Final = 1 << 31


def encode_snapshot(producers: Collection[Producer]) -> bytes:
    parts = [_COUNT.pack(len(producers))]
    for producer in producers:
        sequence, last_offset, delta = NO_SEQUENCE, NO_OFFSET, 0
        if producer.batches:
            batch = producer.batches[-1]
            sequence, last_offset, delta = (
                batch.last_sequence,
                batch.last_offset,
                batch.last_offset - batch.first_offset,
            )
        parts.append(
            _ENTRY.pack(
                producer.producer_id,
                producer.epoch,
                sequence,
                last_offset,
                delta,
                producer.last_timestamp,
                producer.coordinator_epoch,
                producer.transaction_offset,
            )
        )
    body = b"".join(parts)
    return _HEAD.pack(_VERSION, crc32c(body)) + body


def decode_snapshot(data: bytes) -> list[Producer]:
    """Read a snapshot; ValueError when it is damaged or of a version that is not known."""
    if len(data) < _HEAD.size + _COUNT.size:
        raise ValueError(f"a producer snapshot of {len(data)} bytes is cut off")
    version, checksum = _HEAD.unpack_from(data)
    if version != _VERSION:
        raise ValueError(f"producer snapshot version {version} is not known, only {_VERSION}")
    if crc32c(memoryview(data)[_HEAD.size :]) != checksum:
        raise ValueError("the checksum of a producer snapshot does not match its content")
    (count,) = _COUNT.unpack_from(data, _HEAD.size)
    entries = data[_HEAD.size + _COUNT.size :]
    if len(entries) != count * _ENTRY.size:
        raise ValueError(f"a producer snapshot of {count} entries has {len(entries)} bytes of them")
    return [_producer(*fields) for fields in _ENTRY.iter_unpack(entries)]


def _producer(
    producer_id: int,
    epoch: int,
    sequence: int,
    last_offset: int,
    delta: int,
    timestamp: int,
    coordinator_epoch: int,
    transaction_offset: int,
) -> Producer:
    producer = Producer(producer_id)
    producer.epoch = epoch
    producer.last_timestamp = timestamp
    producer.coordinator_epoch = coordinator_epoch
    producer.transaction_offset = transaction_offset
    if last_offset >= 0:
        first_sequence = (sequence - delta) % _SEQUENCES if sequence >= 0 else NO_SEQUENCE
        producer.batches.append(AppendedBatch(first_sequence, sequence, last_offset - delta, last_offset, timestamp))
    return producer
