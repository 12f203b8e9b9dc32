"""Which segments retention deletes, and what becomes of their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.wire.batch import parse_header
from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.log.config import UNLIMITED, LogConfig
from core_broker.log.partition_log import PartitionLog
from tests.core_broker.log.batches import START_MS, append, batch, offsets, open_log, read_all, sync

SEGMENTS = 5
HOUR_MS = 3_600_000


def made(tmp_path: Path, config: LogConfig) -> PartitionLog:
    """Five segments of two records, an hour apart; the last one is active."""
    log = open_log(tmp_path / "topic-0", config)
    for number in range(SEGMENTS):
        append(log, batch(2, timestamp=START_MS + number * HOUR_MS))
        if number < SEGMENTS - 1:
            log.roll()
    return log


def names(log: PartitionLog, suffix: str) -> list[str]:
    return sorted(path.name for path in Path(log.directory).iterdir() if path.name.endswith(suffix))


def test_old_segments_go_by_the_timestamps_of_their_records(tmp_path: Path) -> None:
    log = made(tmp_path, LogConfig(retention_ms=HOUR_MS))
    now = START_MS + 3 * HOUR_MS
    assert log.apply_retention(now, log.log_end_offset) == [0, 2]
    assert (log.log_start_offset, offsets(read_all(log))) == (4, [4, 5, 6, 7, 8, 9])


def test_segments_are_deleted_from_the_head_only(tmp_path: Path) -> None:
    log = open_log(tmp_path / "topic-0", LogConfig(retention_ms=HOUR_MS))
    for hours in (5, 0, 5):
        append(log, batch(timestamp=START_MS + hours * HOUR_MS))
        log.roll()
    assert log.apply_retention(START_MS + 6 * HOUR_MS, 3) == []


def test_the_active_segment_is_rolled_when_it_qualifies(tmp_path: Path) -> None:
    log = made(tmp_path, LogConfig(retention_ms=HOUR_MS))
    assert log.apply_retention(START_MS + 100 * HOUR_MS, 10) == [0, 2, 4, 6, 8]
    assert (log.bases, log.log_start_offset, log.log_end_offset, log.size_bytes) == ([10], 10, 10, 0)
    assert append(log, batch()).base_offset == 10
    assert log.apply_retention(START_MS, 11) == []


def test_an_append_under_way_keeps_the_active_segment(tmp_path: Path) -> None:
    log = made(tmp_path, LogConfig(retention_ms=HOUR_MS))
    data = batch()
    staged = log.stage(memoryview(data), parse_header(data), now_ms=START_MS)
    assert log.apply_retention(START_MS + 100 * HOUR_MS, 10) == [0, 2, 4, 6]
    staged.write()
    log.publish(staged)
    assert offsets(read_all(log)) == [8, 9, 10]


def test_nothing_goes_that_the_high_watermark_has_not_passed(tmp_path: Path) -> None:
    log = made(tmp_path, LogConfig(retention_ms=HOUR_MS))
    assert log.apply_retention(START_MS + 100 * HOUR_MS, 5) == [0, 2]


def test_segments_go_while_the_rest_is_still_large_enough(tmp_path: Path) -> None:
    size = len(batch(2))
    log = made(tmp_path, LogConfig(retention_ms=UNLIMITED, retention_bytes=3 * size - 1))
    assert log.apply_retention(START_MS, 10) == [0, 2]
    log.configure(LogConfig(retention_ms=UNLIMITED, retention_bytes=size))
    assert log.apply_retention(START_MS, 10) == [4, 6]
    log.configure(LogConfig(retention_ms=UNLIMITED, retention_bytes=0))
    assert log.apply_retention(START_MS, 10) == [8]


def test_without_delete_in_the_policy_only_the_start_offset_counts(tmp_path: Path) -> None:
    log = made(tmp_path, LogConfig(retention_ms=0, retention_bytes=0, deletes_old_segments=False))
    assert log.apply_retention(START_MS + 100 * HOUR_MS, 10) == []
    assert log.delete_records_before(5) == 5
    assert log.apply_retention(START_MS, 10) == [0, 2]
    assert log.log_start_offset == 5
    assert offsets(log.read(5, 1).data) == [4, 5]


def test_the_start_can_move_up_to_the_end_and_no_further(tmp_path: Path) -> None:
    log = made(tmp_path, LogConfig())
    assert log.delete_records_before(10) == 10
    assert log.delete_records_before(3) == 10, "the start went back"
    with pytest.raises(KafkaError) as caught:
        log.delete_records_before(11)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.apply_retention(START_MS, 10) == [0, 2, 4, 6]


def test_files_are_renamed_first_and_removed_later(tmp_path: Path) -> None:
    log = made(tmp_path, LogConfig(retention_ms=HOUR_MS, file_delete_delay_ms=1000))
    now = START_MS + 2 * HOUR_MS
    log.apply_retention(now, 10)
    deleted = [f"{0:020d}.{kind}.deleted" for kind in ("index", "log", "timeindex")]
    assert names(log, ".deleted") == deleted
    log.purge_deleted(now + 999)
    assert names(log, ".deleted") == deleted
    log.purge_deleted(now + 1000)
    assert names(log, ".deleted") == []
    log.apply_retention(now + HOUR_MS, 10)
    assert f"{2:020d}.snapshot.deleted" in names(log, ".deleted")


def test_a_reader_that_was_in_a_deleted_segment_learns_of_it(tmp_path: Path) -> None:
    log = made(tmp_path, LogConfig(retention_ms=HOUR_MS))
    offset = log.read(0, 1).next_offset
    log.apply_retention(START_MS + 3 * HOUR_MS, 10)
    with pytest.raises(KafkaError) as caught:
        log.read(offset, 1000)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_segment_that_goes_during_a_sync_stays_open_until_it_ends(tmp_path: Path) -> None:
    log = made(tmp_path, LogConfig(retention_ms=HOUR_MS))
    dirty = log.dirty_files()
    assert dirty is not None
    log.apply_retention(START_MS + 3 * HOUR_MS, 10)
    for descriptor in dirty.descriptors:
        log.disk.fdatasync(descriptor)
    log.mark_synced(dirty.offset)
    append(log, batch())
    sync(log)
    assert log.recovery_point == 11


def test_leader_epochs_below_the_start_are_forgotten(tmp_path: Path) -> None:
    log = made(tmp_path, LogConfig(retention_ms=HOUR_MS))
    log.assign_epoch(7)
    append(log, batch())
    log.apply_retention(START_MS + 3 * HOUR_MS, 10)
    assert log.epochs.entries[0].start_offset == log.log_start_offset == 4
