"""The list of a backup's files: a line of JSON about the whole, one for each file, and a last one by which a list that is cut off shows."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any, Final

from barnabas.backup.backup_error import BackupError

FILE_NAME: Final = "manifest.jsonl"
CONTENT: Final = "data"  # the folder beside the manifest that has the files
FORMAT_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Head:
    """`data_version` is that of the data directory, `release` the one that took the backup; times in seconds since 1970."""

    format: int
    data_version: int
    release: str
    began_s: float
    taken_s: float


@dataclass(frozen=True, slots=True)
class Entry:
    path: str
    size: int
    mode: int
    sha256: str

    @property
    def is_inside(self) -> bool:
        """Whether its path stays below the folder that it is joined to."""
        path = PurePosixPath(self.path)
        return not path.is_absolute() and ".." not in path.parts and path != PurePosixPath()


@dataclass(frozen=True, slots=True)
class Total:
    files: int
    bytes: int


class ManifestWriter:
    """The file has its name only when it is whole."""

    def __init__(self, folder: Path, head: Head) -> None:
        self._path = folder / FILE_NAME
        self._file = (folder / f".{FILE_NAME}").open("wb")
        self._digest = hashlib.sha256()
        self._files = self._bytes = 0
        self._add(asdict(head))

    def __enter__(self) -> ManifestWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @staticmethod
    def remove_unfinished(folder: Path) -> None:
        (folder / f".{FILE_NAME}").unlink(missing_ok=True)

    def add(self, entry: Entry) -> None:
        self._files += 1
        self._bytes += entry.size
        self._add(asdict(entry))

    def finish(self) -> Total:
        total = Total(self._files, self._bytes)
        self._add({**asdict(total), "sha256": self._digest.hexdigest()})
        self._file.flush()
        os.fsync(self._file.fileno())
        Path(self._file.name).rename(self._path)
        sync_folder(self._path.parent)
        return total

    def _add(self, told: dict[str, Any]) -> None:
        line = json.dumps(told, separators=(",", ":")).encode() + b"\n"
        self._digest.update(line)
        self._file.write(line)


class Manifest:
    """That of a backup whose list is whole."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        try:
            told, self.total = self._read_through()
        except FileNotFoundError:
            raise BackupError(
                f"{folder} holds no {FILE_NAME}: it is no backup, or one that was broken off; name another folder"
            ) from None
        if told.get("format", 0) > FORMAT_VERSION:
            raise BackupError(
                f"the backup in {folder} has format version {told['format']}, and this release knows versions up to "
                f"{FORMAT_VERSION}; restore it with the newer release that took it, {told.get('release')}"
            )
        try:
            self.head = Head(**told)
        except TypeError:
            raise self._damage() from None

    def entries(self) -> Iterator[Entry]:
        with self._path.open("rb") as file:
            next(file)
            for number, line in enumerate(file):
                if number == self.total.files:
                    return
                try:
                    yield Entry(**json.loads(line))
                except (ValueError, TypeError):
                    raise self._damage() from None

    def _read_through(self) -> tuple[dict[str, Any], Total]:
        digest, first, last, lines = hashlib.sha256(), b"", b"", 0
        with self._path.open("rb") as file:
            for line in file:
                digest.update(last)
                first, last, lines = first or line, line, lines + 1
        try:
            told = json.loads(last)
            total = Total(told["files"], told["bytes"])
            head = json.loads(first)
            whole = told["sha256"] == digest.hexdigest() and total.files == lines - 2
        except (ValueError, KeyError, TypeError):
            raise self._damage() from None
        if not whole or not isinstance(head, dict):
            raise self._damage()
        return head, total

    def _damage(self) -> BackupError:
        return BackupError(f"{self._path} is damaged: its lines do not match its checksum; use another backup")


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
