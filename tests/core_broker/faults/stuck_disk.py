"""A disk that keeps callers waiting until the test lets them go."""

from __future__ import annotations

import os
import threading

from core_broker.log.disk import Bytes, Disk

STUCK_MAX_S = 60.0


class StuckDisk(Disk):
    """While it is stuck, some calls do not return for files whose path contains a certain word."""

    def __init__(self) -> None:
        self._calls: tuple[str, ...] = ()
        self._place = ""
        self._moving = threading.Event()
        self._moving.set()
        self.waiting = threading.Event()
        """Set once somebody waits."""

    def stick(self, place: str, *calls: str) -> None:
        self._place, self._calls = place, calls
        self.waiting.clear()
        self._moving.clear()

    def let_go(self) -> None:
        self._moving.set()

    def _wait(self, call: str, descriptor: int) -> None:
        if (
            not self._moving.is_set()
            and call in self._calls
            and self._place in os.readlink(f"/proc/self/fd/{descriptor}")
        ):
            self.waiting.set()
            assert self._moving.wait(STUCK_MAX_S), "the test did not let go of the disk"

    def pwrite(self, descriptor: int, data: Bytes, position: int) -> None:
        self._wait("pwrite", descriptor)
        super().pwrite(descriptor, data, position)

    def fdatasync(self, descriptor: int) -> None:
        self._wait("fdatasync", descriptor)
        super().fdatasync(descriptor)

    def sync_filesystem(self, descriptor: int) -> None:
        self._wait("fdatasync", descriptor)
        super().sync_filesystem(descriptor)
