"""Which part of a log is to be compacted, and whether it is time: decided on the event loop, as Kafka's cleaner does it."""

from __future__ import annotations

import sys
from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

from core_broker.log.config import LogConfig
from core_broker.log.segment import OFFSET_INDEX, RELATIVE_OFFSET_MAX, TIME_INDEX, Segment
from core_broker.log.state import LogState
from core_broker.log.timestamps import largest_timestamp

UNBOUNDED: Final = sys.maxsize

GROUP_SEGMENTS_MAX: Final = 64
"""Replacing a group renames all its files on the event loop; what is left over joins in a later round."""


@dataclass(frozen=True, slots=True)
class DirtyPart:
    """The segments that were not compacted yet and may be: from the one with `first_dirty` up to `end`, where a segment begins."""

    first_dirty: int
    end: int
    clean_bytes: int
    dirty_bytes: int
    delay_ms: int  # for so long max.compaction.lag.ms has been exceeded

    @property
    def ratio(self) -> float:
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0

    def is_due(self, config: LogConfig) -> bool:
        return self.dirty_bytes > 0 and (self.delay_ms > 0 or self.ratio > config.min_cleanable_dirty_ratio)


def first_dirty_offset(log: LogState, cleaned_offset: int | None) -> int:
    """Where the last round ended; the start of the log if that lies outside of it."""
    start = log.log_start_offset
    if cleaned_offset is None or not start <= cleaned_offset <= log.log_end_offset:
        return start
    return cleaned_offset


def find_dirty_part(
    log: LogState, cleaned_offset: int | None, last_stable_offset: int, now_ms: int, *, durable_end: int = UNBOUNDED
) -> DirtyPart:
    """Leaves out the active segment, what transactions have not decided, what min.compaction.lag.ms protects, and what is not known
    to be durable: a recovery would take the gaps there for losses."""
    first_dirty = first_dirty_offset(log, cleaned_offset)
    dirty = _inactive_from(log, first_dirty)
    limit = min(last_stable_offset, log.active.base_offset, _lag_limit(log, dirty, now_ms))
    end = _start_of_segment_with(log, max(limit, first_dirty))
    if durable_end < end:
        end = _start_of_segment_with(log, durable_end)
    return DirtyPart(
        first_dirty,
        end,
        clean_bytes=sum(segment.size for segment in log.segments if segment.base_offset < first_dirty),
        dirty_bytes=sum(segment.size for segment in dirty if segment.base_offset < end),
        delay_ms=_delay_ms(log, dirty, now_ms),
    )


def segments_between(log: LogState, first_offset: int, end: int) -> list[Segment]:
    """The segments from the one that an offset lies in up to an offset where one begins."""
    return log.segments[log.slot_of(first_offset) : bisect_left(log.bases, end)]


def group_segments(log: LogState, rewritten_end: int, round_end: int) -> list[list[Segment]]:
    """The segments that begin below an offset, in groups, each of which fits one segment."""
    segments = log.segments[: bisect_left(log.bases, rewritten_end)]
    ends = [*(segment.base_offset for segment in segments[1:]), round_end]
    config, sizes = log.config, (0, 0, 0)
    groups: list[list[Segment]] = []
    for segment, end in zip(segments, ends, strict=True):
        more = (segment.size, _file_size(log, segment, OFFSET_INDEX), _file_size(log, segment, TIME_INDEX))
        joined = tuple(a + b for a, b in zip(sizes, more, strict=True))
        if (
            groups
            and len(groups[-1]) < GROUP_SEGMENTS_MAX
            and joined[0] <= config.segment_bytes
            and max(joined[1:]) <= config.segment_index_bytes
            and (segment.size == 0 or end - 1 - groups[-1][0].base_offset <= RELATIVE_OFFSET_MAX)
        ):
            groups[-1].append(segment)
            sizes = (joined[0], joined[1], joined[2])
        else:
            groups.append([segment])
            sizes = more
    return groups


def _inactive_from(log: LogState, offset: int) -> list[Segment]:
    return log.segments[log.slot_of(offset) : -1]


def _start_of_segment_with(log: LogState, offset: int) -> int:
    return log.bases[log.slot_of(offset)]


def _lag_limit(log: LogState, dirty: list[Segment], now_ms: int) -> int:
    lag_ms = log.config.min_compaction_lag_ms
    if lag_ms > 0:
        for segment in dirty:
            if largest_timestamp(log, segment) > now_ms - lag_ms:
                return segment.base_offset
    return UNBOUNDED


def _delay_ms(log: LogState, dirty: list[Segment], now_ms: int) -> int:
    oldest_ms = now_ms - log.config.max_compaction_lag_ms
    if oldest_ms <= 0:
        return 0
    earliest_ms = UNBOUNDED
    for segment in dirty:
        if segment.size:
            log.files.open(segment)
            timestamp = segment.load_first_timestamp(log.disk)
            if timestamp > 0:
                earliest_ms = min(earliest_ms, timestamp)
    return max(oldest_ms - earliest_ms, 0)


def _file_size(log: LogState, segment: Segment, suffix: str) -> int:
    try:
        return log.disk.file_size(segment.path(suffix))
    except FileNotFoundError:
        return 0  # it will be built anew when it is needed
