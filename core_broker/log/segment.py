"""A segment: one `.log` file of record batches back to back, with its indexes."""

from __future__ import annotations

import struct
from typing import Final

from barnabas.wire.batch import HEADER_BYTES, LENGTH_OVERHEAD_BYTES
from core_broker.log import offset_index, time_index, transaction_index
from core_broker.log.disk import Disk
from core_broker.log.offset_index import OffsetIndex
from core_broker.log.time_index import NO_TIMESTAMP, TimeEntry, TimeIndex
from core_broker.log.transaction_index import TransactionIndex

LOG: Final = ".log"
OFFSET_INDEX: Final = ".index"
TIME_INDEX: Final = ".timeindex"
TRANSACTION_INDEX: Final = ".txnindex"
PRODUCER_SNAPSHOT: Final = ".snapshot"

LENGTH_MIN: Final = HEADER_BYTES - LENGTH_OVERHEAD_BYTES  # a batch without any record
RELATIVE_OFFSET_MAX: Final = 0x7FFF_FFFF  # the indexes hold offsets relative to the base in 32 bits

CLOSED: Final = -1  # in place of a descriptor
UNKNOWN: Final = -2  # in place of a timestamp: it was not looked up yet

_PEEK: Final = struct.Struct(">qi11xi")  # base offset, length, ..., last offset delta
_FIND_BYTES: Final = 8192  # covers an index interval of 4096 bytes and the batch that ends it
_MAX_TIMESTAMP: Final = struct.Struct(">q")
_MAX_TIMESTAMP_AT: Final = 35

peek_batch = _PEEK.unpack_from


class DamagedSegmentError(OSError):
    """Bytes that were appended once are no longer what they were."""


def file_name(base_offset: int, suffix: str) -> str:
    return f"{base_offset:020d}{suffix}"


class Segment:
    """What is known of a segment. `size` counts published bytes: what lies beyond exists for nobody.

    The indexes of the active segment live here and are written to their files now and then. Those of a sealed segment are
    read from the files when they are needed and may be dropped again, as its descriptor may: see OpenFiles.
    """

    __slots__ = (
        "base_offset",
        "created_ms",
        "descriptor",
        "directory",
        "doomed",
        "first_timestamp",
        "has_index_files",
        "jitter_ms",
        "max_timestamp",
        "max_timestamp_offset",
        "may_have_aborted",
        "offset_index",
        "pins",
        "sealed",
        "size",
        "time_index",
        "transaction_index",
        "unindexed_bytes",
        "used",
    )

    def __init__(self, directory: str, base_offset: int, *, size: int = 0, created_ms: int = 0) -> None:
        self.directory = directory
        self.base_offset = base_offset
        self.size = size
        self.created_ms = created_ms
        self.jitter_ms = 0  # how much earlier than segment.ms says it rolls, so that partitions do not roll at once
        self.descriptor = CLOSED
        self.pins = 0  # writes and syncs under way on another thread, which need the descriptor
        self.doomed = False  # to be closed when the last pin is taken off
        self.used = False  # read since OpenFiles last looked
        self.sealed = False  # a later segment is the active one
        self.has_index_files = False
        self.offset_index: OffsetIndex | None = None
        self.time_index: TimeIndex | None = None
        self.transaction_index: TransactionIndex | None = None
        self.may_have_aborted = False  # if not, the transaction index of a sealed segment need not be looked at
        self.unindexed_bytes = 0  # since the start of the last batch that has an index entry
        self.first_timestamp = UNKNOWN if size else NO_TIMESTAMP
        self.max_timestamp = UNKNOWN if size else NO_TIMESTAMP
        self.max_timestamp_offset = base_offset

    @classmethod
    def empty(cls, directory: str, base_offset: int, created_ms: int) -> Segment:
        segment = cls(directory, base_offset, created_ms=created_ms)
        segment.reset_indexes()
        return segment

    def path(self, suffix: str) -> str:
        return f"{self.directory}/{self.base_offset:020d}{suffix}"

    # -- indexes ------------------------------------------------------------------------------------------------------

    def reset_indexes(self) -> None:
        self.offset_index = OffsetIndex()
        self.time_index = TimeIndex()
        self.transaction_index = TransactionIndex()
        self.has_index_files = False
        self.max_timestamp = NO_TIMESTAMP
        self.max_timestamp_offset = self.base_offset
        self.unindexed_bytes = 0

    def learn_max_timestamp(self) -> None:
        """Take the largest timestamp from the last entry of the time index."""
        assert self.time_index is not None
        last = self.time_index.last() or TimeEntry(NO_TIMESTAMP, 0)
        self.max_timestamp = last.timestamp
        self.max_timestamp_offset = self.base_offset + last.relative_offset

    def note_batch(self, position: int, size: int, last_offset: int, max_timestamp: int, interval_bytes: int) -> None:
        """Let the indexes and the largest timestamp know of a batch that now stands at the end."""
        if max_timestamp > self.max_timestamp:
            self.max_timestamp = max_timestamp
            self.max_timestamp_offset = last_offset
        if self.unindexed_bytes > interval_bytes:
            assert self.offset_index is not None
            self.offset_index.append(last_offset - self.base_offset, position)
            self.close_time_index()
            self.unindexed_bytes = size
        else:
            self.unindexed_bytes += size

    def close_time_index(self) -> None:
        """Add the largest timestamp so far; the last entry of a rolled or closed segment is always that."""
        if self.max_timestamp >= 0:
            assert self.time_index is not None
            self.time_index.append(self.max_timestamp, self.max_timestamp_offset - self.base_offset)

    def unwritten_indexes(self) -> list[tuple[str, bytes, int]]:
        """What the index files lack: path, bytes and their position."""
        offsets, times, transactions = self.offset_index, self.time_index, self.transaction_index
        assert offsets is not None
        assert times is not None
        assert transactions is not None
        writes = [
            (self.path(OFFSET_INDEX), offsets.unwritten(), offsets.written * offset_index.ENTRY_BYTES),
            (self.path(TIME_INDEX), times.unwritten(), times.written * time_index.ENTRY_BYTES),
        ]
        if transactions.entries:  # Kafka, too, has this file only where a transaction was aborted
            position = transactions.written * transaction_index.ENTRY_BYTES
            writes.append((self.path(TRANSACTION_INDEX), transactions.unwritten(), position))
        return [write for write in writes if write[1] or not self.has_index_files]

    def indexes_written(self) -> None:
        assert self.offset_index is not None
        assert self.time_index is not None
        assert self.transaction_index is not None
        self.offset_index.written = len(self.offset_index)
        self.time_index.written = len(self.time_index)
        self.transaction_index.written = len(self.transaction_index)
        self.has_index_files = True
        self.may_have_aborted = len(self.transaction_index) > 0

    def write_indexes(self, disk: Disk) -> None:
        for path, data, position in self.unwritten_indexes():
            write_at(disk, path, data, position)
        self.indexes_written()

    # -- looking into the file: the descriptor is open ----------------------------------------------------------------

    def find(self, disk: Disk, offset: int) -> int | None:
        """The position of the first batch whose last offset is not below `offset`; None if there is none."""
        assert self.offset_index is not None
        size = self.size
        position = self.offset_index.position_at_or_below(max(offset - self.base_offset, 0))
        while position < size:
            data = disk.pread(self.descriptor, min(_FIND_BYTES, size - position), position)
            cursor, last = 0, len(data) - _PEEK.size
            if last < 0:
                raise self.damaged(position)
            while cursor <= last:
                base, length, delta = peek_batch(data, cursor)
                if base + delta >= offset:
                    return position + cursor
                if length < LENGTH_MIN:
                    raise self.damaged(position + cursor)
                cursor += length + LENGTH_OVERHEAD_BYTES
            position += cursor
        return None

    def load_first_timestamp(self, disk: Disk) -> int:
        """The largest timestamp of the first batch, from which the age of the segment counts."""
        if self.first_timestamp == UNKNOWN:
            data = disk.pread(self.descriptor, _MAX_TIMESTAMP.size, _MAX_TIMESTAMP_AT)
            if len(data) < _MAX_TIMESTAMP.size:
                raise self.damaged(0)
            (self.first_timestamp,) = _MAX_TIMESTAMP.unpack(data)
        return self.first_timestamp

    def damaged(self, position: int) -> DamagedSegmentError:
        return DamagedSegmentError(
            f"{self.path(LOG)} holds no record batch at byte {position} although one was written there: "
            "the disk lost or changed it; restore the file from a copy"
        )


def write_at(disk: Disk, path: str, data: bytes, position: int) -> None:
    """Write to a file whose content from `position` on is to be `data`, as far as it was not there before."""
    descriptor = disk.open(path) if position else disk.create(path)
    try:
        disk.pwrite(descriptor, data, position)
    finally:
        disk.close(descriptor)
