"""An append between its two halves: decided on the event loop, written perhaps on another thread."""

from __future__ import annotations

from contextlib import suppress

from barnabas.wire.batch import BatchHeader
from core_broker.log.disk import Disk
from core_broker.log.producer_state import Marker
from core_broker.log.segment import (
    CLOSED,
    LOG,
    OFFSET_INDEX,
    PRODUCER_SNAPSHOT,
    TIME_INDEX,
    TRANSACTION_INDEX,
    Segment,
    write_at,
)


class Roll:
    """The change to a new segment: what the old one's files still lack, and the new files."""

    __slots__ = ("_disk", "_snapshot", "_writes", "descriptor", "old", "segment")

    def __init__(self, disk: Disk, old: Segment, segment: Segment, snapshot: bytes) -> None:
        old.close_time_index()  # true even if the roll fails, and then it is there for the next attempt
        self._disk = disk
        self._writes = old.unwritten_indexes()
        self._snapshot = snapshot
        self.old = old
        self.segment = segment
        self.descriptor = CLOSED

    def write(self) -> None:
        """Write the files. The descriptor of the new segment stays open."""
        for path, data, position in self._writes:
            write_at(self._disk, path, data, position)
        self._disk.write_file(self.segment.path(PRODUCER_SNAPSHOT), self._snapshot)
        self.descriptor = self._disk.create(self.segment.path(LOG))

    def undo(self) -> None:
        """Remove what the new segment would have begun with."""
        if self.descriptor != CLOSED:
            with suppress(OSError):
                self._disk.close(self.descriptor)
            self.descriptor = CLOSED
        for suffix in (LOG, PRODUCER_SNAPSHOT):
            with suppress(OSError):
                self._disk.unlink(self.segment.path(suffix))

    def files(self) -> list[str]:
        """What must be synced, besides the old segment's log, before anything in the new segment counts as durable.

        Also what an earlier checkpoint wrote to the indexes: it was not synced then. Some of the files may not exist.
        """
        indexes = [self.old.path(suffix) for suffix in (OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)]
        return [*indexes, self.segment.path(PRODUCER_SNAPSHOT)]


class Staged:
    """A batch with its offsets. `write` does the blocking part alone; only `PartitionLog.publish` changes the log."""

    __slots__ = (
        "_disk",
        "base_offset",
        "failed",
        "header",
        "last_offset",
        "marker",
        "position",
        "roll",
        "segment",
        "torn",
        "view",
    )

    duplicate = False

    def __init__(
        self,
        disk: Disk,
        view: memoryview,
        header: BatchHeader,
        base_offset: int,
        segment: Segment,
        roll: Roll | None,
        marker: Marker | None,
        torn: Segment | None,
    ) -> None:
        self._disk = disk
        self.view = view
        self.header = header
        self.base_offset = base_offset
        self.last_offset = base_offset + header.last_offset_delta
        self.segment = segment
        self.position = segment.size
        self.roll = roll
        self.marker = marker
        self.torn = torn  # bytes of a failed write may lie beyond the end of this segment
        self.failed = False

    @property
    def timestamp(self) -> int:
        return self.header.max_timestamp

    def write(self) -> None:
        """Write the batch, in a new segment if need be. A failure leaves the log as it was, and raises OSError."""
        try:
            if self.torn is not None:
                self._disk.truncate(self.torn.descriptor, self.torn.size)
                self.torn = None
            if self.roll is None:
                self._disk.pwrite(self.segment.descriptor, self.view, self.position)
            else:
                self.roll.write()
                self._disk.pwrite(self.roll.descriptor, self.view, 0)
        except BaseException:
            self.undo()
            raise

    def sync(self) -> None:
        """Make the written batch durable before it is published, for whom a group commit is too late."""
        try:
            self._disk.fdatasync(self.segment.descriptor if self.roll is None else self.roll.descriptor)
        except BaseException:
            self.undo()
            raise

    def undo(self) -> None:
        """Take back what was written; `publish` is no longer possible."""
        self.failed = True
        if self.roll is not None:
            self.roll.undo()
        elif self.torn is None:
            try:
                self._disk.truncate(self.segment.descriptor, self.position)
            except OSError:
                self.torn = self.segment  # the next write tries again; should the process end first, recovery does


class Duplicate(Staged):
    """A batch that a producer sent again: it stands in the log already, and nothing is written or published."""

    __slots__ = ("_timestamp",)

    duplicate = True

    def __init__(self, header: BatchHeader, base_offset: int, last_offset: int, timestamp: int) -> None:
        self.header = header
        self.base_offset = base_offset
        self.last_offset = last_offset
        self._timestamp = timestamp
        self.failed = False
        self.torn = None

    @property
    def timestamp(self) -> int:
        return self._timestamp

    def write(self) -> None:
        """Nothing is to be written."""

    def sync(self) -> None:
        """Nothing was written."""

    def undo(self) -> None:
        """Nothing was written."""
