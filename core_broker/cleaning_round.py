"""One round of compaction over one log: keys are read, segments rewritten on another thread, and put in place on the event loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from core_broker.log.batch_filter import BatchFilter, FilterRules, LastOfProducer
from core_broker.log.cleaned_transactions import CleanedTransactions
from core_broker.log.compaction import DirtyPart, group_segments, segments_between
from core_broker.log.key_offsets import KeyOffsets
from core_broker.log.key_scan import KeyScan
from core_broker.log.pace import CleaningAborted, Pace
from core_broker.log.partition_log import PartitionLog
from core_broker.log.segment import Segment
from core_broker.log.segment_rewrite import SegmentRewrite, Source, remove_cleaned

Result = TypeVar("Result")


class OnThread(Protocol):
    """Runs something slow on another thread. It has ended when this returns, even if the caller is cancelled."""

    def __call__(self, work: Callable[[], Result]) -> Awaitable[Result]: ...


@dataclass(frozen=True, slots=True)
class RoundLimits:
    keys_max_bytes: int
    keys_load_factor: float
    chunk_bytes: int


@dataclass(frozen=True, slots=True)
class RoundResult:
    """What a round did. It reached `end`, which is less than the dirty part if there were too many keys for the memory."""

    end: int
    bytes_read: int
    bytes_written: int
    records_read: int
    records_kept: int
    records_without_key: int
    keys_utilization: float


class CleaningRound:
    """Belongs to the event loop. `is_wanted` says whether the log is still to be compacted; it is asked before each change."""

    def __init__(
        self,
        log: PartitionLog,
        part: DirtyPart,
        limits: RoundLimits,
        pace: Pace,
        on_thread: OnThread,
        is_wanted: Callable[[], bool],
    ) -> None:
        self._log = log
        self._part = part
        self._limits = limits
        self._pace = pace
        self._on_thread = on_thread
        self._is_wanted = is_wanted
        self._keys = KeyOffsets.within(limits.keys_max_bytes, limits.keys_load_factor)
        self._bytes_read = self._bytes_written = 0

    async def run(self, now_ms: int) -> RoundResult:
        """CleaningAborted when the log changed in the meantime, which leaves it as good as it was."""
        log, keys, limits = self._log, self._keys, self._limits
        try:
            await self._read_keys()
            utilization = len(keys) / (keys.capacity / limits.keys_load_factor)
            transactions = CleanedTransactions()
            rules = FilterRules(now_ms, log.config.delete_retention_ms, self._part.end, self._last_of_producers())
            batches = BatchFilter(keys, transactions, rules, self._pace)
            end = keys.latest + 1
            for group in group_segments(log, end, self._part.end):
                await self._rewrite(group, batches, transactions, now_ms)
        finally:
            await self._on_thread(self._forget_keys)
        counts = batches.counts
        return RoundResult(
            end,
            self._bytes_read,
            self._bytes_written,
            counts.records_read,
            counts.records_kept,
            counts.records_without_key,
            utilization,
        )

    async def _read_keys(self) -> None:
        log, part = self._log, self._part
        transactions = CleanedTransactions()
        transactions.add_aborted(log.aborted_transactions(part.first_dirty, part.end))
        scan = KeyScan(log.disk, self._keys, transactions, part.first_dirty, self._limits.chunk_bytes, self._pace)
        segments = segments_between(log, part.first_dirty, part.end)
        for segment, next_base in zip(segments, self._ends(segments), strict=True):
            with self._pinned([segment]):
                position = 0
                if segment.base_offset < part.first_dirty:
                    log.load(segment)
                    assert segment.offset_index is not None
                    position = segment.offset_index.position_at_or_below(part.first_dirty - segment.base_offset)
                if not await self._on_thread(lambda: scan.scan(segment, position, next_base)):  # noqa: B023 - awaited here
                    return

    async def _rewrite(
        self, group: list[Segment], batches: BatchFilter, transactions: CleanedTransactions, now_ms: int
    ) -> None:
        log = self._log
        with self._pinned(group):
            sources = [
                Source(segment, log.aborted_transactions(segment.base_offset, end))
                for segment, end in zip(group, self._ends(group), strict=True)
            ]
            rewrite = SegmentRewrite(
                log.disk,
                sources,
                batches,
                transactions,
                index_interval_bytes=log.config.index_interval_bytes,
                chunk_bytes=self._limits.chunk_bytes,
                pace=self._pace,
            )
            cleaned = await self._on_thread(rewrite.run)
            try:
                self._check_unchanged(group)
                log.replace(group, cleaned, now_ms)
            except BaseException:
                remove_cleaned(log.disk, cleaned)
                raise
        self._bytes_read += sum(segment.size for segment in group)
        self._bytes_written += cleaned.size
        await self._on_thread(lambda: log.disk.sync_directory(log.directory))

    def _ends(self, segments: Sequence[Segment]) -> list[int]:
        """Where each of some segments, of which none is the active one, ends: where the next begins."""
        bases = self._log.bases
        return [bases[self._log.slot_of(segment.base_offset) + 1] for segment in segments]

    @contextmanager
    def _pinned(self, segments: Sequence[Segment]) -> Iterator[None]:
        """Keep the files of segments open for the other thread."""
        self._check_unchanged(segments)
        pinned: list[Segment] = []
        try:
            for segment in segments:
                self._log.files.open(segment)
                segment.pins += 1
                pinned.append(segment)
            yield
        finally:
            for segment in pinned:
                self._log.files.unpin(segment)

    def _check_unchanged(self, segments: Sequence[Segment]) -> None:
        if not (self._log.is_open and self._is_wanted()):
            raise CleaningAborted(f"{self._log.name} is not to be compacted any more")
        slot = self._log.slot_of(segments[0].base_offset)
        if self._log.segments[slot : slot + len(segments)] != list(segments):
            raise CleaningAborted(f"segments of {self._log.name} were deleted while they were compacted")

    def _last_of_producers(self) -> dict[int, LastOfProducer]:
        return {
            producer.producer_id: LastOfProducer(
                producer.batches[-1].last_offset if producer.batches else None, producer.epoch
            )
            for producer in self._log.producers.by_id.values()
        }

    def _forget_keys(self) -> None:
        for _ in self._keys.release():
            self._pace.rest()
