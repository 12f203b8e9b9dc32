"""The folder of one server: views, and checkpoints unless they lie where several servers find them."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Final

from barnabas.kernel.settings import SettingError

LOCK_FILE: Final = ".lock"
DATA_DIR: Final = "sql.data.dir"


class OwnFolder:
    """Held by a lock for as long as the process lives: views of two servers in one folder would overwrite each other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    def open(self) -> None:
        """SettingError when it cannot be used."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.path / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise SettingError(DATA_DIR, str(self.path), f"the folder cannot be used: {error.strerror}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise SettingError(
                DATA_DIR,
                str(self.path),
                "another server uses this folder. Give each server a folder of its own (--data-dir); what servers of one "
                "ksql.service.id have to share are their checkpoints: sql.checkpoint.uri",
            ) from None

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
