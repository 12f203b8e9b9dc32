"""The folder of one server: views, and checkpoints unless they lie where several servers find them."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import time
from pathlib import Path
from typing import Final

from barnabas.kernel.setting_errors import SettingError

LOCK_FILE: Final = ".lock"
DATA_DIR: Final = "sql.data.dir"
HOLDER_WAIT_S: Final = 5.0
"""How long a server that has the folder is given to go: one whose supervisor was killed ends within a few seconds."""
LOOK_INTERVAL_S: Final = 0.1
_NOTE_MAX_BYTES: Final = 32
"""Of the process id in the lock file."""

_logger = logging.getLogger(__name__)


class OwnFolder:
    """Held by a lock for as long as the process lives: views of two servers in one folder would overwrite each other."""

    def __init__(self, path: Path, holder_wait_s: float = HOLDER_WAIT_S) -> None:
        self.path = path
        self._holder_wait_s = holder_wait_s
        self._lock: int | None = None

    async def open(self) -> None:
        """SettingError when it cannot be used, or when another server still holds it after a while."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = lock = os.open(self.path / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise SettingError(DATA_DIR, str(self.path), f"the folder cannot be used: {error.strerror}") from None
        if not _take(lock):
            _logger.warning("%s uses %s; it is given %g s to end", _holder(lock), self.path, self._holder_wait_s)
            deadline_s = time.monotonic() + self._holder_wait_s
            while not _take(lock):
                if time.monotonic() > deadline_s:
                    raise SettingError(DATA_DIR, str(self.path), _advice(lock, self._holder_wait_s))
                await asyncio.sleep(LOOK_INTERVAL_S)
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _take(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _holder(lock: int) -> str:
    """In words, with its process id where it is one of this machine."""
    noted = os.pread(lock, _NOTE_MAX_BYTES, 0)
    if not noted.isdigit():
        return "another server"
    try:
        os.kill(int(noted), 0)
    except ProcessLookupError:
        return "another server"
    except PermissionError:
        pass
    return f"another server, process {int(noted)},"


def _advice(lock: int, waited_s: float) -> str:
    return (
        f"{_holder(lock)} uses this folder, and has not ended within {waited_s:g} s. Stop it, or give each server a folder of its own "
        "(--data-dir); what servers of one ksql.service.id have to share are their checkpoints: sql.checkpoint.uri"
    )
