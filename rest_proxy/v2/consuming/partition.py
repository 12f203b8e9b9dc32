"""Partitions, records of them, and places in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from confluent_kafka import Message


class Partition(NamedTuple):
    """A partition of a topic."""

    topic: str
    number: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.number}"


@dataclass(frozen=True, slots=True)
class Commit:
    """How far a group has come in a partition: the offset of the next record to read."""

    partition: Partition
    offset: int
    metadata: str | None = None


@dataclass(frozen=True, slots=True)
class FetchedRecord:
    """A record as it lies in its partition."""

    partition: Partition
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]
    timestamp_ms: int | None
    size_bytes: int
    """Of its key, its value and its headers, which is what limits of bytes count."""

    @classmethod
    def of(cls, message: Message) -> Self:
        key, value, headers = message.key(), message.value(), _headers(message)
        kind, timestamp_ms = message.timestamp()
        size_bytes = len(key or b"") + len(value or b"")
        if headers:
            size_bytes += sum(len(name) + len(data or b"") for name, data in headers)
        return cls(
            Partition(message.topic() or "", message.partition() or 0),
            message.offset() or 0,
            key,
            value,
            headers,
            timestamp_ms if kind else None,
            size_bytes,
        )


def _headers(message: Message) -> Sequence[tuple[str, bytes | None]]:
    found = message.headers()
    if not found:
        return ()
    pairs = found.items() if isinstance(found, dict) else found
    return [(name, value.encode() if isinstance(value, str) else value) for name, value in pairs]
