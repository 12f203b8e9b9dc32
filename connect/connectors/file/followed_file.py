"""A file that others append to, rotate and truncate while it is read."""

from __future__ import annotations

import gzip
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

CHUNK_BYTES: Final = 1024 * 1024
GZIP_SUFFIX: Final = ".gz"

_logger = logging.getLogger(__name__)


def identity_of(file: IO[bytes]) -> str:
    """What stays the same when a file is renamed, and differs when another takes its name."""
    status = os.fstat(file.fileno())
    return f"{status.st_dev}:{status.st_ino}"


class FollowedFile:
    """An open file, read from a position on. A compressed one is read as its content; positions are those of the content."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_compressed = path.suffix == GZIP_SUFFIX
        self._file = path.open("rb")
        self._content = gzip.GzipFile(fileobj=self._file) if self.is_compressed else self._file
        self.identity = identity_of(self._file)
        self.position = 0

    def seek(self, position: int) -> None:
        self._content.seek(position)
        self.position = position

    def read(self) -> bytes:
        """The next bytes; none at the end, to which more may be added."""
        try:
            data = self._content.read(CHUNK_BYTES)
        except EOFError:
            # The rest of a compressed block has not been written yet; what was read of it comes again.
            self._content.seek(self.position)
            return b""
        self.position += len(data)
        return data

    @property
    def was_truncated(self) -> bool:
        return not self.is_compressed and os.fstat(self._file.fileno()).st_size < self.position

    @property
    def was_replaced(self) -> bool:
        """Whether the name stands for another file by now, or for none."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return False
        return f"{status.st_dev}:{status.st_ino}" != self.identity

    def close(self) -> None:
        self._content.close()
        self._file.close()


def find_renamed(path: Path, identity: str) -> Path | None:
    """The file of this identity under the names that rotation gives (`app.log` becomes `app.log.1`, or `app-20260101.log`)."""
    for candidate in _neighbours(path):
        try:
            status = candidate.stat()
        except OSError:
            continue
        if f"{status.st_dev}:{status.st_ino}" == identity:
            return candidate
    return None


def _neighbours(path: Path) -> Iterator[Path]:
    try:
        entries = list(path.parent.iterdir())
    except OSError as error:
        _logger.warning("the folder of %s cannot be listed: %s", path, error)
        return
    yield from (entry for entry in entries if entry != path and entry.name.startswith(path.stem))
