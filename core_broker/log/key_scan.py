"""Reading the keys of the dirty part of a log: the first pass of compaction."""

from __future__ import annotations

from typing import Final

from barnabas.wire.batch import BatchHeader
from core_broker.log.batch_stream import stream_batches
from core_broker.log.cleaned_transactions import CleanedTransactions
from core_broker.log.disk import Disk
from core_broker.log.key_offsets import KeyOffsets
from core_broker.log.pace import Pace
from core_broker.log.record_spans import inflate, walk_records
from core_broker.log.segment import Segment

RECORDS_PER_BREATH: Final = 32


class KeyScan:
    """Enters the keys of committed records from an offset on, segment by segment, until the map is full."""

    def __init__(
        self,
        disk: Disk,
        keys: KeyOffsets,
        transactions: CleanedTransactions,
        first_offset: int,
        chunk_bytes: int,
        pace: Pace,
    ) -> None:
        self._disk = disk
        self._keys = keys
        self._transactions = transactions
        self._first_offset = first_offset
        self._chunk_bytes = chunk_bytes
        self._pace = pace

    def scan(self, segment: Segment, position: int, next_base: int) -> bool:
        """Enter a segment from a batch's start on; False if the map was full before its end."""
        keys, first = self._keys, self._first_offset
        for header, batch in stream_batches(self._disk, segment, position, self._chunk_bytes, self._pace):
            if header.is_control:
                self._transactions.meet_control(header, batch)
            elif not self._transactions.meet_data(header) and not self._enter(header, batch):
                return False
            if header.last_offset >= first:
                keys.latest = header.last_offset
        keys.latest = next_base - 1  # compaction may have left a gap there
        return True

    def _enter(self, header: BatchHeader, batch: memoryview) -> bool:
        keys, first, base = self._keys, self._first_offset, header.base_offset
        put, capacity = keys.put, keys.capacity
        for number, span in enumerate(walk_records(inflate(batch, header), header.record_count)):
            if number % RECORDS_PER_BREATH == 0:
                self._pace.breathe()
            if span.key is None or base + span.offset_delta < first:
                continue
            if len(keys) >= capacity:
                return False
            put(span.key, base + span.offset_delta)
        return True
