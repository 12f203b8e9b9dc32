"""Record batches (format version 2) written once before the clock starts, and walked by header alone when they come back."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crc32c import crc32c

from benchmarks.wire import uvarint

HEADER_BYTES = 61
CRC_FROM = 21
TRANSACTIONAL = 0x10
NO_PRODUCER = (-1, -1, -1)
"""Producer id, epoch and first sequence."""
_BEFORE_CRC = struct.Struct(">qiib")
_AFTER_CRC = struct.Struct(">hiqqqhii")
_WALK = struct.Struct(">qi11xi30xi")


class Batch(NamedTuple):
    start: int
    end: int
    base_offset: int
    next_offset: int
    records: int


def zigzag(value: int) -> bytes:
    return uvarint((value << 1) ^ (value >> 63))


def record(offset_delta: int, value: bytes, key: bytes | None = None) -> bytes:
    """A record without headers, at the batch's own timestamp."""
    named = zigzag(-1) if key is None else zigzag(len(key)) + key
    body = b"\x00" + zigzag(0) + zigzag(offset_delta) + named + zigzag(len(value)) + value + zigzag(0)
    return zigzag(len(body)) + body


def encode(
    values: list[bytes],
    timestamp_ms: int,
    *,
    keys: list[bytes] | None = None,
    base_offset: int = 0,
    producer: tuple[int, int, int] = NO_PRODUCER,
    transactional: bool = False,
) -> bytes:
    named: Sequence[bytes | None] = keys or [None] * len(values)
    records = b"".join(record(delta, value, key) for delta, (value, key) in enumerate(zip(values, named, strict=True)))
    count = len(values)
    attributes = TRANSACTIONAL if transactional else 0
    checked = _AFTER_CRC.pack(attributes, count - 1, timestamp_ms, timestamp_ms, *producer, count) + records
    length = HEADER_BYTES - 12 + len(records)
    return _BEFORE_CRC.pack(base_offset, length, -1, 2) + struct.pack(">I", crc32c(checked)) + checked


def records_per_batch(record_bytes: int, batch_bytes: int) -> int:
    """How many records of that payload fit into a batch that must not exceed `batch_bytes`; at least one."""
    count = max(1, (batch_bytes - HEADER_BYTES) // len(record(0, bytes(record_bytes))))
    while count > 1 and count * len(record(count - 1, bytes(record_bytes))) + HEADER_BYTES > batch_bytes:
        count -= 1
    return count


def walk(data: memoryview, start: int, end: int) -> Iterator[Batch]:
    """The whole batches between two positions. A broker may cut the last one off: it is left out."""
    while end - start >= HEADER_BYTES:
        base_offset, length, last_delta, count = _WALK.unpack_from(data, start)
        after = start + 12 + length
        if after > end:
            return
        yield Batch(start, after, base_offset, base_offset + last_delta + 1, count)
        start = after


def crc_matches(data: memoryview, batch: Batch) -> bool:
    (expected,) = struct.unpack_from(">I", data, batch.start + CRC_FROM - 4)
    return bool(crc32c(data[batch.start + CRC_FROM : batch.end]) == expected)
