"""A disk that fails when a test says so."""

from __future__ import annotations

import errno
import os

from core_broker.log.disk import Bytes, Disk


class FailingDisk(Disk):
    """Writes fail with `error_number` while there is one. It is read by the writer's thread, too: one reference, exchanged whole."""

    def __init__(self) -> None:
        self.error_number: int | None = None

    def pwrite(self, descriptor: int, data: Bytes, position: int) -> None:
        number = self.error_number
        if number is not None:
            raise OSError(number, f"{os.strerror(number)} (a fault of the test)")
        super().pwrite(descriptor, data, position)


DISK_FULL = errno.ENOSPC
