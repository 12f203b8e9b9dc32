"""Group commit: one round at a time makes every dirty partition durable, and what arrives meanwhile forms the next round."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import Protocol

from core_broker.log.disk import Disk
from core_broker.log.unsynced import DirtyFiles
from core_broker.metrics.histogram import Histogram

logger = logging.getLogger(__name__)

SYNC_ONE_BY_ONE_MAX_FILES = 4
"""Up to here each file is synced by itself, above it one syncfs serves all. Medians on ext4, one by one, side by side on 8 threads, and with
syncfs: 4 files 0.9, 0.8, 0.5 ms; 6 files 1.4, 0.9, 0.6; 16 files 4.1, 2.4, 1.0; 50 files 16, 4.3, 1.0."""

SYNC_THREADS = 8

SLOW_SYNCFS_S = 0.02
"""syncfs also waits for what others left dirty on the file system. When that took longer than this, somebody writes a lot there..."""

AVOID_SYNCFS_S = 5.0
"""...and for so long the files are synced by themselves, side by side."""

US_PER_S = 1_000_000

RETRY_AFTER_FAILURE_S = 1.0
"""A full disk or a lost volume comes back in its own time; until then a sync a second costs nothing."""


class Durable(Protocol):
    """What a round makes durable: a partition."""

    def begin_commit(self) -> DirtyFiles | None:
        """The open files to sync, and the log end that is durable once they are; None if there is nothing to do.

        OSError when the disk refuses already here: whoever waits has been told, and there will be another round.
        """

    def end_commit(self, end_offset: int) -> None:
        """Everything below the offset is durable."""

    def fail_commit(self, error: OSError) -> None:
        """The disk refused."""


class FileSync:
    """Makes the data of open files durable, in the cheapest way for their number and for what else is going on."""

    def __init__(self, disk: Disk, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._disk = disk
        self._clock_s = clock_s
        self._avoid_syncfs_until_s = 0.0
        # Its threads come into being with the first round that needs them.
        self._threads = ThreadPoolExecutor(SYNC_THREADS, thread_name_prefix="sync")

    def sync(self, files: Sequence[int]) -> None:
        """Returns when all are durable; OSError when one is not, after the others have been tried."""
        if len(files) <= SYNC_ONE_BY_ONE_MAX_FILES:
            for file in files:
                self._disk.fdatasync(file)
            return
        started_s = self._clock_s()
        if started_s < self._avoid_syncfs_until_s:
            syncing = [self._threads.submit(self._disk.fdatasync, file) for file in files]
            wait(syncing)
            for sync in syncing:
                sync.result()
            return
        self._disk.sync_filesystem(files[0])
        ended_s = self._clock_s()
        if ended_s - started_s > SLOW_SYNCFS_S:
            self._avoid_syncfs_until_s = ended_s + AVOID_SYNCFS_S

    def close(self) -> None:
        self._threads.shutdown()


class GroupCommit:
    """Runs commit rounds on a thread of its own. All other methods belong to the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, disk: Disk) -> None:
        self._loop = loop
        self._sync = FileSync(disk)
        self._waiting: dict[Durable, None] = {}
        self._round: list[tuple[Durable, int]] = []
        self._running = False
        self._jobs: SimpleQueue[list[int] | None] = SimpleQueue()
        self._idle = asyncio.Event()
        self._idle.set()
        self.round_times_us = Histogram()
        self.failure: OSError | None = None
        """Why the last round did not make everything durable; None if it did."""
        self._thread = threading.Thread(target=self._work, name="committer", daemon=True)
        self._thread.start()

    def request(self, partition: Durable) -> None:
        """Asks that the partition take part in the next round."""
        self._waiting[partition] = None
        if not self._running:
            self._running = True
            self._idle.clear()
            # Not at once: the other requests of this turn of the loop join the same round.
            self._loop.call_soon(self._start_round)

    async def drain(self) -> None:
        """Waits until nothing is dirty."""
        await self._idle.wait()

    def close(self) -> None:
        self._jobs.put(None)
        self._thread.join()
        self._sync.close()

    def _start_round(self) -> None:
        files: list[int] = []
        self._round = []
        waiting, self._waiting = self._waiting, {}
        for partition in waiting:
            try:
                dirty = partition.begin_commit()
            except OSError as problem:
                logger.error("cannot begin to make a partition durable: %s; its last writes are refused", problem)
                self._retry(partition)
                continue
            if dirty is not None:
                files.extend(dirty.descriptors)
                self._round.append((partition, dirty.offset))
        self._jobs.put(files)

    def _end_round(self, error: OSError | None, seconds: float) -> None:
        self.round_times_us.add(int(seconds * US_PER_S))
        self.failure = error
        finished, self._round = self._round, []
        for partition, end_offset in finished:
            if error is None:
                partition.end_commit(end_offset)
            else:
                partition.fail_commit(error)
                self._retry(partition)
        if self._waiting:
            self._start_round()
        else:
            self._running = False
            self._idle.set()

    def _retry(self, partition: Durable) -> None:
        self._loop.call_later(RETRY_AFTER_FAILURE_S, self.request, partition)

    def _work(self) -> None:
        while (files := self._jobs.get()) is not None:
            error: OSError | None = None
            started_s = time.perf_counter()
            try:
                self._sync.sync(files)
            except OSError as problem:
                logger.error("cannot make %d files durable: %s; their last writes are refused", len(files), problem)
                error = problem
            try:
                self._loop.call_soon_threadsafe(self._end_round, error, time.perf_counter() - started_s)
            except RuntimeError:  # the loop was closed under us: the broker is gone, nobody waits for the round
                return
