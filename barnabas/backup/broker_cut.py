"""The broker's logs as they are at one moment, taken beside a broker that goes on writing.

Closed segments never change, an active one only grows, and recovery cuts off what is torn. So files are held by links, and of each
active segment a size is noted. What counts is the order of the sizes, and that no name changed between the links and the last size:

1. Checkpoints that must not be ahead of the logs: start offsets, high watermarks, how far compaction has been.
2. Topics of offsets, then all others, then schemas: what is committed is there, and so is the schema of each record.
3. Metadata: all topics, and producer ids above those in the logs.
4. The recovery points, which must not be behind: compaction leaves gaps below them only.

Sizes count if no transaction has begun or ended meanwhile, so that none is cut in two: what the state of transactions says of each of
them was true all the time.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

from barnabas.backup.held_files import HeldFile, Listing, Patience, hold, link, listing, usual
from core_broker.log.checkpoints import parse_checkpoint
from core_broker.log.folder import CLEANED, DELETED
from core_broker.log.segment import LOG, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX

METADATA: Final = "__cluster_metadata-0"
TRANSACTIONS: Final = "__transaction_state-"
DELETED_FOLDER: Final = "-delete"
RECOVERY_POINTS: Final = "recovery-point-offset-checkpoint"
FIRST_FILES: Final = (
    "meta.properties",
    "bootstrap.checkpoint",
    "log-start-offset-checkpoint",
    "replication-offset-checkpoint",
    "cleaner-offset-checkpoint",
)
INDEXES: Final = (OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)

# Bytes of the active segment, by folder.
Sizes = dict[str, int]


class BrokerCut:
    """`target` is a folder on the same file system, for the links."""

    def __init__(self, source: Path, target: Path, patience: Patience) -> None:
        self._source = source
        self._target = target
        self._patience = patience
        self._folders: dict[str, Listing] = {}

    def take(self) -> list[HeldFile]:
        self._target.mkdir(parents=True)
        single = [name for name in FIRST_FILES if link(self._source / name, self._target / name)]
        while True:
            self._hold_folders()
            sizes = self._measure()
            if self._folders == self._found():
                break
            self._patience.wait(f"topics or segments in {self._source} have come and gone")
        if link(self._source / RECOVERY_POINTS, self._target / RECOVERY_POINTS):
            single.append(RECOVERY_POINTS)
        points = self._recovery_points()
        files = [self._file(name) for name in single]
        for name, found in self._folders.items():
            files.extend(self._files(name, found, sizes.get(name, 0), points.get(name, 0)))
        return files

    def _found(self) -> dict[str, Listing]:
        with os.scandir(self._source) as entries:
            names = [entry.name for entry in entries if entry.is_dir() and not entry.name.endswith(DELETED_FOLDER)]
        return {name: listing(self._source / name, _is_wanted) for name in names}

    def _hold_folders(self) -> None:
        """Bring the links in line with what is there now."""
        found = self._found()
        for name in self._folders.keys() - found.keys():
            shutil.rmtree(self._target / name)
            del self._folders[name]
        for name, files in found.items():
            if self._folders.get(name) == files:
                continue
            self._folders.pop(name, None)
            if hold(self._source / name, files, self._target / name):
                self._folders[name] = files

    def _measure(self) -> Sizes:
        transactions = [name for name in self._folders if name.startswith(TRANSACTIONS)]
        others = sorted(self._folders.keys() - set(transactions), key=_rank)
        while True:
            before = self._sizes(transactions)
            sizes = self._sizes(others)
            if self._sizes(transactions) == before:
                return before | sizes
            self._patience.wait("transactions have been beginning and ending")

    def _sizes(self, names: Iterable[str]) -> Sizes:
        sizes = {}
        for name in names:
            last = max((file for file in self._folders[name] if file.endswith(LOG)), default=None)
            if last is not None:
                sizes[name] = os.stat(self._target / name / last).st_size
        return sizes

    def _recovery_points(self) -> dict[str, int]:
        try:
            entries = parse_checkpoint((self._target / RECOVERY_POINTS).read_bytes())
        except (FileNotFoundError, ValueError):
            return {}  # recovery would look through all, too
        return {f"{topic}-{partition}": int(offset) for topic, partition, offset in entries}

    def _files(self, folder: str, found: Listing, last_size: int, recovery_point: int) -> Iterator[HeldFile]:
        """An index is taken where recovery trusts it; others are written in place, and recovery makes them anew."""
        bases = sorted(int(name.removesuffix(LOG)) for name in found if name.endswith(LOG))
        trusted = {base for base, following in pairwise(bases) if following < recovery_point}
        for name in found:
            path, suffix = f"{folder}/{name}", Path(name).suffix
            if suffix == CLEANED:
                yield self._file(path, 0)  # unfinished: recovery goes by its name, and removes it
            elif suffix == LOG and int(name.removesuffix(LOG)) == bases[-1]:
                yield self._file(path, last_size)
            elif suffix not in INDEXES or int(name.removesuffix(suffix)) in trusted:
                yield self._file(path)

    def _file(self, path: str, size: int | None = None) -> HeldFile:
        return HeldFile(Path(self._source.name) / path, self._target / path, size)


def _is_wanted(name: str) -> bool:
    return usual(name) and not name.endswith(DELETED)


def _rank(folder: str) -> tuple[int, str]:
    """What points at others comes before them."""
    if folder == METADATA:
        return 3, folder
    topic = folder.rpartition("-")[0]
    return 0 if "offsets" in topic else 2 if "schemas" in topic else 1, folder
