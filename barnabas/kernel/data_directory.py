"""The folder that holds all data: a version file, and one folder for each service."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

FORMAT_VERSION = 1
VERSION_FILE = "version"

# What a fresh file system has in its root, so that a mounted volume can be the data directory.
_HARMLESS = frozenset({"lost+found"})
_KAFKA_MARK = "meta.properties"


class DataDirectoryError(Exception):
    """The folder cannot serve as data directory; the message says what to do."""


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """A data directory whose version has been checked."""

    path: Path

    @classmethod
    def open(cls, path: Path) -> DataDirectory:
        """Open the data directory at `path`, which is made if it is not there. Several services may do so at once."""
        try:
            if (file := file_in_the_way(path)) is not None:
                raise DataDirectoryError(f"{_subject(path, file)}; choose another with --data-dir")
            path.mkdir(parents=True, exist_ok=True)
            if not (path / VERSION_FILE).exists():
                _refuse_foreign(path)
                _write_version(path)
            _check_version(path / VERSION_FILE)
        except OSError as error:
            raise DataDirectoryError(
                f"data directory {path} cannot be used: {error.strerror}; "
                "choose another with --data-dir, or check its permissions"
            ) from error
        return cls(path)

    @classmethod
    def complete(cls, path: Path, version: int) -> DataDirectory:
        """Make a data directory of a folder whose content somebody has put there."""
        _write_version(path, version)
        return cls.open(path)

    def version(self) -> int:
        return int((self.path / VERSION_FILE).read_text())

    def service(self, name: str) -> Path:
        """Return the folder of one service."""
        return self.path / name


def file_in_the_way(path: Path) -> Path | None:
    """What stands at `path`, or above it, and is no folder."""
    nearest = next((place for place in (path, *path.absolute().parents) if place.exists()), None)
    return None if nearest is None or nearest.is_dir() else nearest


def _subject(path: Path, file: Path) -> str:
    return (
        f"data directory {path} is a file, not a folder"
        if file == path
        else f"data directory {path} cannot be made: {file} is a file, not a folder"
    )


def _refuse_foreign(path: Path) -> None:
    """Refuse a folder with files of others: it was most likely named by mistake. Hidden files are no reason."""
    names = {entry.name for entry in path.iterdir() if not entry.name.startswith(".")} - _HARMLESS
    if _KAFKA_MARK in names:
        raise DataDirectoryError(
            f"data directory {path} is a log directory of Kafka; to serve it as it is: --set log.dirs={path}"
        )
    if names and VERSION_FILE not in names:
        raise DataDirectoryError(
            f"data directory {path} holds {min(names)!r} and no version file, so it is not ours; choose an empty or a new folder"
        )


def _write_version(path: Path, version: int = FORMAT_VERSION) -> None:
    # Written aside and renamed: another service that starts at the same time sees the whole file or none.
    arriving = path / f".{VERSION_FILE}.{os.urandom(8).hex()}"
    with arriving.open("w") as file:
        file.write(f"{version}\n")
        file.flush()
        os.fsync(file.fileno())
    arriving.rename(path / VERSION_FILE)
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _check_version(file: Path) -> None:
    text = file.read_text(errors="replace").strip()
    if not (text.isascii() and text.isdigit()):
        raise DataDirectoryError(f"{file} reads {text!r} where a version number is expected; restore it from a backup")
    if int(text) > FORMAT_VERSION:
        raise DataDirectoryError(
            f"data directory {file.parent} has format version {text}, and this release knows versions up to {FORMAT_VERSION}; "
            "start the newer release that wrote it"
        )
