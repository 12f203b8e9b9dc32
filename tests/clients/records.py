"""Records as every client of the tests writes and reads them, whatever its own classes look like."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
CONSUME_DEADLINE_S = 90.0
# Every client is told to accept this much, so that the broker's limit is the one that counts.
CLIENT_LIMIT_BYTES = 16 * 1024 * 1024
# A moment in 2023: far from now, so that a broker that put its own time is found out, and well within retention limits
# of the tests' topics, which keep everything.
EPOCH_MS = 1_700_000_000_000
KEEP_FOREVER = {"retention.ms": "-1"}

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class Record:
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    timestamp_ms: int = EPOCH_MS

    def untimed(self) -> "Record":
        """The record as a client sees it that cannot set or show the time."""
        return replace(self, timestamp_ms=0)


@dataclass(frozen=True, slots=True)
class Read:
    """A record that came back, and where it lies."""

    offset: int
    record: Record


class Client(Protocol):
    """Writes to one partition and reads from one partition by assignment, without a group."""

    name: str

    def can_write(self, record: Record) -> bool: ...

    def produce(
        self, address: str, topic: str, records: Sequence[Record], codec: str = "none", partition: int = 0
    ) -> None: ...

    def consume(self, address: str, topic: str, count: int, offset: int = 0, partition: int = 0) -> list[Read]: ...


class Library(Client, Protocol):
    """A client whose producer takes settings: the three Python libraries have the same names for those used here."""

    def produce(
        self,
        address: str,
        topic: str,
        records: Sequence[Record],
        codec: str = "none",
        partition: int = 0,
        **settings: Any,
    ) -> None: ...


def numbered(count: int, prefix: str = "value") -> list[Record]:
    """Records that differ in key, value and time."""
    return [
        Record(f"key-{n}".encode(), f"{prefix}-{n}-{'x' * 50}".encode(), (("header", b"text"),), EPOCH_MS + n)
        for n in range(count)
    ]


def edge_cases() -> list[Record]:
    """What clients and brokers tend to confuse: null, empty, and headers of all kinds."""
    return [
        Record(None, b"no key"),
        Record(b"no value", None),
        Record(None, None),
        Record(b"", b"empty key"),
        Record(b"empty value", b""),
        Record(b"", b""),
        Record(b"k", b"v", (("null", None), ("empty", b""), ("bytes", b"\x00\x01\xfe\xff"))),
        Record(b"k", b"v", (("twice", b"1"), ("twice", b"2"))),
        Record("schlüssel".encode(), "värde 値".encode(), (("ключ", "значение".encode()),)),
    ]


class StoredBatch(NamedTuple):
    """What the header of a record batch on disk says."""

    base_offset: int
    codec: str
    log_append_time: bool
    producer_id: int
    base_sequence: int
    record_count: int


def stored_batches(log_dir: Path, topic: str, partition: int = 0) -> list[StoredBatch]:
    """Read the batch headers of a partition from its segment files, in order."""
    batches = []
    for segment in sorted((log_dir / f"{topic}-{partition}").glob("*.log")):
        data = segment.read_bytes()
        position = 0
        while position + 61 <= len(data):
            base_offset, length = struct.unpack_from(">qi", data, position)
            if length <= 0:
                break  # The file is larger than what was written to it.
            (attributes,) = struct.unpack_from(">h", data, position + 21)
            producer_id, _, base_sequence, count = struct.unpack_from(">qhii", data, position + 43)
            codec = CODECS[attributes & 0b111]
            batches.append(
                StoredBatch(base_offset, codec, bool(attributes & 0b1000), producer_id, base_sequence, count)
            )
            position += 12 + length
    return batches
