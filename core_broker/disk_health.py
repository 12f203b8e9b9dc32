"""Whether the broker could store what clients send: the disk is asked, since nobody may have written for a while."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from core_broker.commit import GroupCommit
from core_broker.log.disk import Disk

PROBE_NAME: Final = ".health"
PROBE_BYTES: Final = 64 * 1024
"""Too little for a disk that is full to find room somewhere."""
TIMEOUT_S: Final = 2.0
KEPT_S: Final = 1.0
"""How long a finding is good for, so that those who ask do not wear the disk out."""


class DiskHealth:
    """Writes a small file in the log directory, syncs it and removes it. One probe at a time, on a thread: a disk may hang."""

    def __init__(self, folder: Path, disk: Disk, commits: GroupCommit, loop: asyncio.AbstractEventLoop) -> None:
        self._path = folder / PROBE_NAME
        self._disk = disk
        self._commits = commits
        self._loop = loop
        self._probing: asyncio.Future[str | None] | None = None
        self._began_s = 0.0

    async def problem(self) -> str | None:
        """What keeps the broker from storing records; None if nothing does."""
        if self._commits.failure is not None:
            return f"what clients write cannot be made durable: {self._commits.failure}"
        if self._probing is None or (self._probing.done() and time.monotonic() - self._began_s > KEPT_S):
            self._began_s = time.monotonic()
            self._probing = self._loop.run_in_executor(None, self._probe)
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await asyncio.shield(self._probing)
        except TimeoutError:
            waited_s = time.monotonic() - self._began_s
            return f"the disk of {self._path.parent} has not answered for {waited_s:.0f} s"

    def _probe(self) -> str | None:
        try:
            self._write()
        except OSError as problem:
            return f"{self._path.parent} cannot be written to: {problem}"
        finally:
            with suppress(OSError):
                self._disk.unlink(self._path)
        return None

    def _write(self) -> None:
        file = self._disk.create(self._path)
        try:
            self._disk.pwrite(file, bytes(PROBE_BYTES), 0)
            self._disk.fdatasync(file)
        finally:
            self._disk.close(file)
