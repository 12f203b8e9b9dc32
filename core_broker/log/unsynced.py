"""Which files hold bytes that a power cut would take."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from core_broker.log.folder import PARTITION_METADATA, SEGMENT_SUFFIXES
from core_broker.log.segment import PRODUCER_SNAPSHOT, Segment
from core_broker.log.staged import Roll
from core_broker.log.state import LogState

_REWRITE_BYTES: Final = 1024 * 1024


class DirtyFiles(NamedTuple):
    """Descriptors for fdatasync, files and directories, and the offset below which all is durable once they are synced."""

    descriptors: tuple[int, ...]
    offset: int


class _Round(NamedTuple):
    """A sync under way: what it holds on to."""

    offset: int
    pinned: Sequence[Segment]
    opened: Sequence[int]
    sealed: int
    files: int


class UnsyncedFiles:
    """Keeps the list, which is short: the active segment, and after a roll what the roll left behind."""

    __slots__ = ("_files", "_log", "_must_rewrite", "_round", "_sealed")

    def __init__(self, log: LogState, *, names_unsynced: bool) -> None:
        self._log = log
        self._round: _Round | None = None
        self._must_rewrite = False
        # Recovery may have rewritten the indexes of these segments, also of the one that ends at the recovery point, and no sync may
        # have seen their snapshots.
        first = log.slot_of(max(log.recovery_point - 1, log.segments[0].base_offset))
        self._sealed = [segment for segment in log.segments[first:] if segment.sealed]
        self._files = [segment.path(suffix) for segment in self._sealed for suffix in SEGMENT_SUFFIXES]
        if log.recovery_point < log.log_end_offset:
            self._files.append(log.active.path(PRODUCER_SNAPSHOT))
        # The files of a new log have names that no sync has seen; so may those of one whose process died.
        if names_unsynced:
            self._files += [os.path.dirname(log.directory), log.directory, f"{log.directory}/{PARTITION_METADATA}"]

    @property
    def has_roll(self) -> bool:
        return bool(self._sealed)

    def holds(self, path: str) -> bool:
        """Whether a file, not that of an active segment, waits for a sync."""
        return path in self._files

    def rolled(self, roll: Roll) -> None:
        self._sealed.append(roll.old)
        self._files += [*roll.files(), self._log.directory]

    def removed(self, segment: Segment) -> None:
        """A segment was deleted. During a round it is doomed instead, and falls away with the next one."""
        if segment in self._sealed and self._round is None:
            self._sealed.remove(segment)

    def begin(self) -> DirtyFiles | None:
        """Start a round. The descriptors stay open until it has ended, whatever happens to the log meanwhile."""
        log = self._log
        if self._round is not None:
            raise RuntimeError(f"a sync of {log.name} is under way already: end it with mark_synced or sync_failed")
        offset = log.log_end_offset
        if offset == log.recovery_point:
            return None
        if self._must_rewrite:
            self._rewrite()
        active = log.active
        if not self._sealed and not self._files:
            descriptor = log.files.open(active)
            active.pins += 1
            self._round = _Round(offset, (active,), (), 0, 0)
            return DirtyFiles((descriptor,), offset)
        self._sealed = [segment for segment in self._sealed if not segment.doomed]
        pinned: list[Segment] = []
        opened: list[int] = []
        self._round = _Round(offset, pinned, opened, len(self._sealed), len(self._files))
        try:
            for segment in (active, *self._sealed):
                log.files.open(segment)
                segment.pins += 1
                pinned.append(segment)
            self._open_files(opened)
        except OSError:
            self._end()
            raise
        return DirtyFiles((*(segment.descriptor for segment in pinned), *opened), offset)

    def _open_files(self, opened: list[int]) -> None:
        log = self._log
        for path in dict.fromkeys(self._files):
            # A segment that was deleted meanwhile needs no sync.
            with suppress(FileNotFoundError):
                is_directory = path in (log.directory, os.path.dirname(log.directory))
                opened.append(log.disk.open_directory(path) if is_directory else log.disk.open_existing(path))

    def done(self, offset: int) -> None:
        """The round succeeded."""
        ended = self._end()
        if ended is None or ended.offset != offset:
            raise RuntimeError(f"no sync of {self._log.name} up to offset {offset} is under way")
        del self._sealed[: ended.sealed]
        del self._files[: ended.files]
        self._log.recovery_point = offset

    def failed(self, *, rewrite: bool) -> None:
        """The round failed. The kernel may hold the pages for clean now, so the bytes are to be written again: otherwise the
        next sync would succeed without having them on disk. OSError when that fails too; then the next round begins with it."""
        self._end()
        self._must_rewrite = True
        if rewrite:
            self._rewrite()

    def _rewrite(self) -> None:
        log = self._log
        _, first, position = log.locate(log.recovery_point)
        for segment in log.segments[log.slot_of(first.base_offset) :]:
            descriptor = log.files.open(segment)
            start = position if segment is first else 0
            for at in range(start, segment.size, _REWRITE_BYTES):
                data = log.disk.pread(descriptor, min(_REWRITE_BYTES, segment.size - at), at)
                log.disk.pwrite(descriptor, data, at)
        self._must_rewrite = False

    def _end(self) -> _Round | None:
        ended, self._round = self._round, None
        if ended is not None:
            for segment in ended.pinned:
                self._log.files.unpin(segment)
            for descriptor in ended.opened:
                self._log.disk.close(descriptor)
        return ended
