"""What a broker does by itself, now and then: retention, checkpoints, and forgetting what has expired."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass

from core_broker.partition import Partition

logger = logging.getLogger(__name__)

PARTITIONS_PER_TURN = 50
"""After this many the event loop gets its turn, so that clients do not feel the upkeep of thousands of partitions."""

FLUSH_LOOK_INTERVAL_MS = 1000
"""How late a flush asked for with flush.ms may come."""

DISK_LOOK_INTERVAL_MS = 1000
"""How late the log may say that the disk is full: one statvfs, which the kernel answers from memory."""

INTERVAL_LOOK_MS = 1000
"""How late a changed interval may be noticed."""

INTERVAL_MIN_MS = 10
"""A setting of 0 must not become a busy loop."""


@dataclass(frozen=True, slots=True)
class Intervals:
    retention_ms: int
    checkpoint_ms: int
    producers_ms: int
    cleaner_backoff_ms: Callable[[], int]  # it may change while the broker runs


class Upkeep:
    """Periodic work on partitions: `opened` are those in use, `stored` all that have data. Each job can also be run by itself."""

    def __init__(
        self,
        opened: Callable[[], Iterable[Partition]],
        stored: Callable[[], Iterable[Partition]],
        checkpoint: Callable[[], Awaitable[None]],
        remove_deleted: Callable[[], None],
        clean: Callable[[], Awaitable[None]],
        watch_disk: Callable[[], Awaitable[None]],
        clock_ms: Callable[[], int],
    ) -> None:
        self._opened = opened
        self._stored = stored
        self._checkpoint = checkpoint
        self._remove_deleted = remove_deleted
        self._clean = clean
        self._watch_disk = watch_disk
        self._clock_ms = clock_ms
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, loop: asyncio.AbstractEventLoop, intervals: Intervals) -> None:
        jobs: list[tuple[Callable[[], Awaitable[None]], int | Callable[[], int]]] = [
            (self.apply_retention, intervals.retention_ms),
            (self.checkpoint, intervals.checkpoint_ms),
            (self.forget_producers, intervals.producers_ms),
            (self.flush, FLUSH_LOOK_INTERVAL_MS),
            (self.clean, intervals.cleaner_backoff_ms),
            (self._watch_disk, DISK_LOOK_INTERVAL_MS),
        ]
        self._tasks = [loop.create_task(self._repeat(job, interval)) for job, interval in jobs]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def apply_retention(self) -> None:
        """Deletes what is too old or too much, and removes the files of what was deleted a while ago."""
        async for partition in _in_turns(self._stored()):
            try:
                partition.apply_retention(self._clock_ms())
            except OSError as problem:
                logger.error("cannot delete old segments of %s: %s", partition, problem)

    async def checkpoint(self) -> None:
        """Writes down from where a recovery would have to start."""
        try:
            await self._checkpoint()
        except OSError as problem:
            logger.error("cannot write the checkpoints: %s; a recovery would start further back", problem)

    async def forget_producers(self) -> None:
        async for partition in _in_turns(self._opened()):
            partition.log.remove_expired_producers(self._clock_ms())

    async def flush(self) -> None:
        """What flush.ms asks for, and the removal of deleted topics' files."""
        self._remove_deleted()
        async for partition in _in_turns(self._opened()):
            partition.flush_if_due(self._clock_ms())

    async def clean(self) -> None:
        """Compacts what is dirty enough. It takes as long as it takes; the other jobs go on meanwhile."""
        await self._clean()

    async def _repeat(self, job: Callable[[], Awaitable[None]], interval: int | Callable[[], int]) -> None:
        while True:
            interval_ms = await _pass_time(interval)
            try:
                await job()
            except Exception:
                logger.exception("upkeep failed; it is tried again in %d ms", interval_ms)


async def _pass_time(interval: int | Callable[[], int]) -> int:
    """Waits for an interval in ms, which may change meanwhile; returns what it was in the end."""
    if isinstance(interval, int):
        await asyncio.sleep(interval / 1000)
        return interval
    waited_ms = 0
    while waited_ms < (interval_ms := max(interval(), INTERVAL_MIN_MS)):
        step_ms = min(interval_ms - waited_ms, INTERVAL_LOOK_MS)
        await asyncio.sleep(step_ms / 1000)
        waited_ms += step_ms
    return interval_ms


async def _in_turns(partitions: Iterable[Partition]) -> AsyncIterator[Partition]:
    for count, partition in enumerate(partitions, start=1):
        if not partition.deleted:
            yield partition
        if count % PARTITIONS_PER_TURN == 0:
            await asyncio.sleep(0)
