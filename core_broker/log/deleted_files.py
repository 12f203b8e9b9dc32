"""The files of segments that are no longer part of a log, until file.delete.delay.ms has passed."""

from __future__ import annotations

from contextlib import suppress

from core_broker.log.disk import Disk
from core_broker.log.folder import DELETED, SEGMENT_SUFFIXES
from core_broker.log.segment import Segment


class DeletedFiles:
    """They have names of their own meanwhile, by which a start after a crash knows them."""

    __slots__ = ("_disk", "_due")

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._due: list[tuple[int, list[str]]] = []  # when to remove which files

    def set_aside(self, segment: Segment, remove_at_ms: int) -> None:
        """Rename a segment's files; they will be removed even if that fails half-way."""
        paths: list[str] = []
        self.add(paths, remove_at_ms)
        for suffix in SEGMENT_SUFFIXES:
            path = segment.path(suffix)
            with suppress(FileNotFoundError):
                self._disk.rename(path, path + DELETED)
                paths.append(path + DELETED)

    def add(self, paths: list[str], remove_at_ms: int) -> None:
        """Take over files that somebody else renamed."""
        self._due.append((remove_at_ms, paths))

    def purge(self, now_ms: int) -> None:
        while self._due and self._due[0][0] <= now_ms:
            for path in self._due.pop(0)[1]:
                self._disk.unlink(path)
