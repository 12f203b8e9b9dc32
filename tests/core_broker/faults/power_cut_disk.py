"""A disk under a whole broker that forgets, when the power goes, what was not synced."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias

from core_broker.log.disk import Bytes, Disk, FilePath

SECTOR_BYTES = 512
SYNC_LATENCY_MAX_S = 0.002


class _Write(NamedTuple):
    """A range that was written, or, without an end, a place where the file was cut off."""

    number: int
    start: int
    end: int | None


@dataclass(eq=False)
class _File:
    """What is in a file now, what of it is durable, and what was done to it since."""

    current: bytearray = field(default_factory=bytearray)
    durable: bytearray = field(default_factory=bytearray)
    pending: list[_Write] = field(default_factory=list)
    changes: int = 0

    def write(self, data: Bytes, position: int) -> None:
        end = position + len(data)
        self.current.extend(bytes(max(position - len(self.current), 0)))
        self.current[position:end] = data
        self.changes += 1
        self.pending.append(_Write(self.changes, position, end))

    def truncate(self, size: int) -> None:
        del self.current[size:]
        self.changes += 1
        self.pending.append(_Write(self.changes, size, None))

    def sync(self, changes: int) -> None:
        """What was done up to some change is durable."""
        for _, start, end in [write for write in self.pending if write.number <= changes]:
            self._copy(self.durable, start, end)
        self.pending = [write for write in self.pending if write.number > changes]

    def give_up(self, changes: int) -> None:
        """A sync has failed: no later one will cover what was done up to some change."""
        self.pending = [write for write in self.pending if write.number > changes]

    def survive(self, random: Random) -> None:
        """Any mixture of what was synced and what was done since."""
        choice = random.randrange(3)
        if choice == 0:
            self.current = bytearray(self.durable)
        elif choice == 2:
            mixed = bytearray(self.durable)
            for _, start, end in self.pending:
                for sector in range(start - start % SECTOR_BYTES, start + 1 if end is None else end, SECTOR_BYTES):
                    if random.random() < 0.5:
                        here = max(sector, start)
                        self._copy(mixed, here, None if end is None else min(sector + SECTOR_BYTES, end))
            self.current = mixed
        self.durable, self.pending = bytearray(self.current), []

    def _copy(self, target: bytearray, start: int, end: int | None) -> None:
        if end is None:
            del target[start:]
        elif start < len(self.current):
            piece = self.current[start:end]
            target.extend(bytes(max(start - len(target), 0)))
            target[start : start + len(piece)] = piece


class _Change(NamedTuple):
    """A change in a directory: a name goes, something gets a name, or, in one step, both."""

    removed: str | None
    added: str | None
    entry: _Entry | None


@dataclass(eq=False)
class _Directory:
    names: dict[str, _Entry] = field(default_factory=dict)
    durable: dict[str, _Entry] = field(default_factory=dict)
    pending: list[_Change] = field(default_factory=list)
    synced: int = 0

    @property
    def changes(self) -> int:
        return self.synced + len(self.pending)

    def change(self, *, removed: str | None = None, added: str | None = None, entry: _Entry | None = None) -> None:
        change = _Change(removed, added, entry)
        self.pending.append(change)
        _apply(self.names, change)

    def sync(self, changes: int) -> None:
        """The names are durable as they were after some change."""
        count = max(changes - self.synced, 0)
        for change in self.pending[:count]:
            _apply(self.durable, change)
        del self.pending[:count]
        self.synced += count

    def give_up(self, changes: int) -> None:
        """Names are in the journal of the file system, which tries again."""

    def survive(self, random: Random) -> None:
        """Of the changes since the last sync the first ones."""
        self.sync(random.randint(self.synced, self.changes))
        self.names, self.pending = dict(self.durable), []
        for entry in self.names.values():
            entry.survive(random)


_Entry: TypeAlias = _File | _Directory


def _apply(names: dict[str, _Entry], change: _Change) -> None:
    if change.removed is not None:
        names.pop(change.removed, None)
    if change.added is not None and change.entry is not None:
        names[change.added] = change.entry


class PowerCutDisk(Disk):
    """Real files below `root`, and beside them what would be left of them.

    `stop_after` lets the machine stand still in the middle of some later call; from then on nothing changes any more and every
    change fails. `come_back` then goes on with everything that was written, as after the death of the process alone, or
    with `power_was_cut` with what was synced and an arbitrary part of the rest.
    """

    def __init__(self, root: Path, random: Random) -> None:
        root.mkdir()
        self.stopped = threading.Event()
        self._root_path = str(root)
        self._root = _Directory()
        self._random = random
        self._lock = threading.RLock()
        self._open: dict[int, _Entry] = {}
        self._calls_left: int | None = None
        self._kind = ""
        self._broken: tuple[str, ...] = ()
        self._broken_later: tuple[str, ...] = ()

    # What the test decides.

    def stop_after(self, calls: int, kind: str = "") -> None:
        """Stand still after some more changes, or after some more of one kind."""
        with self._lock:
            self._calls_left, self._kind = calls, kind

    def keep_running(self) -> bool:
        """Take back `stop_after`; whether it was in time."""
        with self._lock:
            self._calls_left = None
            return not self.stopped.is_set()

    def break_down(self, call: str, *later: str) -> None:
        """Let a call fail, and from its first failure on others too.

        Of a failed sync the system remembers nothing: what it should have covered counts as clean.
        """
        self._broken, self._broken_later = (call,), later

    def repair(self) -> None:
        self._broken = ()

    def come_back(self, *, power_was_cut: bool) -> None:
        """The process is gone: its descriptors and locks with it."""
        with self._lock:
            for descriptor in list(self._open):
                self.close(descriptor)
            if power_was_cut:
                self._root.survive(self._random)
                shutil.rmtree(self._root_path)
                _write_tree(self._root_path, self._root)
            self._calls_left = None
            self.stopped.clear()

    def _change(self, kind: str) -> None:
        """Every change asks first."""
        if kind in self._broken:
            self._broken += self._broken_later
            raise OSError(errno.EIO, f"{kind} is broken")
        if self.stopped.is_set():
            raise OSError(errno.EIO, "the machine stands still")
        if self._calls_left is not None and self._kind in ("", kind):
            self._calls_left -= 1
            if self._calls_left < 0:
                self.stopped.set()
                raise OSError(errno.EIO, "the machine stands still")

    # What the log calls: files by descriptor.

    def create(self, path: FilePath) -> int:
        with self._lock:
            self._change("create")
            directory, name = self._parent(path)
            file = directory.names.get(name)
            if isinstance(file, _File):
                file.truncate(0)
            else:
                file = _File()
                directory.change(added=name, entry=file)
            return self._opened(super().create(path), file)

    def open(self, path: FilePath) -> int:
        with self._lock:
            directory, name = self._parent(path)
            if name not in directory.names:
                self._change("open")
                directory.change(added=name, entry=_File())
            return self._opened(super().open(path), directory.names[name])

    def open_existing(self, path: FilePath) -> int:
        with self._lock:
            return self._opened(super().open_existing(path), self._entry(path))

    def open_directory(self, path: FilePath) -> int:
        with self._lock:
            return self._opened(super().open_directory(path), self._entry(path))

    def close(self, descriptor: int) -> None:
        with self._lock:
            if self._open.pop(descriptor, None) is not None:  # else it went with its process
                super().close(descriptor)

    def pwrite(self, descriptor: int, data: Bytes, position: int) -> None:
        with self._lock:
            file = self._file(descriptor)
            was_running = not self.stopped.is_set()
            try:
                self._change("pwrite")
            except OSError:
                if was_running:
                    self._write(descriptor, file, memoryview(data)[: self._random.randint(0, len(data))], position)
                raise
            self._write(descriptor, file, data, position)

    def _write(self, descriptor: int, file: _File, data: Bytes, position: int) -> None:
        super().pwrite(descriptor, data, position)
        file.write(data, position)

    def truncate(self, descriptor: int, size: int) -> None:
        with self._lock:
            self._change("truncate")
            super().truncate(descriptor, size)
            self._file(descriptor).truncate(size)

    # Durability.

    def fdatasync(self, descriptor: int) -> None:
        """It takes a while, and covers what was there when it began."""
        with self._lock:
            self._sync("fdatasync", [self._open[descriptor]])

    def sync_filesystem(self, descriptor: int) -> None:
        with self._lock:
            self._sync("sync_filesystem", _all(self._root))

    def _sync(self, kind: str, entries: list[_Entry]) -> None:
        covered = [(entry, entry.changes) for entry in entries]
        self._lock.release()
        self.stopped.wait(self._random.uniform(0, SYNC_LATENCY_MAX_S))
        self._lock.acquire()
        try:
            self._change(kind)
        except OSError:
            if kind in self._broken:
                for entry, changes in covered:
                    entry.give_up(changes)
            raise
        for entry, changes in covered:
            entry.sync(changes)

    # Files and directories by name.

    def rename(self, source: FilePath, target: FilePath) -> None:
        with self._lock:
            self._change("rename")
            (before, old), (after, new) = self._parent(source), self._parent(target)
            assert before is after, "nothing here moves a file to another directory"
            super().rename(source, target)
            before.change(removed=old, added=new, entry=before.names[old])

    def unlink(self, path: FilePath) -> None:
        with self._lock:
            directory, name = self._parent(path)
            if name in directory.names:
                self._change("unlink")
                super().unlink(path)
                directory.change(removed=name)

    def make_directory(self, path: FilePath) -> None:
        with self._lock:
            if not os.path.exists(path):
                self._change("make_directory")
                directory, name = self._parent(path)
                super().make_directory(path)
                directory.change(added=name, entry=_Directory())

    def remove_directory(self, path: FilePath) -> None:
        with self._lock:
            directory, name = self._parent(path)
            if name in directory.names:
                self._change("remove_directory")
                super().remove_directory(path)
                directory.change(removed=name)

    # Finding things.

    def _opened(self, descriptor: int, entry: _Entry) -> int:
        self._open[descriptor] = entry
        return descriptor

    def _file(self, descriptor: int) -> _File:
        entry = self._open[descriptor]
        assert isinstance(entry, _File)
        return entry

    def _entry(self, path: FilePath) -> _Entry:
        entry: _Entry = self._root
        for name in str(path)[len(self._root_path) :].split("/"):
            if name:
                assert isinstance(entry, _Directory)
                entry = entry.names[name]
        return entry

    def _parent(self, path: FilePath) -> tuple[_Directory, str]:
        directory, name = os.path.split(path)
        entry = self._entry(directory)
        assert isinstance(entry, _Directory)
        return entry, name


def _all(directory: _Directory) -> list[_Entry]:
    found: list[_Entry] = [directory]
    for entry in directory.names.values():
        found += _all(entry) if isinstance(entry, _Directory) else [entry]
    return found


def _write_tree(path: str, directory: _Directory) -> None:
    os.mkdir(path)
    for name, entry in directory.names.items():
        if isinstance(entry, _Directory):
            _write_tree(f"{path}/{name}", entry)
        else:
            Path(path, name).write_bytes(entry.current)
