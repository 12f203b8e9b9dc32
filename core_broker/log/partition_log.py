"""The log of one partition: appends, reads, look-ups, retention, and what makes them durable."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from typing import Final

from barnabas.wire.batch import CONTROL, LENGTH_OVERHEAD_BYTES, BatchHeader
from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.log import offset_index, time_index, timestamps
from core_broker.log.config import LogConfig
from core_broker.log.deleted_files import DeletedFiles
from core_broker.log.disk import Disk, FilePath
from core_broker.log.epochs import EpochEnd
from core_broker.log.log_checkpoint import LogCheckpoint, sync_file
from core_broker.log.marker import read_marker
from core_broker.log.open_files import OpenFiles
from core_broker.log.producer_snapshot import encode_snapshot
from core_broker.log.producer_state import Marker, Origin
from core_broker.log.reader import ColdRead, FetchSlice, LogReader, StreamSlice
from core_broker.log.recovery import RecoveredLog, Recovery, RecoveryPlan
from core_broker.log.replacement import swap_files
from core_broker.log.retention import segments_to_delete
from core_broker.log.segment import (
    CLOSED,
    PRODUCER_SNAPSHOT,
    RELATIVE_OFFSET_MAX,
    TRANSACTION_INDEX,
    UNKNOWN,
    Segment,
    file_name,
)
from core_broker.log.staged import Duplicate, Roll, Staged
from core_broker.log.state import LogState
from core_broker.log.timestamps import TimestampedOffset
from core_broker.log.transaction_index import AbortedTransaction
from core_broker.log.unsynced import DirtyFiles, UnsyncedFiles

PRODUCER_ID_EXPIRATION_MS: Final = 24 * 60 * 60 * 1000

_stamp = struct.Struct(">qii").pack_into  # base offset, length, leader epoch: how every batch begins


class PartitionLog(LogState):
    """Owned by the event loop and synchronous; only `Staged.write` may run on another thread.

    An append has three steps, so that a slow disk holds nobody up: `stage` decides, `Staged.write` writes, `publish` makes it
    count. Between them reads go on, and see what was published.
    """

    __slots__ = (
        "_aborted_unsynced",
        "_checkpointed",
        "_deleted",
        "_in_flight",
        "_index_entries_max",
        "_random",
        "_reader",
        "_snapshot_offset",
        "_time_entries_max",
        "_torn",
        "_unsynced",
        "is_open",
        "leader_epoch",
        "producer_id_expiration_ms",
    )

    def __init__(
        self,
        plan: RecoveryPlan,
        disk: Disk,
        files: OpenFiles,
        clock_ms: Callable[[], int],
        recovered: RecoveredLog,
        random: Random | None,
    ) -> None:
        super().__init__(plan.directory, plan.config, disk, files, clock_ms, recovered)
        self._random = random
        self._reader = LogReader(self)
        self._unsynced = UnsyncedFiles(self, names_unsynced=recovered.is_new or not plan.clean)
        self._in_flight: Staged | None = None
        self._torn: Segment | None = None
        self._deleted = DeletedFiles(disk)
        self.is_open = True
        self._snapshot_offset = recovered.snapshot_offset
        self._checkpointed = recovered.recovery_point
        self._aborted_unsynced: list[str] = []
        self.producer_id_expiration_ms = plan.producer_id_expiration_ms
        self.leader_epoch = max(self.epochs.latest, 0)
        self.configure(plan.config)

    @classmethod
    def open(
        cls,
        directory: FilePath,
        config: LogConfig,
        disk: Disk,
        clock_ms: Callable[[], int],
        *,
        recovery_point: int = 0,
        log_start_offset: int = 0,
        cleaned_offset: int = 0,
        clean: bool = False,
        leader_epoch: int | None = None,
        producer_id_expiration_ms: int = PRODUCER_ID_EXPIRATION_MS,
        files: OpenFiles | None = None,
        random: Random | None = None,
    ) -> PartitionLog:
        """Open the log in a folder, which is made if it is missing; if it was not closed clean, recover it.

        Without `leader_epoch` the last known one goes on.
        """
        disk.make_directory(directory)
        if files is None:
            files = OpenFiles(disk)
        plan = RecoveryPlan(
            str(directory), config, clean, recovery_point, log_start_offset, producer_id_expiration_ms, cleaned_offset
        )
        recovered = Recovery(plan, disk, files, clock_ms).run()
        log = cls(plan, disk, files, clock_ms, recovered, random)
        log.assign_epoch(log.leader_epoch if leader_epoch is None else leader_epoch)
        return log

    def configure(self, config: LogConfig) -> None:
        """Take other settings from now on."""
        self.config = config
        self._index_entries_max = config.segment_index_bytes // offset_index.ENTRY_BYTES
        # One entry is kept free for the one that ends the segment.
        self._time_entries_max = config.segment_index_bytes // time_index.ENTRY_BYTES - 1

    def assign_epoch(self, epoch: int) -> None:
        """Let a leader epoch begin at the end of the log: batches from here on carry it."""
        self.leader_epoch = epoch
        self.epochs.assign(epoch, self.log_end_offset)

    # -- appending ----------------------------------------------------------------------------------------------------

    def append(self, view: memoryview, header: BatchHeader, *, now_ms: int, origin: Origin = Origin.CLIENT) -> Staged:
        """All three steps at once."""
        staged = self.stage(view, header, now_ms=now_ms, origin=origin)
        staged.write()
        self.publish(staged)
        return staged

    def stage(self, view: memoryview, header: BatchHeader, *, now_ms: int, origin: Origin = Origin.CLIENT) -> Staged:
        """Check one batch against its producer's state, give it offsets, and stamp them and the leader epoch into `view`.

        `header` must be what stands in `view`. KafkaError when the batch is refused; for one that is in the log already, a
        Staged comes back whose `duplicate` is true and whose offsets are those of the first time. One append may be under way
        at a time.
        """
        if not self.is_open:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"{self.name} is closed: the broker stops")
        if self._in_flight is not None:
            self._end_failed(self._in_flight)
        marker = None
        if header.producer_id >= 0:
            if header.attributes & CONTROL:
                marker = self._check_marker(view, header)
            else:
                appended = self.producers.check(header, origin)
                if appended is not None:
                    return Duplicate(header, appended.first_offset, appended.last_offset, appended.timestamp)
        segment, roll = self.active, None
        if self._must_roll(segment, header, now_ms):
            roll = self._prepare_roll(now_ms)
            segment = roll.segment
        elif segment.descriptor == CLOSED:
            self.files.open(segment)
        base_offset = self.log_end_offset
        _stamp(view, 0, base_offset, len(view) - LENGTH_OVERHEAD_BYTES, self.leader_epoch)
        staged = Staged(self.disk, view, header, base_offset, segment, roll, marker, self._torn)
        segment.pins += 1
        self._in_flight = staged
        return staged

    def publish(self, staged: Staged) -> None:
        """Make a written batch count: reads see it from now on."""
        if staged.duplicate:
            return
        if staged is not self._in_flight or staged.failed:
            raise RuntimeError(
                f"the batch for offset {staged.base_offset} of {self.name} was not written: stage it again"
            )
        self._in_flight = self._torn = None
        if staged.roll is not None:
            self._install(staged.roll)
        segment, header, position = staged.segment, staged.header, staged.position
        size = len(staged.view)
        if position == 0:
            segment.first_timestamp = header.max_timestamp
        segment.note_batch(position, size, staged.last_offset, header.max_timestamp, self.config.index_interval_bytes)
        segment.size = position + size
        if header.producer_id >= 0:
            self._publish_producer(staged)
        self.log_end_offset = staged.last_offset + 1
        segment.pins -= 1
        if segment.doomed:
            self.files.close(segment)

    def discard(self, staged: Staged) -> None:
        """Give up a batch that is not published, written or not; the log is as it was before."""
        if staged is self._in_flight:
            if not staged.failed:
                staged.undo()
            self._in_flight = None
            self._torn = staged.torn
            self.files.unpin(staged.segment)

    def _end_failed(self, staged: Staged) -> None:
        if not staged.failed:
            raise RuntimeError(f"an append to {self.name} is under way already: publish or discard it first")
        self.discard(staged)

    def _check_marker(self, view: memoryview, header: BatchHeader) -> Marker | None:
        marker = read_marker(view)
        if marker is not None:
            self.producers.check_marker(header, marker)
        return marker

    def _publish_producer(self, staged: Staged) -> None:
        header = staged.header
        if not header.attributes & CONTROL:
            self.producers.apply(header, staged.base_offset)
        elif staged.marker is not None:
            aborted = self.producers.apply_marker(header, staged.base_offset, staged.marker)
            if aborted is not None:
                assert staged.segment.transaction_index is not None
                staged.segment.transaction_index.entries.append(aborted)

    # -- rolling ------------------------------------------------------------------------------------------------------

    def roll(self) -> None:
        """Begin a new segment, unless the active one is empty."""
        if self._in_flight is not None:
            self._end_failed(self._in_flight)
        if self.active.size == 0:
            return
        roll = self._prepare_roll(self.clock_ms())
        try:
            if self._torn is not None:
                self.disk.truncate(self.files.open(self._torn), self._torn.size)
                self._torn = None
            roll.write()
        except OSError:
            roll.undo()
            raise
        self._install(roll)

    def _must_roll(self, segment: Segment, header: BatchHeader, now_ms: int) -> bool:
        config, position = self.config, segment.size
        size = header.batch_length + LENGTH_OVERHEAD_BYTES
        if position + size > config.segment_bytes:
            if size > config.segment_bytes:
                raise KafkaError(
                    ErrorCode.RECORD_LIST_TOO_LARGE,
                    f"a batch of {size} bytes does not fit a segment of {self.name}, which has {config.segment_bytes} "
                    "(segment.bytes): send smaller batches",
                )
            return True
        if position == 0:
            return False
        first_timestamp = segment.first_timestamp
        if first_timestamp == UNKNOWN:
            self.files.open(segment)
            first_timestamp = segment.load_first_timestamp(self.disk)
        age_ms = header.max_timestamp - first_timestamp if first_timestamp >= 0 else now_ms - segment.created_ms
        return (
            age_ms > config.segment_ms - segment.jitter_ms
            or self.log_end_offset + header.last_offset_delta - segment.base_offset > RELATIVE_OFFSET_MAX
            or len(segment.offset_index.offsets) >= self._index_entries_max  # type: ignore[union-attr] # it is active
            or len(segment.time_index.offsets) >= self._time_entries_max  # type: ignore[union-attr]
        )

    def _prepare_roll(self, now_ms: int) -> Roll:
        segment = Segment.empty(self.directory, self.log_end_offset, now_ms)
        jitter_ms = min(self.config.segment_jitter_ms, self.config.segment_ms)
        if jitter_ms > 0:
            segment.jitter_ms = (self._random or Random()).randrange(jitter_ms)
        return Roll(self.disk, self.active, segment, encode_snapshot(self.producers.by_id.values()))

    def _install(self, roll: Roll) -> None:
        roll.old.indexes_written()
        self.files.seal(roll.old)
        self.files.adopt(roll.segment, roll.descriptor)
        self.segments.append(roll.segment)
        self.bases.append(roll.segment.base_offset)
        self.active = roll.segment
        self._snapshot_offset = roll.segment.base_offset
        self._unsynced.rolled(roll)

    # -- reading ------------------------------------------------------------------------------------------------------

    def read(self, offset: int, max_bytes: int, *, limit: int | None = None, min_one: bool = True) -> FetchSlice:
        """Whole batches, beginning with the one that contains `offset`, all of them below `limit`, from one segment.

        They take `max_bytes` at most; with `min_one` the first comes even if it alone is larger. KafkaError when the log does
        not reach to the offset.
        """
        part = self._reader.read(offset, max_bytes, limit, min_one=min_one, wait=True, stream=False)
        assert isinstance(part.data, bytes)
        return FetchSlice(part.data, part.first_offset, part.next_offset)

    def stream(
        self, offset: int, max_bytes: int, *, limit: int | None = None, min_one: bool = True, wait: bool = True
    ) -> StreamSlice:
        """The same for a network's answer: much data comes as a FileRange, to be read while it is sent. Without `wait`,
        ColdRead instead of a wait for the disk: see `begin_warming`."""
        return self._reader.read(offset, max_bytes, limit, min_one=min_one, wait=wait, stream=True)

    def begin_warming(self, cold: ColdRead) -> Callable[[], None]:
        """What brings the bytes of a cold read into memory, to be called on another thread; then `end_warming`."""
        cold.segment.pins += 1
        return lambda: cold.warm(self.disk)

    def end_warming(self, cold: ColdRead) -> None:
        self.files.unpin(cold.segment)

    def last_stable_offset(self, high_watermark: int) -> int:
        """Up to where every transaction is decided, as far as the high watermark has seen it."""
        first = self.producers.first_unstable_offset(high_watermark)
        if first is None or first >= high_watermark:
            return high_watermark
        return max(first, self.log_start_offset)

    def aborted_transactions(self, first_offset: int, end_offset: int) -> list[AbortedTransaction]:
        """The aborted transactions with records in [first_offset, end_offset), by their first offsets."""
        found: list[AbortedTransaction] = []
        for segment in self.segments[self.slot_of(first_offset) :]:
            if segment.transaction_index is None:
                if not segment.may_have_aborted:
                    continue
                self.load(segment)
            assert segment.transaction_index is not None
            if segment.transaction_index.collect(first_offset, end_offset, found):
                break
        return sorted(found, key=lambda transaction: transaction.first_offset)

    def offset_for_timestamp(self, timestamp: int) -> TimestampedOffset | None:
        """The first record whose timestamp is not smaller."""
        return timestamps.first_offset_from(self, timestamp)

    def offset_of_max_timestamp(self) -> TimestampedOffset | None:
        """The first record that has the largest timestamp of all."""
        return timestamps.offset_of_max(self)

    def end_offset_for_epoch(self, epoch: int) -> EpochEnd | None:
        """Where the largest epoch that is not above `epoch` ended."""
        return self.epochs.end_offset(epoch, self.log_end_offset)

    # -- durability ---------------------------------------------------------------------------------------------------

    @property
    def recorded_recovery_point(self) -> int:
        """What a recovery would find written down: `recovery_point` as it was at the last checkpoint."""
        return self._checkpointed

    def dirty_files(self) -> DirtyFiles | None:
        """What to sync so that all that is published is durable; None if it is. End the round that this begins with
        `mark_synced` or `sync_failed`: until then the descriptors stay open."""
        if not self.is_open:
            return None
        dirty = self._unsynced.begin()
        if dirty is not None:
            # The high watermark will stand here once the sync is done.
            self._reader.remember_bound(dirty.offset, self.active, self.active.size, dirty.offset)
        return dirty

    def mark_synced(self, offset: int) -> None:
        """The round succeeded: the recovery point moves."""
        self._unsynced.done(offset)

    def sync_failed(self) -> None:
        """The round failed: nothing of it counts. OSError when the bytes cannot even be written again."""
        self._unsynced.failed(rewrite=self.is_open)

    def begin_checkpoint(self) -> LogCheckpoint:
        """Write what a recovery will rely on, and return what must be synced before the recovery point may be recorded."""
        active, point = self.active, self.recovery_point
        if (self._in_flight is not None and self._in_flight.roll is not None) or self._unsynced.has_roll:
            # The files of a roll are not on disk for certain.
            return LogCheckpoint(self._checkpointed, self.directory, (), self.epochs, None)
        assert active.transaction_index is not None
        if active.transaction_index.written < len(active.transaction_index):
            self._aborted_unsynced.append(active.path(TRANSACTION_INDEX))
        if active.size:
            active.write_indexes(self.disk)
        unsaved = self.epochs.unsaved(below=point)
        return LogCheckpoint(point, self.directory, tuple(self._aborted_unsynced), self.epochs, unsaved)

    def end_checkpoint(self, checkpoint: LogCheckpoint) -> None:
        """Everything that the checkpoint needs is synced. No other one was begun meanwhile."""
        self._checkpointed = checkpoint.recovery_point
        del self._aborted_unsynced[: len(checkpoint.transaction_indexes)]

    def checkpoint(self) -> int:
        """Both steps at once; returns the recovery point that may be recorded now."""
        checkpoint = self.begin_checkpoint()
        checkpoint.sync(self.disk)
        self.end_checkpoint(checkpoint)
        return checkpoint.recovery_point

    # -- deleting -----------------------------------------------------------------------------------------------------

    def delete_records_before(self, offset: int) -> int:
        """Move the log's start up to an offset and return where it is; segments below go with the next retention."""
        if offset > self.log_end_offset:
            raise self.out_of_range(offset)
        if offset > self.log_start_offset:
            self.log_start_offset = offset
            self.epochs.truncate_from_start(offset)
        return self.log_start_offset

    def apply_retention(self, now_ms: int, high_watermark: int) -> list[int]:
        """Delete segments that retention gives up, and return their base offsets. `purge_deleted` removes the files."""
        segments = segments_to_delete(self, now_ms, high_watermark)
        if segments and segments[-1] is self.active:
            if self._in_flight is None or self._in_flight.failed:
                self.roll()
            else:
                segments.pop()
        if segments:
            self._sync_first_snapshot(self.segments[len(segments)])
        for _ in segments:
            self._remove_first(now_ms)
        return [segment.base_offset for segment in segments]

    def _sync_first_snapshot(self, segment: Segment) -> None:
        """What producers did before this segment is told by nothing but its snapshot, once the earlier ones are gone."""
        path = segment.path(PRODUCER_SNAPSHOT)
        if self._unsynced.holds(path):
            with suppress(FileNotFoundError):
                sync_file(self.disk, path)

    def _remove_first(self, now_ms: int) -> None:
        segment = self.segments.pop(0)
        del self.bases[0]
        self.log_start_offset = max(self.log_start_offset, self.bases[0])
        self.epochs.truncate_from_start(self.log_start_offset)
        self._reader.forget()
        self.files.close(segment)
        self._unsynced.removed(segment)
        self._deleted.set_aside(segment, now_ms + self.config.file_delete_delay_ms)

    def replace(self, old: Sequence[Segment], cleaned: Segment, now_ms: int) -> None:
        """Take a compacted segment in the place of the consecutive ones that it was made of, none of them above the recovery
        point that was recorded. Whoever still reads from them goes on doing so."""
        slot = self.segments.index(old[0])
        self._deleted.add(swap_files(self.disk, old, cleaned), now_ms + self.config.file_delete_delay_ms)
        self.files.seal(cleaned)
        self.segments[slot : slot + len(old)] = [cleaned]
        self.bases[slot : slot + len(old)] = [cleaned.base_offset]
        self._reader.forget()
        for segment in old:
            self.files.close(segment)

    def purge_deleted(self, now_ms: int) -> None:
        """Remove the files of segments that were deleted or replaced file.delete.delay.ms ago."""
        self._deleted.purge(now_ms)

    def remove_expired_producers(self, now_ms: int) -> None:
        self.producers.remove_expired(now_ms, self.producer_id_expiration_ms)

    # -- the end ------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Write everything that is still in memory. It is durable once the file system was synced."""
        if not self.is_open:
            return
        if self._in_flight is not None:
            self._end_failed(self._in_flight)
        try:
            if self._torn is not None:
                self.disk.truncate(self.files.open(self._torn), self._torn.size)
            if self.active.size:
                self.active.close_time_index()
                self.active.write_indexes(self.disk)
            if self.log_end_offset > self._snapshot_offset:
                path = f"{self.directory}/{file_name(self.log_end_offset, PRODUCER_SNAPSHOT)}"
                self.disk.write_file(path, encode_snapshot(self.producers.by_id.values()))
            if self.log_end_offset > self.log_start_offset:
                self.epochs.save(durable=False)
        finally:
            self._release()

    def delete(self, target: FilePath) -> None:
        """Move the folder away, under a name that says so. An append or a sync under way ends undisturbed."""
        self._release()
        self.disk.rename(self.directory, target)

    def _release(self) -> None:
        self.is_open = False
        for segment in self.segments:
            self.files.close(segment)
