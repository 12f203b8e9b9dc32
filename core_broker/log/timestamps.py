"""Looking offsets up by timestamp."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from barnabas.wire.batch import HEADER_BYTES, BatchHeader, Record, iterate_records, parse_header
from core_broker.log import time_index
from core_broker.log.segment import LENGTH_MIN, LOG, TIME_INDEX, UNKNOWN, Segment
from core_broker.log.state import LogState
from core_broker.log.time_index import NO_TIMESTAMP

_SCAN_BYTES: Final = 64 * 1024


class TimestampedOffset(NamedTuple):
    offset: int
    timestamp: int
    leader_epoch: int


def first_offset_from(log: LogState, timestamp: int) -> TimestampedOffset | None:
    """The first record, by offset, whose timestamp is not smaller."""
    for segment in log.segments:
        if segment.size == 0 or largest_timestamp(log, segment) < timestamp:
            continue
        log.load(segment)
        assert segment.time_index is not None
        assert segment.offset_index is not None
        relative = max(segment.time_index.offset_at_or_below(timestamp), log.log_start_offset - segment.base_offset)
        position = segment.offset_index.position_at_or_below(max(relative, 0))
        for header, record in _candidates(log, segment, position, timestamp):
            if record.timestamp >= timestamp and record.offset >= log.log_start_offset:
                return TimestampedOffset(record.offset, record.timestamp, header.leader_epoch)
    return None


def offset_of_max(log: LogState) -> TimestampedOffset | None:
    """The first record with the largest timestamp of all."""
    newest = max(log.segments, key=lambda segment: _max_timestamp(log, segment))
    timestamp = newest.max_timestamp
    if timestamp < 0:
        return None
    log.load(newest)
    assert newest.offset_index is not None
    position = newest.offset_index.position_at_or_below(newest.max_timestamp_offset - newest.base_offset)
    for header, record in _candidates(log, newest, position, timestamp):
        if record.timestamp == timestamp:
            return TimestampedOffset(record.offset, timestamp, header.leader_epoch)
    return None


def largest_timestamp(log: LogState, segment: Segment) -> int:
    """Of a segment's records; where they carry none, the time of its last change."""
    timestamp = _max_timestamp(log, segment)
    return timestamp if timestamp >= 0 else log.disk.modified_ms(segment.path(LOG))


def _max_timestamp(log: LogState, segment: Segment) -> int:
    """What the last entry of the time index says, read alone where the index is not in memory."""
    if segment.max_timestamp == UNKNOWN:
        try:
            descriptor = log.disk.open_existing(segment.path(TIME_INDEX))
        except FileNotFoundError:
            log.load(segment)
            return segment.max_timestamp
        try:
            size = log.disk.size(descriptor)
            data = log.disk.pread(descriptor, time_index.ENTRY_BYTES, max(size - time_index.ENTRY_BYTES, 0))
        finally:
            log.disk.close(descriptor)
        if size % time_index.ENTRY_BYTES:
            log.load(segment)
        elif size == 0:
            segment.max_timestamp = NO_TIMESTAMP
        else:
            timestamp, relative_offset = time_index.parse_entry(data)
            segment.max_timestamp, segment.max_timestamp_offset = timestamp, segment.base_offset + relative_offset
    return segment.max_timestamp


def _candidates(log: LogState, segment: Segment, position: int, timestamp: int) -> Iterator[tuple[BatchHeader, Record]]:
    """The records of batches that reach a timestamp, from a position on."""
    for at, header in _headers(log, segment, position):
        if header.max_timestamp >= timestamp:
            batch = log.disk.pread(log.files.open(segment), header.size_bytes, at)
            for record in iterate_records(batch):
                yield header, record


def _headers(log: LogState, segment: Segment, position: int) -> Iterator[tuple[int, BatchHeader]]:
    while position < segment.size:
        data = log.disk.pread(log.files.open(segment), min(_SCAN_BYTES, segment.size - position), position)
        cursor = 0
        if len(data) < HEADER_BYTES:
            raise segment.damaged(position)
        while cursor + HEADER_BYTES <= len(data):
            header = parse_header(data, cursor)
            if header.batch_length < LENGTH_MIN:
                raise segment.damaged(position + cursor)
            yield position + cursor, header
            cursor += header.size_bytes
        position += cursor
