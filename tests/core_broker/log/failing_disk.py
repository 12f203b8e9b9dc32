"""Disks that refuse: full, broken, or cut off from power."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import NamedTuple

from core_broker.log.disk import Bytes, Disk, FilePath

SECTOR_BYTES = 512


class FailingDisk(Disk):
    """Fails calls of one kind while `error` is set; a failing write may still leave some bytes behind."""

    def __init__(self) -> None:
        self.error = 0
        self.failing: tuple[str, ...] = ()
        self.written_before_failure = 0

    def fail(self, error: int, *calls: str, written: int = 0) -> None:
        self.error, self.failing, self.written_before_failure = error, calls, written

    def heal(self) -> None:
        self.error = 0

    def _check(self, call: str) -> None:
        if self.error and call in self.failing:
            raise OSError(self.error, os.strerror(self.error))

    def create(self, path: FilePath) -> int:
        self._check("create")
        return super().create(path)

    def pwrite(self, descriptor: int, data: Bytes, position: int) -> None:
        if self.error and "pwrite" in self.failing:
            super().pwrite(descriptor, memoryview(data)[: self.written_before_failure], position)
        self._check("pwrite")
        super().pwrite(descriptor, data, position)

    def truncate(self, descriptor: int, size: int) -> None:
        self._check("truncate")
        super().truncate(descriptor, size)

    def fdatasync(self, descriptor: int) -> None:
        self._check("fdatasync")
        super().fdatasync(descriptor)


class PowerCutError(BaseException):
    """The machine is off: no code of the log may catch this and go on."""


class _Node:
    """A file or directory, whatever its name; of a file, what is in it and what of that is durable."""

    def __init__(self, path: str, *, is_directory: bool = False) -> None:
        self.path = path
        self.is_directory = is_directory
        self.durable = b""
        self._last: bytes | None = None

    def current(self) -> bytes:
        return Path(self.path).read_bytes() if self._last is None else self._last

    def lose_name(self) -> None:
        self._last = self.current()


class _Change(NamedTuple):
    """A change in a directory: a name goes, a node gets a name, or, in one step, both."""

    removed: str | None
    added: str | None
    node: _Node | None


class PowerCutDisk(Disk):
    """Remembers what a power cut would leave: bytes that were synced, and names in directories that were synced.

    Of everything else an arbitrary part survives: sectors of a file in any combination, and of the changes in a directory the
    first ones.
    """

    def __init__(self, root: Path, random: Random) -> None:
        self._root = str(root)
        self._random = random
        self._descriptors: dict[int, _Node] = {}
        self._nodes: dict[str, _Node] = {self._root: _Node(self._root, is_directory=True)}
        self._durable: dict[str, dict[str, _Node]] = {self._root: {}}
        self._pending: dict[str, list[_Change]] = {self._root: []}
        self._calls_left: int | None = None

    def cut_after(self, calls: int) -> None:
        """Cut the power at one of the next calls that change something."""
        self._calls_left = calls

    def _count(self) -> None:
        if self._calls_left is not None:
            if self._calls_left <= 0:
                raise PowerCutError
            self._calls_left -= 1

    def _add(self, path: FilePath, *, is_directory: bool = False) -> None:
        node = self._nodes[str(path)] = _Node(str(path), is_directory=is_directory)
        self._pending[os.path.dirname(path)].append(_Change(None, str(path), node))

    # -- what the log calls -------------------------------------------------------------------------------------------

    def make_directory(self, path: FilePath) -> None:
        if not os.path.exists(path):
            self._count()
            super().make_directory(path)
            self._durable[str(path)], self._pending[str(path)] = {}, []
            self._add(path, is_directory=True)

    def create(self, path: FilePath) -> int:
        self._count()
        return self._opened(path, super().create(path))

    def open(self, path: FilePath) -> int:
        self._count()
        return self._opened(path, super().open(path))

    def open_existing(self, path: FilePath) -> int:
        return self._opened(path, super().open_existing(path))

    def open_directory(self, path: FilePath) -> int:
        return self._opened(path, super().open_directory(path))

    def _opened(self, path: FilePath, descriptor: int) -> int:
        if str(path) not in self._nodes:
            self._add(path)
        self._descriptors[descriptor] = self._nodes[str(path)]
        return descriptor

    def pwrite(self, descriptor: int, data: Bytes, position: int) -> None:
        try:
            self._count()
        except PowerCutError:
            super().pwrite(descriptor, memoryview(data)[: self._random.randrange(len(data) + 1)], position)
            raise
        super().pwrite(descriptor, data, position)

    def truncate(self, descriptor: int, size: int) -> None:
        self._count()
        super().truncate(descriptor, size)

    def fdatasync(self, descriptor: int) -> None:
        self._count()
        node = self._descriptors[descriptor]
        if node.is_directory:
            self._apply(node.path, len(self._pending[node.path]))
        else:
            node.durable = node.current()

    def sync_filesystem(self, descriptor: int) -> None:
        self._count()
        for node in self._nodes.values():
            if node.is_directory:
                self._apply(node.path, len(self._pending[node.path]))
            else:
                node.durable = node.current()

    def rename(self, source: FilePath, target: FilePath) -> None:
        self._count()
        if str(target) in self._nodes:
            self._nodes[str(target)].lose_name()
        super().rename(source, target)
        node = self._nodes[str(target)] = self._nodes.pop(str(source))
        assert not node.is_directory, "renaming a directory is not part of this game"
        node.path = str(target)
        self._pending[os.path.dirname(target)].append(_Change(str(source), str(target), node))

    def unlink(self, path: FilePath) -> None:
        if str(path) in self._nodes:
            self._count()
            self._nodes.pop(str(path)).lose_name()
            super().unlink(path)
            self._pending[os.path.dirname(path)].append(_Change(str(path), None, None))

    # -- the cut ------------------------------------------------------------------------------------------------------

    def _apply(self, directory: str, count: int) -> None:
        """Make the first changes in a directory durable."""
        names = self._durable[directory]
        for change in self._pending[directory][:count]:
            if change.removed is not None:
                names.pop(change.removed, None)
            if change.added is not None and change.node is not None:
                names[change.added] = change.node
        del self._pending[directory][:count]

    def survive(self, target: Path) -> None:
        """Write what is left after the cut to another place."""
        self._survive(self._root, target)

    def _survive(self, directory: str, target: Path) -> None:
        target.mkdir(parents=True)
        self._apply(directory, self._random.randrange(len(self._pending[directory]) + 1))
        for path, node in self._durable[directory].items():
            name = os.path.basename(path)
            if node.is_directory:
                self._survive(path, target / name)
            else:
                (target / name).write_bytes(self._content(node))

    def _content(self, node: _Node) -> bytes:
        """Any mixture of what was synced and what was written since."""
        durable, current = node.durable, node.current()
        choice = self._random.randrange(3)
        if choice == 0:
            return durable
        if choice == 1:
            return current
        size = self._random.randint(*sorted((len(durable), len(current))))
        mixed = bytearray(max(len(durable), len(current)))
        mixed[: len(durable)] = durable
        for start in range(0, len(current), SECTOR_BYTES):
            if self._random.random() < 0.5:
                sector = current[start : start + SECTOR_BYTES]
                mixed[start : start + len(sector)] = sector
        return bytes(mixed[:size])
