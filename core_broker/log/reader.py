"""Reading batches: one pread for what a fetch takes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Final, NamedTuple

from barnabas.wire.batch import HEADER_BYTES, LENGTH_OVERHEAD_BYTES
from core_broker.log.disk import Disk
from core_broker.log.segment import CLOSED, LENGTH_MIN, Segment, peek_batch
from core_broker.log.state import LogState

STREAM_MIN_BYTES: Final = 64 * 1024  # below this one read is cheaper than pieces
_WALK_BYTES: Final = 4096
_WARM_TAIL_BYTES: Final = 16 * 1024 * 1024  # what was written last is still in memory: no need to ask
_REMEMBERED_MAX: Final = 64  # positions: about as many readers as one partition has at a time


class FileRange:
    """Bytes of a segment that were not read yet, for whoever can send them piece by piece. Its file stays open as long as it lives."""

    __slots__ = ("_log", "_position", "_segment", "_size")

    def __init__(self, log: LogState, segment: Segment, position: int, size: int) -> None:
        self._log = log
        self._segment = segment
        self._position = position
        self._size = size
        segment.pins += 1

    def __len__(self) -> int:
        return self._size

    def send(self, socket: int, start: int) -> int:
        """Hand the bytes from `start` on to a socket without looking at them, and say how many it took."""
        return self._log.disk.send(self._segment.descriptor, self._position + start, self._size - start, socket)

    def __del__(self) -> None:
        self._log.files.unpin(self._segment)


class FetchSlice(NamedTuple):
    """Whole batches, as they stand on disk; empty when there is nothing to read below the limit."""

    data: bytes
    first_offset: int  # of the first batch, which may begin below the offset that was asked for
    next_offset: int  # after the last batch: where the reader goes on


class StreamSlice(NamedTuple):
    """The same, of which much is still in its file."""

    data: bytes | FileRange
    first_offset: int
    next_offset: int


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
        self._bounds: dict[int, tuple[Segment, int, int]] = {}

    def forget(self) -> None:
        """Segments went away, so positions may lead nowhere."""
        self._hints.clear()
        self._bounds.clear()

    def remember_bound(self, limit: int, segment: Segment, position: int, next_offset: int) -> None:
        """Where a limit stands, and the first offset that it leaves out: lower if the limit lies inside a batch."""
        bounds = self._bounds
        bounds[limit] = (segment, position, next_offset)
        if len(bounds) > _REMEMBERED_MAX:
            del bounds[next(iter(bounds))]

    def read(
        self, offset: int, max_bytes: int, limit: int | None, *, min_one: bool, wait: bool, stream: bool
    ) -> StreamSlice:
        log = self._log
        end = log.log_end_offset
        if not log.log_start_offset <= offset <= end:
            raise log.out_of_range(offset)
        if limit is None or limit > end:
            limit = end
        if offset >= limit:
            return StreamSlice(b"", offset, offset)
        hint = self._hints.get(offset)
        if hint is None or hint[1] >= hint[0].size:  # it may stand at the end of a segment that was active then
            _, segment, position = log.locate(offset)
        else:
            segment, position = hint
        if limit == end and not segment.sealed:
            stop, next_offset = segment.size, end
        else:
            stop, next_offset = self._stop(segment, limit)
        if segment.descriptor == CLOSED:
            log.files.open(segment)
        segment.used = True
        size = stop - position
        if not wait and size > 0 and (segment.sealed or size > _WARM_TAIL_BYTES):
            self._check_warm(segment, position, min(max_bytes, size))
        if size > max_bytes:
            size, next_offset = self._fitting(segment, position, stop, max_bytes, min_one)
        if size <= 0:
            return StreamSlice(b"", offset, offset)
        data: bytes | FileRange
        if stream and size >= STREAM_MIN_BYTES:
            data = FileRange(log, segment, position, size)
            first = log.disk.pread(segment.descriptor, HEADER_BYTES, position)
        else:
            data = first = log.disk.pread(segment.descriptor, size, position)
        self._remember(next_offset, segment, position + size)
        return StreamSlice(data, self._first_offset(first, offset, segment, position), next_offset)

    def _check_warm(self, segment: Segment, position: int, size: int) -> None:
        """Look at both ends: what is read in order is brought into memory, and dropped from it, in order."""
        disk, descriptor = self._log.disk, segment.descriptor
        if not (disk.is_cached(descriptor, position) and disk.is_cached(descriptor, position + max(size, 1) - 1)):
            raise ColdRead(segment, position, max(size, HEADER_BYTES))

    def _first_offset(self, data: bytes, offset: int, segment: Segment, position: int) -> int:
        """Verify that the first batch is the wanted one."""
        if len(data) < HEADER_BYTES:
            raise segment.damaged(position)
        base, length, delta = peek_batch(data)
        if base + delta < offset or length < LENGTH_MIN:
            raise segment.damaged(position)
        return int(base)

    def _remember(self, offset: int, segment: Segment, position: int) -> None:
        """The next read of the same reader begins here."""
        hints = self._hints
        hints[offset] = (segment, position)
        if len(hints) > _REMEMBERED_MAX:
            del hints[next(iter(hints))]

    def _stop(self, segment: Segment, limit: int) -> tuple[int, int]:
        """Where reading must stop in a segment for the sake of a limit, and the offset of what follows there."""
        bound = self._bounds.get(limit)
        if bound is None:
            _, bound_segment, position = self._log.locate(limit)
            next_offset = min(limit, self._base_at(bound_segment, position, limit))
            self.remember_bound(limit, bound_segment, position, next_offset)
        else:
            bound_segment, position, next_offset = bound
        if bound_segment is segment:
            return position, next_offset
        if bound_segment.base_offset < segment.base_offset:
            return 0, limit
        bases = self._log.bases
        return segment.size, bases[bisect_right(bases, segment.base_offset)]

    def _base_at(self, segment: Segment, position: int, at_end: int) -> int:
        """The first offset of the batch at a position; `at_end` where the segment ends there."""
        if position >= segment.size:
            return at_end
        base, _, _ = peek_batch(self._log.disk.pread(segment.descriptor, HEADER_BYTES, position))
        return int(base)

    def _fitting(self, segment: Segment, position: int, stop: int, max_bytes: int, min_one: bool) -> tuple[int, int]:
        """The size of the whole batches that `max_bytes` allows, and the offset after them; 0 if there are none."""
        self._log.load(segment)
        assert segment.offset_index is not None
        positions = segment.offset_index.positions
        start, end = position, position + max_bytes
        slot = bisect_right(positions, end) - 1
        if slot >= 0 and positions[slot] > position:
            # The index knows a batch that begins within reach: all before it are whole. What may still fit behind it is
            # less than an index interval, and the next fetch brings it.
            end = positions[slot]
            start = max(positions[slot - 1] if slot else 0, position)
        size = next_offset = 0
        for after, offset_after in self._walk(segment, start, stop):
            if after > end and (size or not min_one):
                break
            size, next_offset = after - position, offset_after
            if after >= end:
                break
        return size, next_offset

    def _walk(self, segment: Segment, cursor: int, stop: int) -> Iterator[tuple[int, int]]:
        """From batch to batch, by the headers alone: where each ends, and the offset after it."""
        disk, descriptor = self._log.disk, segment.descriptor
        window, window_at = b"", cursor
        while cursor < stop:
            at = cursor - window_at
            if at + HEADER_BYTES > len(window):
                window = disk.pread(descriptor, min(_WALK_BYTES, stop - cursor), cursor)
                window_at, at = cursor, 0
                if len(window) < HEADER_BYTES:
                    raise segment.damaged(cursor)
            base, length, delta = peek_batch(window, at)
            if length < LENGTH_MIN:
                raise segment.damaged(cursor)
            cursor += length + LENGTH_OVERHEAD_BYTES
            yield cursor, base + delta + 1
