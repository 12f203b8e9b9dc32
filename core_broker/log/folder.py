"""The files of a partition's folder: which segments and snapshots there are, and what an interrupted clean-up left."""

from __future__ import annotations

import logging
from typing import Final

from barnabas.wire.batch import LENGTH_OVERHEAD_BYTES
from core_broker.log.disk import Disk
from core_broker.log.segment import (
    LOG,
    OFFSET_INDEX,
    PRODUCER_SNAPSHOT,
    TIME_INDEX,
    TRANSACTION_INDEX,
    file_name,
    peek_batch,
)

DELETED: Final = ".deleted"  # waits for file.delete.delay.ms to pass
CLEANED: Final = ".cleaned"  # a compacted segment that was being written
SWAP: Final = ".swap"  # a compacted segment, whole, that was about to replace others

SEGMENT_SUFFIXES: Final = (LOG, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX, PRODUCER_SNAPSHOT)

PARTITION_METADATA: Final = "partition.metadata"  # the id of the partition's topic

_DIGITS: Final = 20
_HEAD_BYTES: Final = 27  # of a batch: enough to tell its last offset and its length

_logger = logging.getLogger(__name__)


class Folder:
    """A partition's folder as it was found; leftovers of an interrupted deletion or compaction are settled first."""

    def __init__(self, path: str, disk: Disk) -> None:
        self._path = path
        self._disk = disk
        names = disk.file_names(path)
        if any(name.endswith((DELETED, CLEANED, SWAP)) for name in names):
            self._settle(names)
            names = disk.file_names(path)
        self._offsets: dict[str, set[int]] = {suffix: set() for suffix in SEGMENT_SUFFIXES}
        for name in names:
            suffix = name[_DIGITS:]
            if suffix in self._offsets and name[:_DIGITS].isdigit():
                self._offsets[suffix].add(int(name[:_DIGITS]))
        self._remove_orphans()

    @property
    def base_offsets(self) -> list[int]:
        return sorted(self._offsets[LOG])

    @property
    def snapshot_offsets(self) -> list[int]:
        return sorted(self._offsets[PRODUCER_SNAPSHOT])

    def has(self, base_offset: int, suffix: str) -> bool:
        return base_offset in self._offsets[suffix]

    def _remove_orphans(self) -> None:
        """An index without its log is of no use."""
        for suffix in (OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX):
            for offset in self._offsets[suffix] - self._offsets[LOG]:
                self._disk.unlink(f"{self._path}/{file_name(offset, suffix)}")

    def _settle(self, names: list[str]) -> None:
        """Finish what a deletion or compaction had begun, or undo it where it was not far enough."""
        cleaned = [name for name in names if name.endswith(CLEANED)]
        first_cleaned = min((int(name[:_DIGITS]) for name in cleaned), default=None)
        swaps = []
        for name in names:
            if name.endswith((DELETED, CLEANED)):
                self._disk.unlink(self._at(name))
            elif name.endswith(SWAP):
                if first_cleaned is not None and int(name[:_DIGITS]) >= first_cleaned:
                    self._disk.unlink(self._at(name))  # its round of compaction had not written all segments
                else:
                    swaps.append(name)
        self._finish_swap(swaps, names)

    def _finish_swap(self, swaps: list[str], names: list[str]) -> None:
        logs = [name for name in swaps if name.endswith(LOG + SWAP)]
        if logs:
            # The snapshot with which a replaced segment began is that of the new one.
            kept = {name[:_DIGITS] + PRODUCER_SNAPSHOT for name in logs}
            first = min(int(name[:_DIGITS]) for name in logs)
            end = max(self._next_offset(self._at(name), int(name[:_DIGITS])) for name in logs)
            _logger.info(
                "finishing the replacement of segments %d to %d in %s by compacted ones", first, end, self._path
            )
            for name in names:
                is_segment = name[:_DIGITS].isdigit() and not name.endswith((SWAP, CLEANED, DELETED))
                if is_segment and first <= int(name[:_DIGITS]) < end and name not in kept:
                    self._disk.unlink(self._at(name))
        for name in swaps:
            self._disk.rename(self._at(name), self._at(name.removesuffix(SWAP)))
        self._disk.sync_directory(self._path)

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}"

    def _next_offset(self, path: str, base_offset: int) -> int:
        """The offset after the last batch of a file."""
        descriptor = self._disk.open_existing(path)
        try:
            position, next_offset = 0, base_offset
            while len(head := self._disk.pread(descriptor, _HEAD_BYTES, position)) == _HEAD_BYTES:
                base, length, delta = peek_batch(head)
                if length <= 0:
                    break
                next_offset = base + delta + 1
                position += length + LENGTH_OVERHEAD_BYTES
            return next_offset
        finally:
            self._disk.close(descriptor)
