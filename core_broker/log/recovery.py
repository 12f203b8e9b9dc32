"""Opening a log: after a clean stop it is taken as it stands, else it is verified from the recovery point on."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass

from barnabas.wire.batch import HEADER_BYTES
from core_broker.log.config import LogConfig
from core_broker.log.disk import Disk
from core_broker.log.epochs import LeaderEpochs
from core_broker.log.folder import SEGMENT_SUFFIXES, Folder
from core_broker.log.indexes import read_indexes
from core_broker.log.open_files import OpenFiles
from core_broker.log.producer_snapshot import decode_snapshot
from core_broker.log.producer_state import Producers
from core_broker.log.segment import (
    LOG,
    PRODUCER_SNAPSHOT,
    RELATIVE_OFFSET_MAX,
    TRANSACTION_INDEX,
    Segment,
    file_name,
    peek_batch,
)
from core_broker.log.segment_walk import NOWHERE, SegmentWalk
from core_broker.log.sound_batch import find_sound_batch
from core_broker.log.time_index import NO_TIMESTAMP, TimeEntry
from core_broker.log.transaction_index import TransactionIndex

_logger = logging.getLogger(__name__)


class DamagedLogError(Exception):
    """A log that no crash has left as it is; the message says where, and how what is behind that could be given up."""


@dataclass(frozen=True, slots=True)
class RecoveryPlan:
    """What is known about a log before it is opened."""

    directory: str
    config: LogConfig
    clean: bool  # it was closed in order, and everything was synced then
    recovery_point: int  # all that lies below is durable
    log_start_offset: int
    producer_id_expiration_ms: int
    cleaned_offset: int = 0  # up to here compaction has been, so offsets may be missing


@dataclass(frozen=True, slots=True)
class RecoveredLog:
    """What a log is made of, once it is open."""

    segments: list[Segment]
    log_start_offset: int
    log_end_offset: int
    recovery_point: int
    snapshot_offset: int  # of the newest snapshot of the producers
    epochs: LeaderEpochs
    producers: Producers
    is_new: bool


class Recovery:
    """One opening of one log."""

    def __init__(self, plan: RecoveryPlan, disk: Disk, files: OpenFiles, clock_ms: Callable[[], int]) -> None:
        self._plan = plan
        self._disk = disk
        self._files = files
        self._now_ms = clock_ms()
        self._directory = plan.directory
        self._folder = Folder(plan.directory, disk)
        self._snapshots = list(self._folder.snapshot_offsets)
        self._segments = [
            Segment(
                plan.directory,
                base,
                size=disk.file_size(f"{plan.directory}/{file_name(base, LOG)}"),
                created_ms=self._now_ms,
            )
            for base in self._folder.base_offsets
        ]
        for segment in self._segments:
            segment.may_have_aborted = self._folder.has(segment.base_offset, TRANSACTION_INDEX)
        self._producers = Producers(os.path.basename(plan.directory))
        self._epochs = LeaderEpochs.empty(plan.directory, disk)
        self._knows_epochs = True

    def run(self) -> RecoveredLog:
        plan = self._plan
        is_new = not self._segments
        end = plan.log_start_offset
        if self._segments:
            self._load_epochs()
            end = self._recover(NOWHERE if plan.clean else plan.recovery_point)
            if end < plan.log_start_offset:
                _logger.error(
                    "%s ends at offset %d, below its start offset %d: segment files are missing; it begins anew there",
                    self._directory,
                    end,
                    plan.log_start_offset,
                )
                self._remove_segments_from(0)
                end = plan.log_start_offset
        if not self._segments:
            # Its file comes into being with the first append: a broker may have thousands of empty partitions.
            self._segments.append(Segment.empty(self._directory, plan.log_start_offset, self._now_ms))
        start = max(plan.log_start_offset, self._segments[0].base_offset)
        self._epochs.truncate_from_end(end)
        self._epochs.truncate_from_start(start)
        self._remove_stray_snapshots(end)
        for segment in self._segments[:-1]:
            segment.sealed = True
        return RecoveredLog(
            segments=self._segments,
            log_start_offset=start,
            log_end_offset=end,
            recovery_point=end if plan.clean else min(plan.recovery_point, end),
            snapshot_offset=self._snapshots[-1] if self._snapshots else 0,
            epochs=self._epochs,
            producers=self._producers,
            is_new=is_new,
        )

    # -- batches ------------------------------------------------------------------------------------------------------

    def _recover(self, point: int) -> int:
        """Trust what lies below `point`, verify the rest, cut off what is damaged; return the offset after the last batch."""
        producers_from = self._restore_producers(point)
        replay_from = producers_from if self._knows_epochs else 0
        next_bases = [*(segment.base_offset for segment in self._segments[1:]), NOWHERE]
        next_offset = self._segments[0].base_offset
        for slot, (segment, next_base) in enumerate(zip(list(self._segments), next_bases, strict=True)):
            is_last = next_base == NOWHERE
            self._forget_attempt(segment)
            # If the point is where the next one begins, the indexes of this one may not have been synced after the roll.
            is_trusted = not is_last and next_base < point
            if is_trusted and next_base <= replay_from:
                continue
            trusted = segment.size if is_trusted else self._trusted_position(segment, point)
            if trusted == NOWHERE:
                return self._recover(segment.base_offset)
            start = min(trusted, self._replay_position(segment, replay_from))
            collects_aborted = not is_trusted and point != NOWHERE
            end, next_offset = self._walk(segment, start, trusted, producers_from, collects_aborted=collects_aborted)
            if end != segment.size or next_offset > next_base or (not is_last and self._lost(next_offset, next_base)):
                self._cut(slot, end)
                if is_trusted or next_offset < producers_from:
                    return self._recover(next_offset)
                break
            if not is_trusted:
                self._settle_indexes(segment, seal=not is_last)
        if next_offset < producers_from != NOWHERE:
            self._snapshots = [offset for offset in self._snapshots if offset <= next_offset]
            return self._recover(point)
        return next_offset

    def _lost(self, next_offset: int, next_base: int) -> bool:
        """Whether offsets are missing between two segments that compaction did not take: it stays below the recovery point."""
        plan = self._plan
        return next_offset < next_base and not plan.clean and next_base > max(plan.recovery_point, plan.cleaned_offset)

    def _forget_attempt(self, segment: Segment) -> None:
        """What a first attempt, which met damage further on, learned of a segment."""
        self._files.close(segment)
        segment.sealed = False
        segment.offset_index = segment.time_index = segment.transaction_index = None

    def _trusted_position(self, segment: Segment, point: int) -> int:
        """Up to where a segment need not be verified: a batch below `point` that its index names and that is there.

        NOWHERE if the indexes should be whole, since the log was closed clean, and are not.
        """
        self._files.open(segment)
        if segment.size == 0 or point <= segment.base_offset:
            segment.reset_indexes()
            return 0
        if not read_indexes(segment, self._disk):
            segment.reset_indexes()
            return NOWHERE if point == NOWHERE else 0
        offsets, times = segment.offset_index, segment.time_index
        assert offsets is not None
        assert times is not None
        entries = len(offsets) + len(times)
        known = RELATIVE_OFFSET_MAX
        if point != NOWHERE:
            # The index files are not synced one with the other: where the time index ends early, the timestamps that
            # came after must be seen again. Aborted transactions are found by the walk, which goes through the whole
            # segment for the producers' sake.
            times.keep_below(point - segment.base_offset)
            known = (times.last() or TimeEntry(NO_TIMESTAMP, 0)).relative_offset
            segment.transaction_index = TransactionIndex()
        position = offsets.position_at_or_below(known)
        offsets.keep_below(position + 1)
        last = offsets.last()
        if last is not None:
            head = self._disk.pread(segment.descriptor, HEADER_BYTES, position)
            base, _, delta = peek_batch(head) if len(head) == HEADER_BYTES else (0, 0, -1)
            if base + delta != segment.base_offset + last.relative_offset:
                segment.reset_indexes()
                return NOWHERE if point == NOWHERE else 0
        segment.learn_max_timestamp()
        segment.has_index_files = point == NOWHERE and entries == len(offsets) + len(times)
        return position

    def _replay_position(self, segment: Segment, replay_from: int) -> int:
        """Where batches begin that the producers' state, or the epochs, must learn from."""
        if replay_from == NOWHERE:
            return NOWHERE
        if segment.offset_index is None:
            return 0
        return segment.offset_index.position_at_or_below(max(replay_from - segment.base_offset, 0))

    def _walk(
        self, segment: Segment, start: int, trusted: int, producers_from: int, *, collects_aborted: bool
    ) -> tuple[int, int]:
        """Go through a segment; return the position and the offset after its last good batch."""
        self._files.open(segment)
        segment.unindexed_bytes = 0
        walk = SegmentWalk(
            segment,
            self._disk,
            producers=self._producers,
            epochs=self._epochs,
            index_interval_bytes=self._plan.config.index_interval_bytes,
            verify_from=trusted,
            index_from=trusted,
            producers_from=producers_from,
            collects_aborted=collects_aborted,
        )
        end = walk.run(start)
        return end, walk.next_offset

    def _settle_indexes(self, segment: Segment, *, seal: bool) -> None:
        """Bring the index files in line with what the walk found."""
        assert segment.transaction_index is not None
        if not segment.transaction_index.entries and self._folder.has(segment.base_offset, TRANSACTION_INDEX):
            self._disk.unlink(segment.path(TRANSACTION_INDEX))
        if seal:
            segment.close_time_index()
        segment.write_indexes(self._disk)
        if seal:
            self._files.seal(segment)

    # -- files --------------------------------------------------------------------------------------------------------

    def _cut(self, slot: int, end: int) -> None:
        """End the log at a position in a segment. DamagedLogError if that is not for a crash to explain."""
        segment = self._segments[slot]
        if self._plan.config.synced_each:
            self._refuse_damage(slot, end)
        _logger.warning(
            "%s is good up to byte %d of %d: the log is cut off there, and %d later segments are removed",
            segment.path(LOG),
            end,
            segment.size,
            len(self._segments) - slot - 1,
        )
        self._remove_segments_from(slot + 1)
        if end < segment.size:
            self._disk.truncate(segment.descriptor, end)
            segment.size = end
        if segment.offset_index is not None:
            self._settle_indexes(segment, seal=False)

    def _refuse_damage(self, slot: int, end: int) -> None:
        segment = self._segments[slot]
        rest = self._disk.pread(segment.descriptor, segment.size - end, end)
        if find_sound_batch(rest) is None and not any(later.size for later in self._segments[slot + 1 :]):
            return
        path = segment.path(LOG)
        raise DamagedLogError(
            f"{path} is damaged at byte {end} of {segment.size}, and there are sound records behind it, so that this is no write "
            f"which a crash has cut off. Nothing was changed. Restore the folder from a copy; or, to give up all that came later, "
            f"remove newer segments and cut it off: truncate --size={end} {path}"
        )

    def _remove_segments_from(self, slot: int) -> None:
        for segment in self._segments[slot:]:
            self._files.close(segment)
            for suffix in SEGMENT_SUFFIXES:
                self._disk.unlink(segment.path(suffix))
        self._snapshots = [o for o in self._snapshots if all(s.base_offset != o for s in self._segments[slot:])]
        del self._segments[slot:]

    # -- epochs and producers -----------------------------------------------------------------------------------------

    def _load_epochs(self) -> None:
        try:
            self._epochs = LeaderEpochs.load(self._directory, self._disk)
        except FileNotFoundError:
            self._knows_epochs = False
        except ValueError as error:
            _logger.warning("the leader epochs in %s are damaged (%s): taken from the records", self._directory, error)
            self._knows_epochs = False

    def _restore_producers(self, point: int) -> int:
        """Begin with the newest snapshot that a walk can build on; return its offset, from which on batches apply.

        After a crash that is one with which the first segment to be verified begins, or an older one: so the walk meets all
        markers of that segment, and a snapshot above it may tell of batches that are lost.
        """
        newest = point
        if point != NOWHERE:
            bases = [segment.base_offset for segment in self._segments]
            newest = max((base for base in bases if base < point), default=bases[0])
        for offset in sorted((offset for offset in self._snapshots if offset <= newest), reverse=True):
            path = f"{self._directory}/{file_name(offset, PRODUCER_SNAPSHOT)}"
            try:
                producers = decode_snapshot(self._disk.read_file(path))
            except ValueError as error:
                _logger.warning("%s is damaged (%s): producers are taken from the records instead", path, error)
                self._disk.unlink(path)
                self._snapshots.remove(offset)
                continue
            self._producers.restore(producers)
            self._producers.remove_expired(self._now_ms, self._plan.producer_id_expiration_ms)
            return offset
        self._producers.restore([])
        # Every clean stop takes a snapshot once there is something to remember.
        return NOWHERE if point == NOWHERE else 0

    def _remove_stray_snapshots(self, end: int) -> None:
        """Keep the snapshots that segments begin with, and the newest one; none from above the end."""
        bases = {segment.base_offset for segment in self._segments}
        newest = max((offset for offset in self._snapshots if offset <= end), default=None)
        for offset in list(self._snapshots):
            if offset > end or (offset not in bases and offset != newest):
                self._disk.unlink(f"{self._directory}/{file_name(offset, PRODUCER_SNAPSHOT)}")
                self._snapshots.remove(offset)
