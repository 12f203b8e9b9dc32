"""What coordinators write to their topics: a key and a value, each a message of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from barnabas.wire.batch import HEADER_BYTES, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, Record, build_batch, seal
from barnabas.wire.records.framing import encode_key, encode_versioned
from barnabas.wire.struct import Message
from barnabas.wire.varint import varlong


class CoordinatorRecord(NamedTuple):
    key: Message
    value: Message | None
    """None is a tombstone: compaction forgets the key."""

    version: int = 0
    """In which the value is written."""


class EncodedRecord(NamedTuple):
    """A record whose bytes are ready: the way of what is written thousands of times in a second."""

    key: bytes
    value: bytes


class TransactionalWriter(NamedTuple):
    """The producer in whose transaction records are written: they count when its marker says so."""

    producer_id: int
    producer_epoch: int


NOT_TRANSACTIONAL = TransactionalWriter(NO_PRODUCER_ID, NO_PRODUCER_EPOCH)


def encode_batch(records: Sequence[CoordinatorRecord], now_ms: int, writer: TransactionalWriter) -> bytearray:
    encoded = [
        Record(offset, now_ms, encode_key(key), None if value is None else encode_versioned(value, version), ())
        for offset, (key, value, version) in enumerate(records)
    ]
    return build_batch(
        encoded,
        transactional=writer is not NOT_TRANSACTIONAL,
        producer_id=writer.producer_id,
        producer_epoch=writer.producer_epoch,
    )


def encode_ready(records: Sequence[EncodedRecord], now_ms: int, writer: TransactionalWriter) -> bytearray:
    """As `encode_batch`, without looking at the records."""
    out = bytearray(HEADER_BYTES)
    for offset, (key, value) in enumerate(records):
        # No attributes, no time since the first record; and no headers at the end.
        body = b"\0\0%b%b%b%b%b\0" % (varlong(offset), varlong(len(key)), key, varlong(len(value)), value)
        out += varlong(len(body))
        out += body
    seal(
        out,
        record_count=len(records),
        timestamp=now_ms,
        transactional=writer is not NOT_TRANSACTIONAL,
        producer_id=writer.producer_id,
        producer_epoch=writer.producer_epoch,
    )
    return out
