"""The leader epochs of a partition and where each one began: `leader-epoch-checkpoint`."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import Final, NamedTuple

from core_broker.log.checkpoints import format_checkpoint, parse_checkpoint
from core_broker.log.disk import Disk

FILE_NAME: Final = "leader-epoch-checkpoint"
NO_EPOCH: Final = -1


class EpochStart(NamedTuple):
    epoch: int
    start_offset: int


class EpochEnd(NamedTuple):
    """The answer to where an epoch ended: the epoch that it is about, and the first offset after it."""

    epoch: int
    end_offset: int


class LeaderEpochs:
    """Entries with growing epochs and growing start offsets. The file follows when `save` is called."""

    __slots__ = ("_disk", "_entries", "_path", "_saved", "latest")

    def __init__(self, path: str, disk: Disk, entries: list[EpochStart]) -> None:
        self._path = path
        self._disk = disk
        self._entries = entries
        self._saved = tuple(entries)
        self.latest = entries[-1].epoch if entries else NO_EPOCH

    @classmethod
    def load(cls, directory: str, disk: Disk) -> LeaderEpochs:
        """Read the file; FileNotFoundError or ValueError when there is none that can be used."""
        path = f"{directory}/{FILE_NAME}"
        entries = [EpochStart(int(epoch), int(offset)) for epoch, offset in parse_checkpoint(disk.read_file(path))]
        if any(a.epoch >= b.epoch or a.start_offset > b.start_offset for a, b in pairwise(entries)):
            raise ValueError("the epochs are not in order")
        return cls(path, disk, entries)

    @classmethod
    def empty(cls, directory: str, disk: Disk) -> LeaderEpochs:
        return cls(f"{directory}/{FILE_NAME}", disk, [])

    @property
    def entries(self) -> tuple[EpochStart, ...]:
        return tuple(self._entries)

    def assign(self, epoch: int, start_offset: int) -> None:
        """Let an epoch begin at an offset. Entries that contradict it go: they described what is not in the log."""
        entries = self._entries
        if epoch == self.latest and start_offset >= entries[-1].start_offset:
            return
        while entries and (entries[-1].epoch >= epoch or entries[-1].start_offset >= start_offset):
            entries.pop()
        entries.append(EpochStart(epoch, start_offset))
        self.latest = epoch

    def end_offset(self, epoch: int, log_end_offset: int) -> EpochEnd | None:
        """Where the largest known epoch that is not above `epoch` ended; None when that cannot be told."""
        if epoch == self.latest and epoch != NO_EPOCH:
            return EpochEnd(epoch, log_end_offset)
        slot = bisect_right(self._entries, epoch, key=lambda entry: entry.epoch)
        if epoch == NO_EPOCH or slot == len(self._entries):
            return None
        known = self._entries[slot - 1].epoch if slot else epoch
        return EpochEnd(known, self._entries[slot].start_offset)

    def epoch_of(self, offset: int) -> int:
        """The epoch in which an offset was written, or NO_EPOCH."""
        slot = bisect_right(self._entries, offset, key=lambda entry: entry.start_offset)
        return self._entries[slot - 1].epoch if slot else NO_EPOCH

    def truncate_from_end(self, end_offset: int) -> None:
        """Forget epochs that begin at or after an offset: the log ends there."""
        entries = self._entries
        while entries and entries[-1].start_offset >= end_offset:
            entries.pop()
        self.latest = entries[-1].epoch if entries else NO_EPOCH

    def truncate_from_start(self, start_offset: int) -> None:
        """Forget epochs that ended before an offset: the log begins there."""
        slot = bisect_right(self._entries, start_offset, key=lambda entry: entry.start_offset)
        if slot:
            self._entries[:slot] = [EpochStart(self._entries[slot - 1].epoch, start_offset)]

    def unsaved(self, *, below: int | None = None) -> tuple[EpochStart, ...] | None:
        """What the file should hold, or None if it does. With `below`, only if an epoch that it lacks began below that offset."""
        entries = tuple(self._entries)
        if entries == self._saved:
            return None
        if below is not None and all(entry.start_offset >= below for entry in set(entries) ^ set(self._saved)):
            return None
        return entries

    def write(self, entries: tuple[EpochStart, ...], *, durable: bool = True) -> None:
        """Replace the file. It may be done on another thread, by one at a time."""
        lines = (f"{entry.epoch} {entry.start_offset}" for entry in entries)
        self._disk.replace_file(self._path, format_checkpoint(lines), durable=durable)
        self._saved = entries

    def save(self, *, below: int | None = None, durable: bool = True) -> None:
        """Write the file if it is behind."""
        entries = self.unsaved(below=below)
        if entries is not None:
            self.write(entries, durable=durable)
