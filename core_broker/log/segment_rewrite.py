"""Writing the segment that takes the place of a group of others: the second pass of compaction."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from barnabas.wire.batch import BatchHeader
from core_broker.log.batch_filter import BatchFilter
from core_broker.log.batch_stream import stream_batches
from core_broker.log.cleaned_transactions import CleanedTransactions
from core_broker.log.disk import Disk
from core_broker.log.folder import CLEANED, SEGMENT_SUFFIXES
from core_broker.log.pace import Pace
from core_broker.log.segment import CLOSED, LOG, Segment
from core_broker.log.transaction_index import AbortedTransaction, TransactionIndex

_MAX_TIMESTAMP: Final = struct.Struct(">q")
_MAX_TIMESTAMP_AT: Final = 35


class Source(NamedTuple):
    """A segment of the group, sealed and pinned, and the aborted transactions that have records in it."""

    segment: Segment
    aborted: list[AbortedTransaction]


class SegmentRewrite:
    """Runs on another thread. What it writes has names of its own until the log takes it: see `replacement`."""

    def __init__(
        self,
        disk: Disk,
        sources: Sequence[Source],
        batches: BatchFilter,
        transactions: CleanedTransactions,
        *,
        index_interval_bytes: int,
        chunk_bytes: int,
        pace: Pace,
    ) -> None:
        first = sources[0].segment
        self._disk = disk
        self._sources = sources
        self._batches = batches
        self._transactions = transactions
        self._index_interval_bytes = index_interval_bytes
        self._chunk_bytes = chunk_bytes
        self._pace = pace
        self._target = Segment.empty(first.directory, first.base_offset, first.created_ms)
        self._descriptor = CLOSED
        self._pending = bytearray()

    def run(self) -> Segment:
        """The new segment, durable under its temporary names. Whatever goes wrong, nothing is left of it."""
        try:
            self._write_log()
            self._write_indexes()
            modified_ms = self._disk.modified_ms(self._sources[-1].segment.path(LOG))
            self._disk.set_modified(self._target.path(LOG) + CLEANED, modified_ms)
        except BaseException:
            remove_cleaned(self._disk, self._target)
            raise
        return self._target

    def _write_log(self) -> None:
        self._descriptor = self._disk.create(self._target.path(LOG) + CLEANED)
        try:
            for segment, aborted in self._sources:
                self._transactions.add_aborted(aborted)
                for header, batch in stream_batches(self._disk, segment, 0, self._chunk_bytes, self._pace):
                    self._pass(header, batch)
            self._flush()
            self._disk.fdatasync(self._descriptor)
        finally:
            self._disk.close(self._descriptor)

    def _pass(self, header: BatchHeader, batch: memoryview) -> None:
        left = self._batches.apply(header, batch)
        if left is None:
            return
        target, size = self._target, len(left)
        (max_timestamp,) = _MAX_TIMESTAMP.unpack_from(left, _MAX_TIMESTAMP_AT)
        target.note_batch(target.size, size, header.last_offset, max_timestamp, self._index_interval_bytes)
        target.size += size
        self._pending += left
        if len(self._pending) >= self._chunk_bytes:
            self._flush()

    def _flush(self) -> None:
        size = len(self._pending)
        if size:
            self._disk.pwrite(self._descriptor, self._pending, self._target.size - size)
            self._pending = bytearray()
            self._pace.moved(size)

    def _write_indexes(self) -> None:
        target = self._target
        target.transaction_index = TransactionIndex(self._transactions.take_kept())
        target.close_time_index()
        for path, data, _ in target.unwritten_indexes():
            descriptor = self._disk.create(path + CLEANED)
            try:
                self._disk.pwrite(descriptor, data, 0)
                self._disk.fdatasync(descriptor)
            finally:
                self._disk.close(descriptor)
        target.indexes_written()


def remove_cleaned(disk: Disk, segment: Segment) -> None:
    """Remove what was written of a segment that nobody will take. The next start removes what is left even so."""
    for suffix in SEGMENT_SUFFIXES:
        with suppress(OSError):
            disk.unlink(segment.path(suffix) + CLEANED)
