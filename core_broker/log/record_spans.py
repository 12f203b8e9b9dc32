"""The records of a batch as byte ranges: what compaction must know of each, and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from barnabas.wire.batch import HEADER_BYTES, BatchHeader
from barnabas.wire.compression import decompress
from barnabas.wire.varint import read_varlong
from barnabas.wire.wire_error import WireError

_ATTRIBUTES_BYTES: Final = 1


class RecordSpan(NamedTuple):
    """Where a record stands in the inflated body of its batch: `start` is that of its size, `stamp` that of its timestamp, and `rest`
    that of all that follows."""

    start: int
    stamp: int
    rest: int
    end: int
    offset_delta: int
    key: bytes | None
    has_value: bool


# What the class's own constructor ends in; without the detour a span is made in half the time.
_new_span: Callable[[type[RecordSpan], tuple[Any, ...]], RecordSpan] = tuple.__new__


def inflate(batch: memoryview, header: BatchHeader) -> bytes:
    """The records of a batch, one after the other, not compressed."""
    return bytes(decompress(header.compression, batch[HEADER_BYTES : header.size_bytes]))


def walk_records(body: bytes, count: int) -> Iterator[RecordSpan]:
    """Every record of an inflated body. WireError where it is damaged; values and headers are passed over unseen."""
    read, span = read_varlong, RecordSpan
    position, number, end_of_body = 0, 0, len(body)
    try:
        while number < count:
            start = position
            size, position = read(body, start)
            end = position + size
            if not position < end <= end_of_body:
                raise WireError(f"record {number} of {count} claims {size} bytes, {end_of_body - position} are left")
            stamp = rest = position + _ATTRIBUTES_BYTES
            while body[rest] >= 0x80:  # what the timestamp is, few will ask
                rest += 1
            rest += 1
            # Of the numbers, which have their sign in the lowest bit, nearly all take one byte.
            offset_delta = body[rest]
            if offset_delta < 0x80 and not offset_delta & 1:
                offset_delta, position = offset_delta >> 1, rest + 1
            else:
                offset_delta, position = read(body, rest)
            size = body[position]
            if size < 0x80 and not size & 1:
                size, position = size >> 1, position + 1
            else:
                size, position = read(body, position)
            if size < 0:
                key = None
            else:
                key = body[position : position + size]
                position += size
            if position >= end:
                raise WireError(f"the key of record {number} of {count} reaches beyond the record")
            yield _new_span(span, (start, stamp, rest, end, offset_delta, key, not body[position] & 1))
            position = end
            number += 1
    except IndexError:
        raise WireError(f"record {number} of {count}: the batch ends inside it") from None
    if position != end_of_body:
        raise WireError(f"{end_of_body - position} bytes follow the last of {count} records")
