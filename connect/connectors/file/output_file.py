"""A file that a sink appends to: rolled, synced, and cut back to what its journal says."""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import orjson

from connect.api.sink import TopicPartition
from connect.connectors.file.sink_settings import FileSinkSettings
from connect.errors import ConnectError, Retry

JOURNAL_SUFFIX: Final = ".offsets"
ROLLED_DIGITS: Final = 6

_logger = logging.getLogger(__name__)


class OutputFile:
    """Appends to the file of one name.

    With `exactly_once`, a journal beside it says how long the file was when offsets were stored, and the offsets. What is behind that
    length when the file is opened was written by a task that died, and comes again: it is cut off.
    """

    def __init__(self, path: Path, settings: FileSinkSettings, clock_s: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self._settings = settings
        self._clock_s = clock_s
        self.offsets: dict[TopicPartition, int] = {}
        """The next offset of each partition, as far as it has been written here."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab", buffering=0)
        self._opened_s = clock_s()
        if settings.exactly_once:
            self._lock()
            self._recover()
        self._size = self._file.tell()
        self._stored_size = self._size

    def write(self, data: bytes) -> None:
        """All of it, or nothing: what a full disk left of it is taken away again."""
        view = memoryview(data)
        try:
            while view:
                view = view[self._file.write(view) :]
        except OSError as error:
            self._file.truncate(self._size)
            raise Retry(f"{self.path} cannot be written: {error.strerror}") from error
        self._size += len(data)

    def flush(self) -> None:
        if self._size == self._stored_size and not self._is_due:
            return
        if self._settings.fsync or self._settings.exactly_once:
            os.fsync(self._file.fileno())
        if self._settings.exactly_once:
            self._store()
        self._stored_size = self._size
        if self._is_due and self._size:
            self._roll()

    def close(self) -> None:
        self._file.close()

    @property
    def _is_due(self) -> bool:
        """Whether the file is large or old enough to be rolled."""
        settings = self._settings
        age_ms = (self._clock_s() - self._opened_s) * 1000
        return bool(
            (settings.roll_bytes and self._size >= settings.roll_bytes)
            or (settings.roll_interval_ms and age_ms >= settings.roll_interval_ms)
        )

    @property
    def _journal(self) -> Path:
        return self.path.with_name(self.path.name + JOURNAL_SUFFIX)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise ConnectError(
                f"{self.path} is written by another task: with exactly.once, set tasks.max to 1 or put ${{partition}} into the name"
            ) from None

    def _recover(self) -> None:
        try:
            journal = orjson.loads(self._journal.read_bytes())
        except FileNotFoundError:
            journal = {"size": 0, "offsets": []}
        size = self._size_left(journal)
        surplus = self._file.seek(0, os.SEEK_END) - size
        if surplus > 0:
            _logger.info("%s: %d bytes behind the stored offsets are cut off and written again", self.path, surplus)
            self._file.truncate(size)
            self._file.seek(0, os.SEEK_END)
        self.offsets = {TopicPartition(topic, partition): offset for topic, partition, offset in journal["offsets"]}

    def _size_left(self, journal: Mapping[str, int]) -> int:
        """How long the file should be: a roll that came between the rename and the journal left it empty."""
        rolled = journal.get("rolled")
        was_rolled = rolled is not None and self._rolled(rolled).exists()
        return 0 if was_rolled else journal["size"]

    def _store(self, *, rolled: int | None = None) -> None:
        """Replace the journal in one step; a crash leaves the former or the new one."""
        content = {"size": self._size, "offsets": [[*key, offset] for key, offset in self.offsets.items()]}
        if rolled is not None:
            content["rolled"] = rolled
        draft = self._journal.with_name(self._journal.name + ".new")
        with draft.open("wb") as file:
            file.write(orjson.dumps(content))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._journal)
        _sync_folder(self.path.parent)

    def _roll(self) -> None:
        """Give the file its final name, and begin another. The journal says so first, so that a crash in between does no harm."""
        number = 1
        while self._rolled(number).exists():
            number += 1
        if self._settings.exactly_once:
            self._store(rolled=number)
        self.path.rename(self._rolled(number))
        self._file.close()
        self._file = self.path.open("ab", buffering=0)
        self._opened_s = self._clock_s()
        self._size = self._stored_size = 0
        if self._settings.exactly_once:
            self._lock()
            self._store()

    def _rolled(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.stem}.{number:0{ROLLED_DIGITS}}{self.path.suffix}")


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
