"""A disk under a whole broker of which some calls fail, for some of the files."""

from __future__ import annotations

import os

from core_broker.log.disk import Bytes, Disk, FilePath
from tests.core_broker.log.failing_disk import FailingDisk


class FaultyDisk(FailingDisk):
    """A failing disk whose failure can be confined to one place, so that the rest of the broker works on."""

    def __init__(self) -> None:
        super().__init__()
        self._place = ""

    def fail_at(self, place: str, error: int, *calls: str, written: int = 0) -> None:
        """Fail these calls for paths that contain `place`; a failing write still leaves `written` bytes behind."""
        self._place = place
        self.fail(error, *calls, written=written)

    def _check_path(self, call: str, path: FilePath) -> None:
        if self._place in str(path):
            self._check(call)

    def _concerns(self, descriptor: int) -> bool:
        return bool(self.error) and self._place in os.readlink(f"/proc/self/fd/{descriptor}")

    def create(self, path: FilePath) -> int:
        self._check_path("create", path)
        return Disk.create(self, path)

    def open(self, path: FilePath) -> int:
        self._check_path("open", path)
        return super().open(path)

    def make_directory(self, path: FilePath) -> None:
        self._check_path("make_directory", path)
        super().make_directory(path)

    def rename(self, source: FilePath, target: FilePath) -> None:
        self._check_path("rename", source)
        super().rename(source, target)

    def pread(self, descriptor: int, size: int, position: int) -> bytes:
        if self._concerns(descriptor):
            self._check("pread")
        return super().pread(descriptor, size, position)

    def pwrite(self, descriptor: int, data: Bytes, position: int) -> None:
        if self._concerns(descriptor):
            super().pwrite(descriptor, data, position)
        else:
            Disk.pwrite(self, descriptor, data, position)

    def truncate(self, descriptor: int, size: int) -> None:
        if self._concerns(descriptor):
            super().truncate(descriptor, size)
        else:
            Disk.truncate(self, descriptor, size)

    def fdatasync(self, descriptor: int) -> None:
        """Nothing is synced in truth: here the power stays on."""
        if self._concerns(descriptor):
            self._check("fdatasync")

    def sync_filesystem(self, descriptor: int) -> None:
        """As above."""
