"""Kafka's rules of compaction on lists of batches: short, slow, and unaware of files, indexes and bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from barnabas.wire.batch import Record, iterate_batches, iterate_records
from core_broker.log.marker import read_marker


@dataclass(frozen=True)
class Batch:
    """What a reader can know of a batch. `commits` is None for a batch of records."""

    base_offset: int
    last_offset: int
    records: tuple[Record, ...]
    producer_id: int = -1
    epoch: int = -1
    sequence: int = -1
    transactional: bool = False
    control: bool = False
    commits: bool | None = None
    horizon: int | None = None
    codec: int = 0


def parse(data: bytes) -> list[Batch]:
    """The batches as they stand in a log."""
    found = []
    for position, header in iterate_batches(data):
        batch = memoryview(data)[position : position + header.size_bytes]
        marker = read_marker(batch) if header.is_control else None
        found.append(
            Batch(
                header.base_offset,
                header.last_offset,
                tuple(iterate_records(batch)),
                header.producer_id,
                header.producer_epoch,
                header.base_sequence,
                header.is_transactional,
                header.is_control,
                None if marker is None else marker.commits,
                header.base_timestamp if header.has_delete_horizon else None,
                header.compression,
            )
        )
    return found


@dataclass
class Producer:
    epoch: int = 0
    sequence: int = 0
    last_offset: int | None = None  # of its last records in this epoch
    open: bool = False


@dataclass
class Model:
    batches: list[Batch] = field(default_factory=list)
    producers: dict[int, Producer] = field(default_factory=dict)

    @property
    def end(self) -> int:
        return self.batches[-1].last_offset + 1 if self.batches else 0

    def append(self, records: Sequence[Record], producer_id: int, *, transactional: bool, codec: int) -> None:
        base, state = self.end, Producer()
        if producer_id >= 0:
            state = self.producers.setdefault(producer_id, state)
        moved = tuple(record._replace(offset=base + record.offset) for record in records)
        last = base + len(records) - 1
        batch = Batch(base, last, moved, transactional=transactional, codec=codec)
        if producer_id >= 0:
            batch = replace(batch, producer_id=producer_id, epoch=state.epoch, sequence=state.sequence)
            state.sequence += len(records)
            state.last_offset = last
            state.open = state.open or transactional
        self.batches.append(batch)

    def mark(self, record: Record, producer_id: int, *, commits: bool, epoch: int) -> None:
        state = self.producers[producer_id]
        if epoch != state.epoch:
            self.producers[producer_id] = Producer(epoch)
        else:
            state.open = False
        at = self.end
        moved = (record._replace(offset=at),)
        self.batches.append(Batch(at, at, moved, producer_id, epoch, transactional=True, control=True, commits=commits))

    def is_aborted(self, batch: Batch) -> bool:
        """Whether the next marker of the batch's producer aborts."""
        later = (
            other
            for other in self.batches
            if other.commits is not None
            and other.producer_id == batch.producer_id
            and other.last_offset > batch.last_offset
        )
        marker = next(later, None)
        return batch.transactional and not batch.control and marker is not None and not marker.commits

    def table(self) -> dict[bytes, bytes]:
        """The last committed value of each key: what compaction must never change."""
        values: dict[bytes, bytes] = {}
        for batch in self.batches:
            if batch.control or self.is_aborted(batch):
                continue
            for record in batch.records:
                if record.key is not None:
                    values.pop(record.key, None)
                    if record.value is not None:
                        values[record.key] = record.value
        return values

    def compact(self, first_dirty: int, end: int, now_ms: int, delete_retention_ms: int) -> None:
        latest: dict[bytes, int] = {}
        for batch in self.batches:
            if not batch.control and not self.is_aborted(batch):
                for record in batch.records:
                    if record.key is not None and first_dirty <= record.offset < end:
                        latest[record.key] = record.offset
        kept: list[Batch] = []
        for number, batch in enumerate(self.batches):
            left = batch
            if batch.base_offset < end:
                left = self._left_of(batch, self.batches[:number], latest, now_ms, delete_retention_ms)
                if not left.records and not self._is_needed_empty(batch, end):
                    continue
            kept.append(left)
        self.batches = kept

    def _left_of(
        self, batch: Batch, before: list[Batch], latest: dict[bytes, int], now_ms: int, delete_retention_ms: int
    ) -> Batch:
        passed = batch.horizon is not None and batch.horizon <= now_ms
        if batch.control:
            needed = batch.commits is not None and _has_data(batch, before)
            records = () if not needed and passed else batch.records
            starts = not needed
        elif self.is_aborted(batch):
            records, starts = (), False
        else:
            records = tuple(
                record
                for record in batch.records
                if record.key is not None
                and record.offset >= latest.get(record.key, -1)
                and (record.value is not None or not passed)
            )
            starts = any(record.value is None for record in records)
        if not records:
            return replace(batch, records=(), horizon=None, commits=None, codec=0)
        horizon = now_ms + delete_retention_ms if starts and batch.horizon is None else batch.horizon
        return replace(batch, records=records, horizon=horizon)

    def _is_needed_empty(self, batch: Batch, end: int) -> bool:
        if batch.last_offset + 1 == end:
            return True
        state = self.producers.get(batch.producer_id)
        if state is None:
            return False
        if state.last_offset is not None:
            return batch.last_offset == state.last_offset
        return batch.control and batch.epoch == state.epoch


def _has_data(marker: Batch, before: list[Batch]) -> bool:
    """Whether a batch of the transaction that a marker ends is still there."""
    for batch in reversed(before):
        if batch.producer_id == marker.producer_id and batch.transactional:
            if not batch.control:
                return True
            if batch.commits is not None:
                return False
    return False
