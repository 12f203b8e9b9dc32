"""Reading batches: one pread for what a fetch takes."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final, NamedTuple

from barnabas.wire.batch import HEADER_BYTES, LENGTH_OVERHEAD_BYTES
from core_broker.log.disk import Disk
from core_broker.log.segment import CLOSED, LENGTH_MIN, Segment, peek_batch
from core_broker.log.state import LogState

_WARM_TAIL_BYTES: Final = 16 * 1024 * 1024  # what was written last is still in memory: no need to ask
_REMEMBERED_MAX: Final = 64  # positions: about as many readers as one partition has at a time


class FetchSlice(NamedTuple):
    """Whole batches, as they stand on disk; empty when there is nothing to read below the limit."""

    data: bytes | memoryview
    first_offset: int  # of the first batch, which may begin below the offset that was asked for
    next_offset: int  # after the last batch: where the reader goes on


class ColdRead(Exception):
    """The bytes are not in memory, and the caller did not want to wait for the disk."""

    def __init__(self, segment: Segment, position: int, size: int) -> None:
        super().__init__(f"{size} bytes at {position} of {segment.path} are not in memory")
        self.segment = segment
        self.position = position
        self.size = size

    def warm(self, disk: Disk) -> None:
        """Bring the bytes into memory: the part that waits, for another thread. The segment must be pinned meanwhile."""
        disk.pread(self.segment.descriptor, self.size, self.position)


class LogReader:
    """Remembers where recent reads ended, since the next one begins there, and where recent limits stand."""

    __slots__ = ("_bounds", "_hints", "_log")

    def __init__(self, log: LogState) -> None:
        self._log = log
        self._hints: dict[int, tuple[Segment, int]] = {}
        self._bounds: dict[int, tuple[Segment, int]] = {}

    def forget(self) -> None:
        """Segments went away, so positions may lead nowhere."""
        self._hints.clear()
        self._bounds.clear()

    def remember_bound(self, offset: int, segment: Segment, position: int) -> None:
        """An offset that is likely to be a limit soon."""
        bounds = self._bounds
        bounds[offset] = (segment, position)
        if len(bounds) > _REMEMBERED_MAX:
            del bounds[next(iter(bounds))]

    def read(self, offset: int, max_bytes: int, limit: int | None, min_one: bool, wait: bool) -> FetchSlice:
        log = self._log
        end = log.log_end_offset
        if not log.log_start_offset <= offset <= end:
            raise log.out_of_range(offset)
        if limit is None or limit > end:
            limit = end
        if offset >= limit:
            return FetchSlice(b"", offset, offset)
        hint = self._hints.get(offset)
        if hint is None or hint[1] >= hint[0].size:  # it may stand at the end of a segment that was active then
            _, segment, position = log.locate(offset)
        else:
            segment, position = hint
        if limit == end and not segment.sealed:
            stop, next_offset = segment.size, end
        else:
            stop, next_offset = self._stop(segment, limit)
        if position >= stop:
            return FetchSlice(b"", offset, offset)
        descriptor = segment.descriptor
        if descriptor == CLOSED:
            descriptor = log.files.open(segment)
        segment.used = True
        if not wait and (segment.sealed or stop - position > _WARM_TAIL_BYTES):
            self._check_warm(segment, position, min(max_bytes, stop - position))
        if stop - position <= max_bytes:
            data: bytes | memoryview = log.disk.pread(descriptor, stop - position, position)
        else:
            data, next_offset = self._read_part(segment, position, stop, max_bytes, min_one)
            if not data:
                return FetchSlice(b"", offset, offset)
        return FetchSlice(data, self._first_offset(data, offset, segment, position, next_offset), next_offset)

    def _check_warm(self, segment: Segment, position: int, size: int) -> None:
        """Look at both ends: what is read in order is brought into memory, and dropped from it, in order."""
        disk, descriptor = self._log.disk, segment.descriptor
        if not (disk.is_cached(descriptor, position) and disk.is_cached(descriptor, position + max(size, 1) - 1)):
            raise ColdRead(segment, position, max(size, HEADER_BYTES))

    def _first_offset(
        self, data: bytes | memoryview, offset: int, segment: Segment, position: int, next_offset: int
    ) -> int:
        """Verify that the first batch is the wanted one, and remember where its reader will go on."""
        size = len(data)
        if size < HEADER_BYTES:
            raise segment.damaged(position)
        base, length, delta = peek_batch(data)
        if base + delta < offset or length < LENGTH_MIN:
            raise segment.damaged(position)
        hints = self._hints
        hints[next_offset] = (segment, position + size)
        if len(hints) > _REMEMBERED_MAX:
            del hints[next(iter(hints))]
        return int(base)

    def _stop(self, segment: Segment, limit: int) -> tuple[int, int]:
        """Where reading must stop in a segment for the sake of a limit, and the offset of what follows there."""
        bound = self._bounds.get(limit)
        if bound is None:
            _, bound_segment, position = self._log.locate(limit)
            self.remember_bound(limit, bound_segment, position)
        else:
            bound_segment, position = bound
        if bound_segment is segment:
            return position, limit
        if bound_segment.base_offset < segment.base_offset:
            return 0, limit
        bases = self._log.bases
        return segment.size, bases[bisect_right(bases, segment.base_offset)]

    def _read_part(
        self, segment: Segment, position: int, stop: int, max_bytes: int, min_one: bool
    ) -> tuple[bytes | memoryview, int]:
        """Read as many whole batches as `max_bytes` allows, and the offset after them."""
        log = self._log
        log.load(segment)
        assert segment.offset_index is not None
        positions = segment.offset_index.positions
        slot = bisect_right(positions, position + max_bytes) - 1
        if slot >= 0 and positions[slot] > position:
            # The index knows a batch that begins within reach: all before it are whole. What may still fit behind it is
            # less than an index interval, and the next fetch brings it.
            data = log.disk.pread(segment.descriptor, positions[slot] - position, position)
            before = positions[slot - 1] if slot else 0
            return data, _offset_after(data, max(before - position, 0))
        data = log.disk.pread(segment.descriptor, min(max(max_bytes, HEADER_BYTES), stop - position), position)
        end, next_offset = _whole_batches(data, min(len(data), max_bytes))
        if end:
            return memoryview(data)[:end], next_offset
        if not min_one:
            return b"", 0
        base, length, delta = peek_batch(data)
        return log.disk.pread(segment.descriptor, length + LENGTH_OVERHEAD_BYTES, position), base + delta + 1


def _offset_after(data: bytes, cursor: int) -> int:
    """The offset after the last batch, walking from one that begins at `cursor`."""
    end = len(data)
    while True:
        base, length, delta = peek_batch(data, cursor)
        cursor += max(length, LENGTH_MIN) + LENGTH_OVERHEAD_BYTES
        if cursor >= end:
            return int(base + delta + 1)


def _whole_batches(data: bytes, size: int) -> tuple[int, int]:
    """Where the last batch ends that lies wholly in the first `size` bytes, and the offset after it."""
    cursor, next_offset = 0, 0
    while size - cursor >= HEADER_BYTES:
        base, length, delta = peek_batch(data, cursor)
        after = cursor + max(length, LENGTH_MIN) + LENGTH_OVERHEAD_BYTES
        if after > size:
            break
        cursor, next_offset = after, base + delta + 1
    return cursor, next_offset
