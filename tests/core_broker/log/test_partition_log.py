"""Appending and reading: offsets, limits, rolling, producers."""

from __future__ import annotations

import threading
from pathlib import Path
from random import Random

import pytest

from barnabas.wire.batch import parse_header
from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.log.config import LogConfig
from core_broker.log.disk import Disk
from core_broker.log.epochs import EpochEnd
from core_broker.log.open_files import OpenFiles
from core_broker.log.partition_log import PartitionLog
from core_broker.log.transaction_index import AbortedTransaction
from tests.core_broker.log.batches import (
    START_MS,
    Clock,
    append,
    append_marker,
    batch,
    offsets,
    open_log,
    read_all,
    sync,
)


@pytest.fixture
def log(tmp_path: Path) -> PartitionLog:
    return open_log(tmp_path / "topic-0")


def test_offsets_and_leader_epoch_are_stamped_and_the_rest_is_kept(log: PartitionLog) -> None:
    log.assign_epoch(4)
    append(log, batch(3))
    data = batch(2, size=100)
    before = bytes(data)
    staged = append(log, data)
    assert (staged.base_offset, staged.last_offset, staged.duplicate) == (3, 4, False)
    stored = log.read(3, 10_000).data
    header = parse_header(stored)
    assert (header.base_offset, header.leader_epoch) == (3, 4)
    assert bytes(stored)[16:] == before[16:]


def test_nothing_is_read_before_it_is_published(log: PartitionLog) -> None:
    data = batch(2)
    staged = log.stage(memoryview(data), parse_header(data), now_ms=START_MS)
    staged.write()
    assert log.log_end_offset == 0
    assert log.read(0, 1000).data == b""
    log.publish(staged)
    assert offsets(log.read(0, 1000).data) == [0, 1]


def test_a_write_may_run_on_another_thread_while_reads_go_on(log: PartitionLog) -> None:
    append(log, batch(2))
    data = batch(1, size=2_000_000)
    staged = log.stage(memoryview(data), parse_header(data), now_ms=START_MS)
    thread = threading.Thread(target=staged.write)
    thread.start()
    while thread.is_alive():
        assert offsets(log.read(0, 10_000_000).data) == [0, 1]
    thread.join()
    log.publish(staged)
    assert offsets(log.read(0, 10_000_000).data) == [0, 1, 2]


def test_one_append_at_a_time(log: PartitionLog) -> None:
    first, second = batch(), batch()
    staged = log.stage(memoryview(first), parse_header(first), now_ms=START_MS)
    with pytest.raises(RuntimeError, match="under way"):
        log.stage(memoryview(second), parse_header(second), now_ms=START_MS)
    log.discard(staged)
    assert append(log, second).base_offset == 0
    with pytest.raises(RuntimeError, match="not written"):
        log.publish(staged)


@pytest.mark.parametrize("offset", [0, 1, 2, 3, 4, 5, 6])
def test_a_read_begins_with_the_batch_that_contains_the_offset(log: PartitionLog, offset: int) -> None:
    for count in (2, 3, 2):
        append(log, batch(count))
    part = log.read(offset, 10_000)
    start = max(base for base in (0, 2, 5) if base <= offset)
    assert offsets(part.data) == list(range(start, 7))
    assert (part.first_offset, part.next_offset) == (start, 7)


def test_a_read_ends_before_the_batch_that_does_not_fit(log: PartitionLog) -> None:
    sizes = [len(batch(2, size=size)) for size in (10, 20, 30)]
    for size in (10, 20, 30):
        append(log, batch(2, size=size))
    assert offsets(log.read(0, sum(sizes) - 1).data) == [0, 1, 2, 3]
    assert offsets(log.read(0, sum(sizes)).data) == [0, 1, 2, 3, 4, 5]
    assert offsets(log.read(0, sizes[0] + sizes[1] - 1).data) == [0, 1]


@pytest.mark.parametrize("max_bytes", [0, 1, 60, 61, 100])
def test_the_first_batch_comes_whole_or_not_at_all(log: PartitionLog, max_bytes: int) -> None:
    append(log, batch(2, size=100))
    append(log, batch(2, size=100))
    assert offsets(log.read(1, max_bytes).data) == [0, 1]
    assert log.read(1, max_bytes, min_one=False).data == b""


def test_a_limit_is_kept_wherever_it_stands(log: PartitionLog) -> None:
    for _ in range(300):
        append(log, batch(2, size=40))
    for limit in (2, 100, 101, 302, 598):
        whole = limit // 2 * 2
        assert offsets(log.read(0, 1_000_000, limit=limit).data) == list(range(whole))
        assert log.read(whole, 1_000_000, limit=limit).data == b""
    assert log.read(600, 1000).data == b""
    assert log.read(100, 1000, limit=50).data == b""


def test_a_limit_inside_a_batch_leaves_the_batch_out(log: PartitionLog) -> None:
    append(log, batch(3))
    append(log, batch(3))
    assert offsets(log.read(0, 10_000, limit=4).data) == [0, 1, 2]


def test_offsets_outside_of_the_log_are_refused(log: PartitionLog) -> None:
    append(log, batch(5))
    log.delete_records_before(2)
    for offset in (-1, 1, 6):
        with pytest.raises(KafkaError) as caught:
            log.read(offset, 1000)
        assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert offsets(log.read(2, 1000).data) == [0, 1, 2, 3, 4]
    assert log.read(5, 1000).data == b""


def test_a_segment_rolls_by_size_and_a_read_stays_within_one(tmp_path: Path) -> None:
    size = len(batch(2))
    log = open_log(tmp_path / "topic-0", LogConfig(segment_bytes=2 * size))
    for _ in range(5):
        append(log, batch(2))
    assert log.bases == [0, 4, 8]
    assert offsets(log.read(1, 10_000).data) == [0, 1, 2, 3]
    assert offsets(log.read(4, 10_000).data) == [4, 5, 6, 7]
    assert read_all(log).startswith(bytes(log.read(0, 1000).data))
    assert (tmp_path / "topic-0" / "00000000000000000004.snapshot").exists()


def test_a_batch_that_no_segment_holds_is_refused(tmp_path: Path) -> None:
    log = open_log(tmp_path / "topic-0", LogConfig(segment_bytes=500))
    with pytest.raises(KafkaError) as caught:
        append(log, batch(1, size=500))
    assert caught.value.code is ErrorCode.RECORD_LIST_TOO_LARGE
    assert append(log, batch(1, size=100)).base_offset == 0


def test_a_segment_rolls_by_the_timestamps_of_its_records(tmp_path: Path) -> None:
    log = open_log(tmp_path / "topic-0", LogConfig(segment_ms=1000))
    append(log, batch(1, timestamp=START_MS))
    append(log, batch(1, timestamp=START_MS + 1000))
    assert log.bases == [0]
    append(log, batch(1, timestamp=START_MS + 1001))
    assert log.bases == [0, 2]


def test_without_timestamps_a_segment_rolls_by_the_clock(tmp_path: Path) -> None:
    clock = Clock()
    log = open_log(tmp_path / "topic-0", LogConfig(segment_ms=1000), clock=clock)
    append(log, batch(timestamps=[-1]))
    clock.now_ms += 1000
    append(log, batch(timestamps=[-1]))
    assert log.bases == [0]
    clock.now_ms += 1
    append(log, batch(timestamps=[-1]))
    assert log.bases == [0, 2]


def test_the_jitter_lets_segments_roll_earlier(tmp_path: Path) -> None:
    config = LogConfig(segment_ms=1000, segment_jitter_ms=500)
    log = PartitionLog.open(tmp_path / "topic-0", config, Disk(), Clock(), random=Random(3))
    append(log, batch())
    log.roll()
    assert log.active.jitter_ms == Random(3).randrange(500)


def test_a_segment_rolls_when_its_index_is_full(tmp_path: Path) -> None:
    log = open_log(tmp_path / "topic-0", LogConfig(segment_index_bytes=24, index_interval_bytes=1))
    for number in range(6):
        append(log, batch(timestamp=START_MS + number))
    assert log.bases == [0, 2, 4], "a time index of 24 bytes takes two entries, one of which is kept for the end"


def test_a_segment_rolls_before_its_offsets_become_too_large(tmp_path: Path) -> None:
    log = open_log(tmp_path / "topic-0")
    append(log, batch())
    data = batch()
    wide = parse_header(data)._replace(last_offset_delta=2**31 - 2)
    log.append(memoryview(data), wide, now_ms=START_MS)
    assert log.bases == [0]
    append(log, batch())
    assert log.bases == [0, 2**31]


def test_a_repetition_is_known_and_not_stored_again(log: PartitionLog) -> None:
    append(log, batch(2, producer_id=5, sequence=0))
    append(log, batch(3, producer_id=5, sequence=2))
    size = log.size_bytes
    again = append(log, batch(2, producer_id=5, sequence=0))
    assert (again.duplicate, again.base_offset, again.last_offset, again.timestamp) == (True, 0, 1, START_MS + 1)
    assert (log.log_end_offset, log.size_bytes) == (5, size)
    assert append(log, batch(1, producer_id=5, sequence=5)).base_offset == 5


def test_a_refused_batch_leaves_no_trace(log: PartitionLog) -> None:
    append(log, batch(2, producer_id=5, sequence=0))
    with pytest.raises(KafkaError) as caught:
        append(log, batch(2, producer_id=5, sequence=7))
    assert caught.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert append(log, batch(2, producer_id=5, sequence=2)).base_offset == 2


def test_transactions_hold_the_last_stable_offset_and_leave_a_list_of_aborted_ones(log: PartitionLog) -> None:
    append(log, batch(2, producer_id=1, transactional=True))
    append(log, batch(2, producer_id=2, transactional=True))
    append(log, batch(2))
    assert log.last_stable_offset(6) == 0
    append_marker(log, 1, commits=False)
    append_marker(log, 2, commits=False)
    assert log.last_stable_offset(6) == 0
    assert log.last_stable_offset(7) == 2
    assert log.last_stable_offset(8) == 8
    first, second = AbortedTransaction(1, 0, 6, 2), AbortedTransaction(2, 2, 7, 8)
    assert log.aborted_transactions(0, 8) == [first, second]
    assert log.aborted_transactions(0, 2) == [first]
    assert log.aborted_transactions(7, 8) == [second]


def test_aborted_transactions_are_found_across_segments_and_sorted_by_their_first_offset(tmp_path: Path) -> None:
    log = open_log(tmp_path / "topic-0")
    append(log, batch(1, producer_id=1, transactional=True))
    log.roll()
    append(log, batch(1, producer_id=2, transactional=True))
    append_marker(log, 2, commits=False)
    log.roll()
    append_marker(log, 1, commits=False)
    assert [found.producer_id for found in log.aborted_transactions(0, 4)] == [1, 2]


def test_the_last_stable_offset_does_not_lie_before_the_start(log: PartitionLog) -> None:
    append(log, batch(4, producer_id=1, transactional=True))
    append(log, batch(4))
    log.delete_records_before(6)
    assert log.last_stable_offset(8) == 6


def test_epochs_end_where_the_next_begins(log: PartitionLog) -> None:
    append(log, batch(3))
    log.assign_epoch(1)
    append(log, batch(2))
    assert log.end_offset_for_epoch(0) == EpochEnd(0, 3)
    assert log.end_offset_for_epoch(1) == EpochEnd(1, 5)


def test_settings_can_change_while_it_is_open(log: PartitionLog) -> None:
    append(log, batch())
    log.configure(LogConfig(segment_bytes=len(batch())))
    append(log, batch())
    assert log.bases == [0, 1]


def test_many_logs_share_a_few_descriptors(tmp_path: Path) -> None:
    files = OpenFiles(Disk(), descriptors_max=4)
    logs = [open_log(tmp_path / f"topic-{number}", files=files) for number in range(12)]
    for _ in range(3):
        for number, log in enumerate(logs):
            append(log, batch(1, size=number))
            log.roll()
    assert len(files) <= 4
    for log in logs:
        assert offsets(read_all(log)) == [0, 1, 2]
        assert len(files) <= 4


def test_indexes_of_old_segments_take_bounded_memory(tmp_path: Path) -> None:
    files = OpenFiles(Disk(), index_bytes_max=300)
    log = open_log(tmp_path / "topic-0", LogConfig(index_interval_bytes=1), files=files)
    for number in range(40):
        append(log, batch(timestamp=START_MS + number))
        if number % 10 == 9:
            log.roll()
    for offset in range(40):
        assert offsets(log.read(offset, 1).data) == [offset]
        assert files.index_bytes <= 300


def test_a_deleted_log_ends_what_is_under_way_undisturbed(tmp_path: Path) -> None:
    log = open_log(tmp_path / "topic-0")
    append(log, batch())
    dirty = log.dirty_files()
    data = batch()
    staged = log.stage(memoryview(data), parse_header(data), now_ms=START_MS)
    log.delete(tmp_path / "topic-0.gone-delete")
    assert dirty is not None
    for descriptor in dirty.descriptors:
        log.disk.fdatasync(descriptor)
    log.mark_synced(dirty.offset)
    staged.write()
    log.publish(staged)
    assert log.dirty_files() is None
    assert len(log.files) == 0, "a descriptor is still open"


def test_a_batch_can_be_made_durable_before_it_is_published(tmp_path: Path) -> None:
    log = open_log(tmp_path / "topic-0", LogConfig(segment_bytes=100))
    for _ in range(2):
        data = batch(size=20)
        staged = log.stage(memoryview(data), parse_header(data), now_ms=START_MS)
        staged.write()
        staged.sync()
        log.publish(staged)
    sync(log)
    assert log.bases == [0, 1]
    assert log.recovery_point == 2
