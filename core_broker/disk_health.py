"""Whether the broker could store what clients send. The disk is probed, since there may have been no writes for a while."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core_broker.commit import GroupCommit
from core_broker.disk_space import DiskSpace, Level
from core_broker.log.disk import Disk

logger = logging.getLogger(__name__)

PROBE_NAME: Final = ".health"
PROBE_BYTES: Final = 64 * 1024
"""Too little for a disk that is full to find room somewhere."""
TIMEOUT_S: Final = 2.0
KEPT_S: Final = 1.0
"""How long a finding is good for, so that frequent requests do not wear the disk out."""
REMEDY: Final = "Free some space, or retain less (log.retention.bytes, log.retention.ms)"


@dataclass(frozen=True, slots=True)
class DiskFinding:
    """`problem` keeps the broker from storing records, `warning` will do so; None if there is none. The space is None if the disk does not answer."""

    space: DiskSpace | None = None
    problem: str | None = None
    warning: str | None = None


class DiskHealth:
    """Compares the free space with the largest batch, then writes a small file in the log directory, syncs it and removes it.

    One probe at a time, on a thread: a disk may hang.
    """

    def __init__(
        self,
        folder: Path,
        disk: Disk,
        commits: GroupCommit,
        loop: asyncio.AbstractEventLoop,
        batch_max_bytes: int,
    ) -> None:
        self._path = folder / PROBE_NAME
        self._disk = disk
        self._commits = commits
        self._loop = loop
        self._batch_max_bytes = batch_max_bytes
        self._probing: asyncio.Future[DiskFinding] | None = None
        self._began_s = 0.0
        self._logged = Level.ENOUGH

    async def look(self) -> DiskFinding:
        if self._commits.failure is not None:
            return DiskFinding(problem=f"what clients write cannot be made durable: {self._commits.failure}")
        if self._probing is None or (self._probing.done() and time.monotonic() - self._began_s > KEPT_S):
            self._began_s = time.monotonic()
            self._probing = self._loop.run_in_executor(None, self._probe)
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await asyncio.shield(self._probing)
        except TimeoutError:
            waited_s = time.monotonic() - self._began_s
            return DiskFinding(problem=f"the disk of {self._path.parent} has not answered for {waited_s:.0f} s")

    async def watch(self) -> None:
        """Log that the disk has become full or nearly full, or has space again."""
        space = await self._loop.run_in_executor(None, self._space)
        level, self._logged = self._logged, space.level
        if space.level is level:
            return
        if space.level is Level.FULL:
            logger.error("%s: writes fail with KAFKA_STORAGE_ERROR, and clients retry them. %s", space, REMEDY)
        elif space.level is Level.NEARLY_FULL:
            logger.warning("%s. %s", space, REMEDY)
        else:
            logger.info("disk has space again: %s: %d bytes free", space.directory, space.free_bytes)

    def _space(self) -> DiskSpace:
        folder = self._path.parent
        return DiskSpace(str(folder), self._disk.free_bytes(folder), self._batch_max_bytes)

    def _probe(self) -> DiskFinding:
        space: DiskSpace | None = None
        try:
            space = self._space()
            if space.level is Level.FULL:
                return DiskFinding(space, problem=f"{space}. {REMEDY}")
            self._write()
        except OSError as problem:
            return DiskFinding(space, problem=f"{self._path.parent} cannot be written to: {problem}")
        finally:
            with suppress(OSError):
                self._disk.unlink(self._path)
        return DiskFinding(space, warning=f"{space}. {REMEDY}" if space.level is Level.NEARLY_FULL else None)

    def _write(self) -> None:
        file = self._disk.create(self._path)
        try:
            self._disk.pwrite(file, bytes(PROBE_BYTES), 0)
            self._disk.fdatasync(file)
        finally:
            self._disk.close(file)
