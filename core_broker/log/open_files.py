"""The descriptors and indexes of segments that are in memory at the moment, kept to a bound."""

from __future__ import annotations

from collections import deque
from typing import Final

from core_broker.log.disk import Disk
from core_broker.log.indexes import load_indexes
from core_broker.log.segment import CLOSED, LOG, Segment

DESCRIPTORS_MAX: Final = 512
INDEX_BYTES_MAX: Final = 32 * 1024 * 1024


class OpenFiles:
    """Opens segments when they are used and lets go of those that were not used for longest, roughly.

    One object serves all logs of a broker, so that thousands of partitions share one bound. A segment is let go when it
    was not used for a whole round through the list: a clock, which costs a reader one attribute. Pinned segments stay; if
    all are pinned, the bound gives way.
    """

    def __init__(
        self, disk: Disk, *, descriptors_max: int = DESCRIPTORS_MAX, index_bytes_max: int = INDEX_BYTES_MAX
    ) -> None:
        self._disk = disk
        self._descriptors_max = descriptors_max
        self._index_bytes_max = index_bytes_max
        self._resident: deque[Segment] = deque()
        self._index_bytes = 0  # of sealed segments alone: those of the active ones cannot be dropped

    def __len__(self) -> int:
        return len(self._resident)

    @property
    def index_bytes(self) -> int:
        return self._index_bytes

    def open(self, segment: Segment) -> int:
        """The descriptor of a segment, opened if need be."""
        if segment.descriptor == CLOSED:
            path = segment.path(LOG)
            descriptor = self._disk.open_existing(path) if segment.size else self._disk.open(path)
            if _is_resident(segment):
                segment.descriptor = descriptor
            else:
                self.adopt(segment, descriptor)
        segment.used = True
        return segment.descriptor

    def adopt(self, segment: Segment, descriptor: int) -> None:
        """Take over a descriptor that somebody else opened."""
        segment.descriptor = descriptor
        self._resident.append(segment)
        self._evict(keep=segment)

    def load(self, segment: Segment) -> None:
        """Open a segment and have its indexes in memory."""
        self.open(segment)
        if segment.offset_index is None:
            load_indexes(segment, self._disk)
            self.seal(segment)

    def seal(self, segment: Segment) -> None:
        """Count the indexes of a segment that is not, or no longer, the active one."""
        if segment.descriptor == CLOSED:
            self._resident.append(segment)
        segment.sealed = True
        self._index_bytes += _index_bytes(segment)
        self._evict(keep=segment)

    def close(self, segment: Segment) -> None:
        """Let a segment go: at once, or when the last pin is taken off."""
        if segment.pins:
            segment.doomed = True
        elif _is_resident(segment):
            self._resident.remove(segment)
            self._release(segment)

    def unpin(self, segment: Segment) -> None:
        segment.pins -= 1
        if segment.doomed:
            self.close(segment)

    def _evict(self, keep: Segment) -> None:
        for _ in range(2 * len(self._resident)):
            if len(self._resident) <= self._descriptors_max and self._index_bytes <= self._index_bytes_max:
                return
            segment = self._resident.popleft()
            if segment.used or segment.pins or segment is keep:
                segment.used = False
                self._resident.append(segment)
            else:
                self._release(segment)

    def _release(self, segment: Segment) -> None:
        descriptor, segment.descriptor = segment.descriptor, CLOSED
        if segment.sealed and segment.offset_index is not None:
            self._index_bytes -= _index_bytes(segment)
            segment.offset_index = segment.time_index = segment.transaction_index = None
        if descriptor != CLOSED:
            self._disk.close(descriptor)


def _is_resident(segment: Segment) -> bool:
    return segment.descriptor != CLOSED or (segment.sealed and segment.offset_index is not None)


def _index_bytes(segment: Segment) -> int:
    assert segment.offset_index is not None
    assert segment.time_index is not None
    return segment.offset_index.memory_bytes + segment.time_index.memory_bytes
