from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import Iterable

import pytest

from core_broker.commit import AVOID_SYNCFS_S, SLOW_SYNCFS_S, SYNC_ONE_BY_ONE_MAX_FILES, FileSync, GroupCommit
from core_broker.log.disk import Disk
from core_broker.log.unsynced import DirtyFiles

WAIT_S = 90


class SlowDisk(Disk):
    """Counts syncs, and lets each begin only when the test says so."""

    def __init__(self) -> None:
        self.go = threading.Semaphore(0)
        self.synced: list[int] = []
        self.whole = 0
        self.failure: OSError | None = None

    def fdatasync(self, descriptor: int) -> None:
        assert self.go.acquire(timeout=WAIT_S)
        if self.failure is not None:
            raise self.failure
        self.synced.append(descriptor)

    def sync_filesystem(self, descriptor: int) -> None:
        assert self.go.acquire(timeout=WAIT_S)
        self.whole += 1


class Log:
    """A partition that only counts."""

    def __init__(self, files: Iterable[int]) -> None:
        self.files = list(files)
        self.end = 0
        self.durable = 0
        self.failed: OSError | None = None
        self.changed = asyncio.Event()

    def begin_commit(self) -> DirtyFiles | None:
        return DirtyFiles(tuple(self.files), self.end)

    def end_commit(self, end_offset: int) -> None:
        self.durable = end_offset
        self.changed.set()

    def fail_commit(self, error: OSError) -> None:
        self.failed = error
        self.changed.set()

    async def wait(self) -> None:
        await asyncio.wait_for(self.changed.wait(), WAIT_S)
        self.changed.clear()


def test_what_arrives_during_a_round_forms_the_next_one() -> None:
    async def scenario() -> None:
        disk, log = SlowDisk(), Log([7])
        commits = GroupCommit(asyncio.get_running_loop(), disk)
        log.end = 1
        commits.request(log)
        await asyncio.sleep(0)  # one turn of the loop: the round has begun
        log.end = 5
        for _ in range(100):
            commits.request(log)
        disk.go.release()
        await log.wait()
        assert log.durable == 1, "a round covers what was written before it began, and no more"
        disk.go.release()
        await log.wait()
        assert log.durable == 5
        assert disk.synced == [7, 7], "a hundred requests share one round"
        await commits.drain()
        commits.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("files", [1, SYNC_ONE_BY_ONE_MAX_FILES, SYNC_ONE_BY_ONE_MAX_FILES + 1])
def test_many_files_are_synced_at_once(files: int) -> None:
    async def scenario() -> None:
        disk, logs = SlowDisk(), [Log([number]) for number in range(files)]
        commits = GroupCommit(asyncio.get_running_loop(), disk)
        disk.go.release(files)
        for log in logs:
            log.end = 3
            commits.request(log)
        for log in logs:
            await log.wait()
            assert log.durable == 3
        assert disk.whole == (1 if files > SYNC_ONE_BY_ONE_MAX_FILES else 0)
        assert len(disk.synced) == (0 if files > SYNC_ONE_BY_ONE_MAX_FILES else files)
        commits.close()

    asyncio.run(scenario())


def test_a_failed_round_is_told_and_the_next_one_works() -> None:
    async def scenario() -> None:
        disk, log = SlowDisk(), Log([1])
        commits = GroupCommit(asyncio.get_running_loop(), disk)
        disk.failure = OSError(errno.EIO, "broken")
        disk.go.release()
        commits.request(log)
        await log.wait()
        assert log.failed is disk.failure
        disk.failure, log.end = None, 9
        disk.go.release()
        commits.request(log)
        await log.wait()
        assert log.durable == 9
        commits.close()

    asyncio.run(scenario())


def test_a_slow_sync_of_the_file_system_is_avoided_for_a_while() -> None:
    class Clocked(Disk):
        now_s = 100.0
        cost_s = 0.001
        whole = 0

        def __init__(self) -> None:
            self.single: list[int] = []
            self.broken = -1

        def fdatasync(self, descriptor: int) -> None:
            self.single.append(descriptor)
            if descriptor == self.broken:
                raise OSError(errno.EIO, "broken")

        def sync_filesystem(self, descriptor: int) -> None:
            self.whole += 1
            self.now_s += self.cost_s

    disk = Clocked()
    sync = FileSync(disk, lambda: disk.now_s)
    files = list(range(SYNC_ONE_BY_ONE_MAX_FILES + 1))
    sync.sync(files)
    disk.cost_s = 2 * SLOW_SYNCFS_S
    sync.sync(files)
    assert (disk.whole, disk.single) == (2, [])
    sync.sync(files)
    assert (disk.whole, sorted(disk.single)) == (2, files), "somebody writes a lot: each file by itself"
    disk.single.clear()
    disk.broken = files[0]
    with pytest.raises(OSError, match="broken"):
        sync.sync(files)
    assert sorted(disk.single) == files, "one that fails does not keep the others from the disk"
    disk.now_s += AVOID_SYNCFS_S
    sync.sync(files)
    assert disk.whole == 3
    sync.close()
