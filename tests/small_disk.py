"""A file system that a test can fill to its last byte."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


class SmallDisk:
    """A file system in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ballast = path / ".ballast"

    def fill(self, leave_bytes: int = 0) -> None:
        """Take all space, and then give `leave_bytes` of it back."""
        with self._ballast.open("ab", buffering=0) as file:
            for size in (1 << 16, 1 << 12):
                with suppress(OSError):
                    while True:
                        file.write(bytes(size))
            file.truncate(file.seek(0, os.SEEK_END) - leave_bytes)

    def make_room(self) -> None:
        self._ballast.unlink()


@contextmanager
def mounted(path: Path, size_bytes: int) -> Iterator[SmallDisk]:
    """A small disk at a path, for those who may mount one; others skip the test."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small file system")
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"cannot mount a small file system: {done.stderr.strip()}")
    yield SmallDisk(path)
    subprocess.run(["umount", str(path)], check=True)
