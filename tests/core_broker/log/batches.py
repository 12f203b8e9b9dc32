"""Batches for the tests of the log, and a log that holds some."""

from __future__ import annotations

import struct
from pathlib import Path

from barnabas.wire.batch import Record, build_batch, iterate_batches, iterate_records, parse_header
from core_broker.log.config import LogConfig
from core_broker.log.disk import Disk
from core_broker.log.open_files import OpenFiles
from core_broker.log.partition_log import PartitionLog
from core_broker.log.producer_state import Origin
from core_broker.log.staged import Staged

START_MS = 1_700_000_000_000
OPENED: list[PartitionLog] = []  # what a test leaves open is closed after it


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now_ms = START_MS

    def __call__(self) -> int:
        return self.now_ms


def batch(
    count: int = 1,
    *,
    size: int = 10,
    timestamp: int = START_MS,
    timestamps: list[int] | None = None,
    compression: int = 0,
    producer_id: int = -1,
    epoch: int = 0,
    sequence: int = 0,
    transactional: bool = False,
) -> bytearray:
    """Records with the given timestamps, or `count` of them a millisecond apart; each value begins with its number."""
    times = timestamps if timestamps is not None else [timestamp + number for number in range(count)]
    records = [Record(number, time, b"k", b"%d" % number + b"x" * size) for number, time in enumerate(times)]
    if producer_id < 0:
        return build_batch(records, compression=compression)
    return build_batch(
        records,
        compression=compression,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        transactional=transactional,
    )


def marker(producer_id: int, *, commits: bool, epoch: int = 0, coordinator_epoch: int = 0) -> bytearray:
    """The control batch that ends a transaction."""
    record = Record(0, START_MS, struct.pack(">hh", 0, int(commits)), struct.pack(">hi", 0, coordinator_epoch))
    return build_batch([record], control=True, transactional=True, producer_id=producer_id, producer_epoch=epoch)


def open_log(
    directory: Path,
    config: LogConfig | None = None,
    *,
    disk: Disk | None = None,
    clock: Clock | None = None,
    clean: bool = False,
    recovery_point: int = 0,
    log_start_offset: int = 0,
    leader_epoch: int | None = None,
    files: OpenFiles | None = None,
) -> PartitionLog:
    log = PartitionLog.open(
        directory,
        config or LogConfig(),
        disk or Disk(),
        clock or Clock(),
        clean=clean,
        recovery_point=recovery_point,
        log_start_offset=log_start_offset,
        leader_epoch=leader_epoch,
        files=files,
    )
    OPENED.append(log)
    return log


def append(log: PartitionLog, data: bytearray, *, origin: Origin = Origin.CLIENT) -> Staged:
    return log.append(memoryview(data), parse_header(data), now_ms=log.clock_ms(), origin=origin)


def append_marker(log: PartitionLog, producer_id: int, *, commits: bool, epoch: int = 0) -> Staged:
    return append(log, marker(producer_id, commits=commits, epoch=epoch), origin=Origin.COORDINATOR)


def kill(log: PartitionLog) -> None:
    """Let go of a log as a killed process does: nothing that is still in memory reaches a file."""
    for segment in log.segments:
        log.files.close(segment)


def sync(log: PartitionLog) -> None:
    """A round of group commit."""
    dirty = log.dirty_files()
    if dirty is not None:
        for descriptor in dirty.descriptors:
            log.disk.fdatasync(descriptor)
        log.mark_synced(dirty.offset)


def read_all(log: PartitionLog) -> bytes:
    """Every byte from the start to the end, through many reads."""
    parts = []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        part = log.read(offset, 700)
        parts.append(bytes(part.data))
        assert part.next_offset > offset
        offset = part.next_offset
    return b"".join(parts)


def offsets(data: bytes | memoryview) -> list[int]:
    """The offsets of all records in whole batches."""
    found = []
    end = 0
    for position, header in iterate_batches(data):
        found += [record.offset for record in iterate_records(data, position)]
        end = position + header.size_bytes
    assert end == len(data), "the bytes do not end where a batch ends"
    return found
