"""What a log must have on disk before its recovery point may be written down."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from core_broker.log.disk import Disk
from core_broker.log.epochs import EpochStart, LeaderEpochs


@dataclass(frozen=True, slots=True)
class LogCheckpoint:
    """Taken on the event loop; `sync` waits for the disk, and so may run on another thread."""

    recovery_point: int
    directory: str
    transaction_indexes: tuple[str, ...]
    epochs: LeaderEpochs
    unsaved_epochs: tuple[EpochStart, ...] | None

    def sync(self, disk: Disk) -> None:
        # An offset or time index that lost entries is made good by the recovery; that of transactions could not be.
        for path in self.transaction_indexes:
            with suppress(FileNotFoundError):  # its segment was deleted meanwhile
                sync_file(disk, path)
        with suppress(FileNotFoundError):  # the whole log was
            if self.transaction_indexes:
                disk.sync_directory(self.directory)
            if self.unsaved_epochs is not None:
                self.epochs.write(self.unsaved_epochs)


def sync_file(disk: Disk, path: str) -> None:
    descriptor = disk.open_existing(path)
    try:
        disk.fdatasync(descriptor)
    finally:
        disk.close(descriptor)
