"""The records of a batch as byte ranges: what compaction must know of each, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from barnabas.wire.batch import HEADER_BYTES, BatchHeader
from barnabas.wire.compression import decompress
from barnabas.wire.varint import read_varlong
from barnabas.wire.wire_error import WireError

_ATTRIBUTES_BYTES: Final = 1


class RecordSpan(NamedTuple):
    """Where a record stands in the inflated body of its batch: `start` is that of its size, `rest` what follows the timestamp."""

    start: int
    rest: int
    end: int
    offset_delta: int
    timestamp_delta: int
    key: bytes | None
    has_value: bool


def inflate(batch: memoryview, header: BatchHeader) -> bytes:
    """The records of a batch, one after the other, not compressed."""
    return bytes(decompress(header.compression, batch[HEADER_BYTES : header.size_bytes]))


def walk_records(body: bytes, count: int) -> Iterator[RecordSpan]:
    """Every record of an inflated body. WireError where it is damaged; values and headers are passed over unseen."""
    read, make = read_varlong, RecordSpan._make
    position, number, end_of_body = 0, 0, len(body)
    try:
        while number < count:
            start = position
            size, position = read(body, start)
            end = position + size
            if not position < end <= end_of_body:
                raise WireError(f"record {number} of {count} claims {size} bytes, {end_of_body - position} are left")
            timestamp_delta, rest = read(body, position + _ATTRIBUTES_BYTES)
            offset_delta, position = read(body, rest)
            size, position = read(body, position)
            if size < 0:
                key = None
            else:
                key = body[position : position + size]
                position += size
            if position >= end:
                raise WireError(f"the key of record {number} of {count} reaches beyond the record")
            # The sign of a zigzag number is the lowest bit of its first byte.
            yield make((start, rest, end, offset_delta, timestamp_delta, key, not body[position] & 1))
            position = end
            number += 1
    except IndexError:
        raise WireError(f"record {number} of {count}: the batch ends inside it") from None
    if position != end_of_body:
        raise WireError(f"{end_of_body - position} bytes follow the last of {count} records")
