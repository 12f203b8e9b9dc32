"""Putting a compacted segment in the place of those that it was made of, so that a crash at any point leaves the one or the others."""

from __future__ import annotations

from collections.abc import Sequence

from core_broker.log.disk import Disk
from core_broker.log.folder import CLEANED, DELETED, SEGMENT_SUFFIXES, SWAP
from core_broker.log.segment import LOG, OFFSET_INDEX, PRODUCER_SNAPSHOT, TIME_INDEX, TRANSACTION_INDEX, Segment

_WRITTEN: tuple[str, ...] = (LOG, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)


class _Renames:
    """Renames that can be taken back."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._done: list[tuple[str, str]] = []

    def add(self, source: str, target: str) -> None:
        self._disk.rename(source, target)
        self._done.append((source, target))

    def undo(self) -> None:
        for source, target in reversed(self._done):
            self._disk.rename(target, source)


def swap_files(disk: Disk, old: Sequence[Segment], cleaned: Segment) -> list[str]:
    """Rename the files, in an order that a recovery can finish; returns the old ones, which are to be removed some day.

    What was written of the new segment is durable already. OSError, and everything as before, if the disk refuses.
    """
    written = [suffix for suffix in _WRITTEN if suffix != TRANSACTION_INDEX or cleaned.may_have_aborted]
    renames = _Renames(disk)
    try:
        for suffix in written:  # before the last one a recovery throws the new segment away, after it the old ones
            renames.add(cleaned.path(suffix) + CLEANED, cleaned.path(suffix) + SWAP)
        removed = _set_aside(disk, old, cleaned, renames)
        for suffix in written:
            renames.add(cleaned.path(suffix) + SWAP, cleaned.path(suffix))
    except OSError:
        renames.undo()
        raise
    return removed


def _set_aside(disk: Disk, old: Sequence[Segment], cleaned: Segment, renames: _Renames) -> list[str]:
    removed = []
    for segment in old:
        for suffix in SEGMENT_SUFFIXES:
            path = segment.path(suffix)
            # What producers had done before the first segment is as true of the new one.
            is_still_true = suffix == PRODUCER_SNAPSHOT and segment.base_offset == cleaned.base_offset
            if not is_still_true and disk.exists(path):
                renames.add(path, path + DELETED)
                removed.append(path + DELETED)
    return removed
