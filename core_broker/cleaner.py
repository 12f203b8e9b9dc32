"""The cleaner: compacts the logs of topics whose cleanup.policy says so, the dirtiest first."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from barnabas.kernel.settings import Settings
from core_broker.cleaning_round import CleaningRound, RoundLimits, RoundResult
from core_broker.log.checkpoints import TopicPartition
from core_broker.log.compaction import DirtyPart, find_dirty_part
from core_broker.log.pace import CleaningAborted, IoThrottle, Pace
from core_broker.log.segment import DamagedSegmentError
from core_broker.partition import Partition

logger = logging.getLogger(__name__)

THREADS_MAX = 64
CHUNK_MIN_BYTES = 64 * 1024
PARTITIONS_PER_TURN = 50
"""After this many the event loop gets its turn."""

SYNC_WAIT_STEPS = 500
SYNC_WAIT_STEP_S = 0.01
"""How long a round waits for a relaxed partition to be synced before it is put off."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class CleanerSettings:
    enabled: bool
    threads: int
    keys_max_bytes: int
    keys_load_factor: float
    io_buffer_bytes: int
    io_bytes_per_second: float
    backoff_ms: int

    @classmethod
    def of(cls, settings: Settings) -> CleanerSettings:
        return cls(
            enabled=settings.boolean("log.cleaner.enable"),
            threads=min(settings.integer("log.cleaner.threads"), THREADS_MAX),
            keys_max_bytes=settings.integer("log.cleaner.dedupe.buffer.size"),
            keys_load_factor=settings.number("log.cleaner.io.buffer.load.factor"),
            io_buffer_bytes=settings.integer("log.cleaner.io.buffer.size"),
            io_bytes_per_second=settings.number("log.cleaner.io.max.bytes.per.second"),
            backoff_ms=settings.integer("log.cleaner.backoff.ms"),
        )

    def limits(self) -> RoundLimits:
        """One thread's share; half of the buffer is for reading, half for writing."""
        threads = max(self.threads, 1)
        return RoundLimits(
            self.keys_max_bytes // threads,
            self.keys_load_factor,
            max(self.io_buffer_bytes // threads // 2, CHUNK_MIN_BYTES),
        )


@dataclass(slots=True)
class CleanerStatistics:
    """For whoever watches the broker. Times and shares are those of the last look or of the last round."""

    max_dirty_percent: int = 0
    max_compaction_delay_ms: int = 0
    last_run_ms: int | None = None
    uncleanable: set[TopicPartition] = field(default_factory=set)
    rounds: int = 0
    last_round_s: float = 0.0
    max_round_s: float = 0.0
    keys_utilization_percent: int = 0
    recopied_percent: int = 0

    def add(self, result: RoundResult, seconds: float) -> None:
        self.rounds += 1
        self.last_round_s = seconds
        self.max_round_s = max(self.max_round_s, seconds)
        self.keys_utilization_percent = int(100 * result.keys_utilization)
        self.recopied_percent = 100 * result.bytes_written // max(result.bytes_read, 1)


class CleanedOffsets(Protocol):
    """Up to where each log is compacted, and the file that says so: a log directory."""

    cleaned_offsets: dict[TopicPartition, int]

    def write_cleaned_offsets(self) -> None: ...


class Cleaner:
    """Owned by the event loop; the work on bytes is done by threads of its own, which touch no state."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        compacted: Callable[[], Iterable[Partition]],
        offsets: CleanedOffsets,
        checkpoint: Callable[[], Awaitable[None]],
        clock_ms: Callable[[], int],
        settings: CleanerSettings,
    ) -> None:
        self._loop = loop
        self._compacted = compacted
        self._offsets = offsets
        self._checkpoint = checkpoint
        self._clock_ms = clock_ms
        self._threads = ThreadPoolExecutor(THREADS_MAX, thread_name_prefix="cleaner")
        self._throttle = IoThrottle()
        self._busy: set[TopicPartition] = set()
        self._put_off: set[TopicPartition] = set()
        self.statistics = CleanerStatistics()
        self.configure(settings)

    def configure(self, settings: CleanerSettings) -> None:
        """Take other settings; rounds under way go on with the old ones, except for the limit on bytes."""
        self.settings = settings
        self._throttle.bytes_per_second = settings.io_bytes_per_second

    def close(self) -> None:
        self._threads.shutdown()

    async def clean(self) -> None:
        """Compact one log after the other, as many at once as there are threads, until none is dirty enough."""
        if not self.settings.enabled or self.settings.threads == 0:
            return
        self._put_off.clear()
        async with asyncio.TaskGroup() as workers:
            for _ in range(self.settings.threads):
                workers.create_task(self._work())

    async def _work(self) -> None:
        while True:
            partition = await self._dirtiest()
            if partition is None:
                return
            key = _key(partition)
            self._busy.add(key)
            try:
                if not await self._clean(partition):
                    self._put_off.add(key)
            finally:
                self._busy.remove(key)

    # Choosing.

    async def _dirtiest(self) -> Partition | None:
        found: list[tuple[Partition, DirtyPart]] = []
        seen: set[TopicPartition] = set()
        for count, partition in enumerate(self._compacted(), start=1):
            key = _key(partition)
            seen.add(key)
            if key not in self._busy and key not in self.statistics.uncleanable:
                part = self._look(partition)
                if part is not None:
                    found.append((partition, part))
            if count % PARTITIONS_PER_TURN == 0:
                await asyncio.sleep(0)
        statistics = self.statistics
        statistics.uncleanable &= seen
        statistics.last_run_ms = self._clock_ms()
        statistics.max_dirty_percent = int(100 * max((part.ratio for _, part in found), default=0))
        statistics.max_compaction_delay_ms = max((part.delay_ms for _, part in found), default=0)
        due = [
            (part.ratio, partition)
            for partition, part in found
            if part.is_due(partition.log.config) and _key(partition) not in (self._put_off | self._busy)
        ]
        return max(due, key=lambda entry: entry[0])[1] if due else None

    def _look(self, partition: Partition) -> DirtyPart | None:
        try:
            return self._dirty_part(partition)
        except Exception as problem:  # noqa: BLE001 - one log that cannot be looked at must not stop the others
            self._failed(partition, problem)
            return None

    def _dirty_part(self, partition: Partition, **limits: int) -> DirtyPart:
        cleaned_offset = self._offsets.cleaned_offsets.get(_key(partition))
        return find_dirty_part(partition.log, cleaned_offset, partition.last_stable_offset, self._clock_ms(), **limits)

    # Cleaning.

    async def _clean(self, partition: Partition) -> bool:
        """Compact a log; False if it cannot be done now."""
        pace = Pace(self._throttle)
        try:
            await self._secure(partition)
            part = self._dirty_part(partition, durable_end=partition.log.recorded_recovery_point)
            if partition.deleted or not part.is_due(partition.log.config):
                return False
            await self._run_round(partition, part, pace)
        except CleaningAborted as reason:
            logger.info("gave up compacting %s: %s", partition, reason)
            return False
        except Exception as problem:  # noqa: BLE001 - one log that cannot be compacted must not stop the others
            self._failed(partition, problem)
            return False
        return True

    async def _secure(self, partition: Partition) -> None:
        """Have it on record that what is to be compacted is durable: a recovery takes gaps elsewhere for losses."""
        log, end = partition.log, self._dirty_part(partition).end
        if log.recorded_recovery_point >= end:
            return
        if log.recovery_point < end:
            partition.flush()
        for _ in range(SYNC_WAIT_STEPS):
            if log.recovery_point >= end or partition.deleted:
                break
            await asyncio.sleep(SYNC_WAIT_STEP_S)
        await self._checkpoint()

    async def _run_round(self, partition: Partition, part: DirtyPart, pace: Pace) -> None:
        async def on_thread(work: Callable[[], Result]) -> Result:
            under_way = self._loop.run_in_executor(self._threads, work)
            try:
                return await asyncio.shield(under_way)
            except asyncio.CancelledError:
                pace.stop()
                await asyncio.wait([under_way])
                under_way.exception()  # nobody else will ask for it
                raise

        def is_wanted() -> bool:
            return not partition.deleted and partition.log.config.compacts

        log, began_s = partition.log, self._loop.time()
        cleaning = CleaningRound(log, part, self.settings.limits(), pace, on_thread, is_wanted)
        result = await cleaning.run(self._clock_ms())
        if is_wanted():
            self._offsets.cleaned_offsets[_key(partition)] = result.end
            await on_thread(self._offsets.write_cleaned_offsets)
        seconds = self._loop.time() - began_s
        self.statistics.add(result, seconds)
        logger.info(
            "compacted %s up to offset %d in %.1f s: %d of %d bytes and %d of %d records are left",
            partition,
            result.end,
            seconds,
            result.bytes_written,
            result.bytes_read,
            result.records_kept,
            result.records_read,
        )

    def _failed(self, partition: Partition, problem: Exception) -> None:
        """A disk may heal; what is wrong with the records themselves stays so."""
        if partition.deleted:
            return  # its files went away under the round
        if isinstance(problem, OSError) and not isinstance(problem, DamagedSegmentError):
            logger.error("cannot compact %s now: %s; it is tried again later", partition, problem)
            return
        self.statistics.uncleanable.add(_key(partition))
        logger.error(
            "cannot compact %s: %s; it will not be tried again before the next start, and grows meanwhile",
            partition,
            problem,
            exc_info=problem,
        )


def _key(partition: Partition) -> TopicPartition:
    return TopicPartition(partition.topic, partition.index)
