"""Which segments are old enough, or too many, so that they may go."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from core_broker.log.segment import Segment
from core_broker.log.state import LogState
from core_broker.log.timestamps import largest_timestamp

_Verdict: TypeAlias = Callable[[Segment, Segment | None], bool]


def segments_to_delete(log: LogState, now_ms: int, high_watermark: int) -> list[Segment]:
    """Segments from the head of the log; never one that reaches beyond the high watermark. All of them may qualify."""
    config = log.config
    chosen = _leading(log, 0, high_watermark, _lies_before_start(log))
    if config.deletes_old_segments:
        if config.retention_bytes >= 0:
            excess = log.size_bytes - sum(segment.size for segment in chosen) - config.retention_bytes
            chosen += _leading(log, len(chosen), high_watermark, _is_excess(excess))
        if config.retention_ms >= 0:
            chosen += _leading(log, len(chosen), high_watermark, _is_old(log, now_ms - config.retention_ms))
    return chosen


def _leading(log: LogState, skipped: int, high_watermark: int, verdict: _Verdict) -> list[Segment]:
    """The consecutive segments, from the first that is left, that a verdict gives up."""
    segments: list[Segment] = []
    following: list[Segment | None] = [*log.segments[skipped + 1 :], None]
    for segment, successor in zip(log.segments[skipped:], following, strict=False):
        end = log.log_end_offset if successor is None else successor.base_offset
        if (successor is None and segment.size == 0) or high_watermark < end or not verdict(segment, successor):
            break
        segments.append(segment)
    return segments


def _lies_before_start(log: LogState) -> _Verdict:
    return lambda segment, successor: successor is not None and successor.base_offset <= log.log_start_offset


def _is_excess(excess_bytes: int) -> _Verdict:
    left = excess_bytes

    def verdict(segment: Segment, successor: Segment | None) -> bool:
        nonlocal left
        left -= segment.size
        return left >= 0

    return verdict


def _is_old(log: LogState, oldest_ms: int) -> _Verdict:
    return lambda segment, successor: largest_timestamp(log, segment) < oldest_ms
