"""Files held by hard links until they are copied: what the platform replaces, compacts or deletes meanwhile stays readable."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from barnabas.backup.backup_error import BackupError

TEMPORARY: Final = ".tmp"  # what is about to be renamed, with us as with Spark
SETTLE_LIMIT_S: Final = 60.0
PAUSE_S: Final = 0.005

# Files by name, and which one each name means.
Listing = dict[str, int]
Wanted = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class HeldFile:
    """`path` is relative to the data directory. `size` is how much of it counts; all of it if None: then it does not change any more."""

    path: Path
    held: Path
    size: int | None = None


class Patience:
    """How long to wait for a moment in which nothing is renamed."""

    def __init__(self, limit_s: float = SETTLE_LIMIT_S, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._limit_s = limit_s
        self._end_s = clock_s() + limit_s

    def wait(self, what: str) -> None:
        """BackupError when it has lasted too long."""
        if self._clock_s() > self._end_s:
            raise BackupError(
                f"{what} for {self._limit_s:g} s, so that no moment was found at which a copy is consistent; "
                "try again when there is less to do, or stop the platform first"
            )
        time.sleep(PAUSE_S)


def usual(name: str) -> bool:
    return not name.endswith(TEMPORARY)


def listing(folder: Path, wanted: Wanted = usual) -> Listing:
    """The files of a folder and of those below it; nothing if it is not there."""
    return dict(_files(folder, "", wanted))


def hold(folder: Path, found: Listing, target: Path) -> bool:
    """Link files into a folder, which is made anew; False if one of them is no longer what it was in the listing."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name, inode in found.items():
        held = target / name
        if "/" in name:
            held.parent.mkdir(parents=True, exist_ok=True)
        if not link(folder / name, held) or held.stat().st_ino != inode:
            return False
    return True


def link(source: Path, target: Path) -> bool:
    """False if there is no such file."""
    try:
        os.link(source, target)
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno in (errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK):
            raise BackupError(
                f"{source} cannot be held by a hard link in {target.parent}: {error.strerror}; the data directory has to be "
                "on one file system that knows hard links"
            ) from error
        raise
    return True


def hold_tree(folder: Path, target: Path, patience: Patience) -> Listing:
    """Link all files of a folder as they are at one moment: files that are replaced or removed, and never changed in place."""
    while True:
        found = listing(folder)
        if hold(folder, found, target) and listing(folder) == found:
            return found
        patience.wait(f"{folder} has been changing")


def _files(folder: Path, prefix: str, wanted: Wanted) -> Iterator[tuple[str, int]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    yield from _files(folder / entry.name, f"{prefix}{entry.name}/", wanted)
                elif wanted(entry.name):
                    yield f"{prefix}{entry.name}", entry.inode()
    except FileNotFoundError:
        return
