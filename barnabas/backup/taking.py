"""A backup of a data directory, whether or not a platform runs on it."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Final

from barnabas.backup.backup_error import BackupError
from barnabas.backup.broker_cut import BrokerCut
from barnabas.backup.copying import Advance, copy
from barnabas.backup.held_files import HeldFile, Patience, hold_tree, link, usual
from barnabas.backup.manifest import CONTENT, FORMAT_VERSION, Entry, Head, ManifestWriter, Total
from barnabas.kernel.data_directory import DataDirectory, DataDirectoryError

BROKER: Final = "broker"
# Hidden, so that the data directory is none the less taken for ours.
HOLDING_FOLDER: Final = ".backup"
LOCK_FILE: Final = ".backup-lock"
# Views are made again from their topics. Spark's scratch files, and what push queries know, go with the process.
LEFT_OUT: Final = frozenset({"views", "spark", "transient", "lost+found"})


def take(data: Path, target: Path, advance: Advance) -> Total:
    """Copy all that was acknowledged before this call; OSError where the disk refuses."""
    began_s = time.time()
    directory = _existing(data)
    _claim(target, data)
    with _holding(data) as held:
        files = list(_hold(data, held))
        head = Head(FORMAT_VERSION, directory.version(), version("barnabas"), began_s, time.time())
        try:
            with ManifestWriter(target, head) as manifest:
                for file in files:
                    manifest.add(_copied(file, target / CONTENT, advance))
                os.sync()
                return manifest.finish()
        except BaseException:
            shutil.rmtree(target / CONTENT, ignore_errors=True)
            ManifestWriter.remove_unfinished(target)
            raise


def _copied(file: HeldFile, target: Path, advance: Advance) -> Entry:
    mode = file.held.stat().st_mode & 0o777
    size, checksum = copy(file.held, target / file.path, file.size, mode, advance)
    if file.size is not None and size < file.size:
        raise BackupError(f"{file.path} became shorter while it was copied; take the backup again")
    file.held.unlink()  # what is deleted meanwhile need not fill the disk any longer
    return Entry(file.path.as_posix(), size, mode, checksum)


def _existing(data: Path) -> DataDirectory:
    if not data.is_dir():
        raise DataDirectoryError(f"there is no data directory {data}; name one with --data-dir")
    if not any(data.iterdir()):
        raise DataDirectoryError(f"data directory {data} is empty; name another with --data-dir")
    return DataDirectory.open(data)


def _claim(target: Path, data: Path) -> None:
    if target.resolve().is_relative_to(data.resolve()):
        raise BackupError(
            f"{target} lies in the data directory {data}, and would be lost with it; choose another folder"
        )
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BackupError(f"{target} is not an empty folder; give each backup a folder of its own")
    # Credentials may be among the data.
    target.mkdir(mode=0o700, parents=True, exist_ok=True)


@contextmanager
def _holding(data: Path) -> Iterator[Path]:
    """The folder for the links; what a backup left that was broken off goes first."""
    held = data / HOLDING_FOLDER
    with (data / LOCK_FILE).open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupError(f"another backup of {data} is being taken; wait for it") from None
        shutil.rmtree(held, ignore_errors=True)
        held.mkdir(mode=0o700)
        try:
            yield held
        finally:
            shutil.rmtree(held, ignore_errors=True)


def _hold(data: Path, held: Path) -> Iterator[HeldFile]:
    """The broker comes last: positions in checkpoints are then never ahead of the topics."""
    for service in _folders(data):
        if service.name != BROKER:
            yield from _hold_files(service, data, held)
            for part in _folders(service):
                yield from _hold_files(part, data, held)
                # Each folder in it is that of one query, and has its own moment.
                for folder in _folders(part):
                    path = folder.relative_to(data)
                    for name in hold_tree(folder, held / path, Patience()):
                        yield HeldFile(path / name, held / path / name)
    if (data / BROKER).is_dir():
        yield from BrokerCut(data / BROKER, held / BROKER, Patience()).take()


def _folders(parent: Path) -> list[Path]:
    return sorted(path for path in parent.iterdir() if path.is_dir() and _is_wanted(path.name))


def _hold_files(folder: Path, data: Path, held: Path) -> Iterator[HeldFile]:
    """Those that lie in the folder itself."""
    path = folder.relative_to(data)
    (held / path).mkdir()
    for file in sorted(folder.iterdir()):
        if file.is_file() and _is_wanted(file.name) and link(file, held / path / file.name):
            yield HeldFile(path / file.name, held / path / file.name)


def _is_wanted(name: str) -> bool:
    return usual(name) and not name.startswith(".") and name not in LEFT_OUT
