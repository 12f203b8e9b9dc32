"""What a partition's log is made of; its readers, its retention and its writer share it."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.log.config import LogConfig
from core_broker.log.disk import Disk
from core_broker.log.open_files import OpenFiles
from core_broker.log.recovery import RecoveredLog
from core_broker.log.segment import CLOSED, Segment


class LogPosition(NamedTuple):
    """An offset, and where in which segment the batch that begins with it stands or will stand."""

    offset: int
    segment: Segment
    position: int


class LogState:
    """Owned by the event loop. `log_end_offset` and `Segment.size` say what is published; nothing beyond is served."""

    __slots__ = (
        "active",
        "bases",
        "clock_ms",
        "config",
        "directory",
        "disk",
        "epochs",
        "files",
        "log_end_offset",
        "log_start_offset",
        "name",
        "producers",
        "recovery_point",
        "segments",
    )

    def __init__(
        self,
        directory: str,
        config: LogConfig,
        disk: Disk,
        files: OpenFiles,
        clock_ms: Callable[[], int],
        recovered: RecoveredLog,
    ) -> None:
        self.directory = directory
        self.name = os.path.basename(directory)
        self.config = config
        self.disk = disk
        self.files = files
        self.clock_ms = clock_ms
        self.segments = recovered.segments
        self.bases = [segment.base_offset for segment in recovered.segments]
        self.active = recovered.segments[-1]
        self.log_start_offset = recovered.log_start_offset
        self.log_end_offset = recovered.log_end_offset
        self.recovery_point = recovered.recovery_point
        self.epochs = recovered.epochs
        self.producers = recovered.producers

    @property
    def size_bytes(self) -> int:
        return sum(segment.size for segment in self.segments)

    def slot_of(self, offset: int) -> int:
        """Which segment an offset lies in."""
        return max(bisect_right(self.bases, offset) - 1, 0)

    def locate(self, offset: int) -> LogPosition:
        """Where the first batch stands whose last offset is not below `offset`; the end of the log if there is none."""
        for segment in self.segments[self.slot_of(offset) :]:
            self.load(segment)
            position = segment.find(self.disk, offset)
            if position is not None:
                return LogPosition(offset, segment, position)
        return self.end_position()

    def load(self, segment: Segment) -> None:
        """Have a segment's file open and its indexes in memory."""
        if segment.descriptor == CLOSED or segment.offset_index is None:
            self.files.load(segment)

    def end_position(self) -> LogPosition:
        return LogPosition(self.log_end_offset, self.active, self.active.size)

    def out_of_range(self, offset: int) -> KafkaError:
        return KafkaError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"offset {offset} is not in {self.name}, which holds {self.log_start_offset} to {self.log_end_offset}: "
            "it was deleted by retention, or was never written",
        )
