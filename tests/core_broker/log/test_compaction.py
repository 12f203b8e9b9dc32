"""Which part of a log is compacted and when, what becomes of it, and who is not disturbed."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from barnabas.wire.batch import HEADER_BYTES, Record, build_batch
from barnabas.wire.wire_error import WireError
from core_broker.cleaning_round import CleaningRound
from core_broker.log.compaction import GROUP_SEGMENTS_MAX, DirtyPart, find_dirty_part, group_segments
from core_broker.log.config import NEVER_MS, LogConfig
from core_broker.log.key_offsets import ENTRY_BYTES
from core_broker.log.pace import CleaningAborted
from core_broker.log.partition_log import PartitionLog
from core_broker.log.reader import STREAM_MIN_BYTES, FileRange
from core_broker.log.segment import DamagedSegmentError
from tests.core_broker.log.batches import (
    START_MS,
    Clock,
    append,
    append_marker,
    batch,
    kill,
    offsets,
    open_log,
    read_all,
    sync,
)
from tests.core_broker.log.compacting import LIMITS, compact, hurried_pace
from tests.core_broker.log.compaction_model import parse

HOUR_MS = 3_600_000
CONFIG = LogConfig(segment_bytes=100_000, compacts=True, delete_retention_ms=HOUR_MS)
Result = TypeVar("Result")


def put(log: PartitionLog, key: bytes | None, value: bytes | None = b"value", *, timestamp: int = START_MS) -> int:
    return append(log, build_batch([Record(0, timestamp, key, value)])).base_offset


def segment_of(log: PartitionLog, *keys: bytes, timestamp: int = START_MS) -> None:
    """Records in a segment of their own."""
    for key in keys:
        put(log, key, timestamp=timestamp)
    log.roll()


def dirty(log: PartitionLog, cleaned_offset: int | None = None, now_ms: int = START_MS, **limits: int) -> DirtyPart:
    return find_dirty_part(log, cleaned_offset, log.last_stable_offset(log.log_end_offset), now_ms, **limits)


@pytest.fixture
def log(tmp_path: Path) -> PartitionLog:
    return open_log(tmp_path / "topic-0", CONFIG)


# -- what is dirty, and when it is due --------------------------------------------------------------------------------


def test_the_active_segment_is_never_touched(log: PartitionLog) -> None:
    put(log, b"a")
    put(log, b"a")
    assert dirty(log).dirty_bytes == 0
    assert compact(log) is None
    log.roll()
    put(log, b"a")
    part = dirty(log)
    assert (part.first_dirty, part.end, part.ratio) == (0, 2, 1.0)
    compact(log)
    assert offsets(read_all(log)) == [1, 2]


def test_what_a_transaction_has_not_decided_is_left_alone(log: PartitionLog) -> None:
    segment_of(log, b"a", b"a")
    append(log, batch(1, producer_id=1, transactional=True))
    log.roll()
    segment_of(log, b"a")
    assert dirty(log).end == 2
    append_marker(log, 1, commits=True)
    assert dirty(log).end == 4, "the marker is in the active segment"


def test_the_shortest_lag_protects_segments(log: PartitionLog) -> None:
    segment_of(log, b"a", timestamp=START_MS)
    segment_of(log, b"a", timestamp=START_MS + 10)
    segment_of(log, b"a", timestamp=START_MS + 5)
    log.configure(LogConfig(compacts=True, min_compaction_lag_ms=100))
    ends = [dirty(log, now_ms=START_MS + now).end for now in (99, 100, 109, 110)]
    assert ends == [0, 1, 1, 3], "a segment that is young protects those behind it too"


def test_a_log_is_due_by_its_dirty_share_or_by_the_longest_lag(log: PartitionLog) -> None:
    segment_of(log, *[b"%d" % n for n in range(10)])
    segment_of(log, b"a")
    part = dirty(log, 10)
    assert 0.05 < part.ratio < 0.15
    half = LogConfig(compacts=True, min_cleanable_dirty_ratio=0.5)
    assert not part.is_due(half)
    assert part.is_due(LogConfig(compacts=True, min_cleanable_dirty_ratio=0.01))
    log.configure(LogConfig(compacts=True, max_compaction_lag_ms=1000))
    assert not dirty(log, 10, START_MS + 1000).is_due(half)
    assert dirty(log, 10, START_MS + 1001).delay_ms == 1
    assert dirty(log, 10, START_MS + 1001).is_due(half)
    assert not dirty(log, 11, START_MS + 9999).is_due(half), "nothing is dirty"
    log.configure(LogConfig(compacts=True, max_compaction_lag_ms=NEVER_MS))
    assert dirty(log, 10, START_MS + 10**12).delay_ms == 0


def test_a_mark_outside_of_the_log_counts_for_nothing(log: PartitionLog) -> None:
    segment_of(log, b"a", b"b", b"c")
    segment_of(log, b"d")
    log.delete_records_before(2)
    assert [dirty(log, mark).first_dirty for mark in (None, 0, 2, 3, 4, 5)] == [2, 2, 2, 3, 4, 2]


def test_only_what_is_on_record_as_durable_is_compacted(log: PartitionLog) -> None:
    segment_of(log, b"a")
    segment_of(log, b"a")
    sync(log)
    log.checkpoint()
    segment_of(log, b"a")
    assert dirty(log).end == 3
    assert log.recorded_recovery_point == 2
    assert dirty(log, durable_end=2).end == 2
    assert compact(log, settle=False) is not None
    assert offsets(read_all(log)) == [1, 2]


# -- groups -----------------------------------------------------------------------------------------------------------


def test_segments_are_joined_up_to_the_size_of_one(log: PartitionLog) -> None:
    for _ in range(5):
        segment_of(log, b"a")
    size = log.segments[0].size

    def counts() -> list[int]:
        return [len(group) for group in group_segments(log, 5, 5)]

    log.configure(LogConfig(segment_bytes=2 * size))
    assert counts() == [2, 2, 1]
    log.configure(LogConfig(segment_bytes=2 * size - 1))
    assert counts() == [1] * 5
    log.configure(LogConfig(segment_index_bytes=12))
    assert counts() == [1] * 5, "each has an entry of 12 bytes in its time index"
    assert len(group_segments(log, 3, 5)) == 3
    log.configure(LogConfig())
    assert counts() == [5]


def test_offsets_of_a_group_fit_32_bits_and_its_files_a_turn_of_the_loop(tmp_path: Path) -> None:
    log = open_log(tmp_path / "topic-0", CONFIG, log_start_offset=0)
    for _ in range(GROUP_SEGMENTS_MAX + 1):
        segment_of(log, b"a")
    end = log.log_end_offset
    assert [len(group) for group in group_segments(log, end, end)] == [GROUP_SEGMENTS_MAX, 1]
    far = 1 << 31
    log.bases[2:] = [base + far for base in log.bases[2:]]
    for segment in log.segments[2:]:
        segment.base_offset += far
    assert len(group_segments(log, 2 + far, 2 + far)[0]) == 1, "the second ends where the third begins"


# -- what is left -----------------------------------------------------------------------------------------------------


def test_tombstones_stay_readable_for_as_long_as_the_topic_says(tmp_path: Path) -> None:
    clock = Clock()
    log = open_log(tmp_path / "topic-0", CONFIG, clock=clock)
    put(log, b"a", b"old")
    put(log, b"a", None)
    put(log, b"b", b"stays")
    log.roll()

    def round_after(wait_ms: int) -> list[tuple[int, int | None]]:
        clock.now_ms += wait_ms
        segment_of(log, b"other")
        compact(log, 3)
        return [(batch.base_offset, batch.horizon) for batch in parse(read_all(log)) if batch.last_offset < 3]

    first_round_ms = START_MS + 5
    clock.now_ms = first_round_ms
    compact(log)
    horizon = first_round_ms + HOUR_MS
    assert round_after(0) == [(1, horizon), (2, None)]
    log.configure(LogConfig(segment_bytes=100_000, compacts=True, delete_retention_ms=0))
    assert round_after(HOUR_MS - 1) == [(1, horizon), (2, None)], "what was promised counts, not what is set now"
    assert log.offset_for_timestamp(START_MS) is not None
    assert parse(read_all(log))[0].records[0].timestamp == START_MS
    assert round_after(1) == [(2, None)]


def test_records_without_a_key_go(log: PartitionLog) -> None:
    put(log, None)
    put(log, b"a")
    log.roll()
    result = compact(log)
    assert result is not None
    assert result.records_without_key == 1
    assert offsets(read_all(log)) == [1]


def test_too_many_keys_for_the_memory_take_several_rounds(log: PartitionLog) -> None:
    for number in range(20):
        put(log, b"%d" % (number % 10))
    log.roll()
    narrow = LIMITS.__class__(keys_max_bytes=4 * ENTRY_BYTES, keys_load_factor=1.0, chunk_bytes=1000)
    ends: list[int | None] = [None]
    while (result := compact(log, ends[-1], limits=narrow)) is not None:
        ends.append(result.end)
        assert len({offset % 10 for offset in offsets(read_all(log))}) == 10
    assert ends == [None, 4, 8, 12, 16, 20]
    assert offsets(read_all(log)) == list(range(10, 20))


def test_batches_larger_than_the_buffer_and_of_every_codec_are_thinned_out(log: PartitionLog) -> None:
    for codec in range(5):
        records = [
            Record(n, START_MS + n, b"%d" % n if n % 2 else b"%d-%d" % (codec, n), b"x" * 100, (("h", b"%d" % n),))
            for n in range(200)
        ]
        append(log, build_batch(records, compression=codec))
    last = [record for batch in parse(read_all(log)) for record in batch.records if record.offset >= 800]
    log.roll()
    assert max(batch.last_offset - batch.base_offset for batch in parse(read_all(log))) > 100
    compact(log)
    found = parse(read_all(log))
    assert [(batch.base_offset, batch.last_offset, batch.codec) for batch in found] == [
        (200 * codec, 200 * codec + 199, codec) for codec in range(5)
    ]
    assert [len(batch.records) for batch in found] == [100, 100, 100, 100, 200]
    assert list(found[-1].records) == last


def test_the_brokers_own_time_is_kept(log: PartitionLog) -> None:
    records = [Record(n, START_MS + n, b"%d" % n, None if n else b"gone") for n in range(3)]
    append(log, build_batch(records, log_append_time=START_MS + 77))
    put(log, b"0")
    log.roll()
    compact(log)
    (first, _) = parse(read_all(log))
    assert [(record.offset, record.timestamp) for record in first.records] == [(1, START_MS + 77), (2, START_MS + 77)]
    found = log.offset_of_max_timestamp()
    assert found is not None
    assert (found.offset, found.timestamp) == (1, START_MS + 77)


# -- gaps are no losses -----------------------------------------------------------------------------------------------


def with_gaps(path: Path) -> PartitionLog:
    """A log of which each segment but the last two lost its last record."""
    log = open_log(path, LogConfig(segment_bytes=150, compacts=True))
    for number in range(6):
        segment_of(log, b"%d" % number, b"all")
    put(log, b"end")
    compact(log)
    assert offsets(read_all(log)) == [0, 2, 4, 6, 8, 10, 11, 12]
    return log


def test_gaps_are_known_by_the_mark_when_the_recovery_point_is_lost(tmp_path: Path) -> None:
    log = with_gaps(tmp_path / "topic-0")
    data = read_all(log)
    kill(log)
    found = PartitionLog.open(tmp_path / "topic-0", CONFIG, log.disk, Clock(), recovery_point=0, cleaned_offset=12)
    assert read_all(found) == data
    kill(found)


def test_gaps_are_no_losses_after_a_clean_stop_with_a_damaged_index(tmp_path: Path) -> None:
    log = with_gaps(tmp_path / "topic-0")
    data = read_all(log)
    log.close()
    for index in (tmp_path / "topic-0").glob("*.index"):
        index.write_bytes(b"damaged")
    found = open_log(tmp_path / "topic-0", CONFIG, clean=True)
    assert read_all(found) == data


def test_a_gap_above_the_mark_is_a_loss(tmp_path: Path) -> None:
    log = with_gaps(tmp_path / "topic-0")
    kill(log)
    found = PartitionLog.open(tmp_path / "topic-0", CONFIG, log.disk, Clock(), recovery_point=0, cleaned_offset=4)
    assert found.log_end_offset == 5
    kill(found)


# -- others are not disturbed -----------------------------------------------------------------------------------------


def test_whoever_is_sending_from_a_replaced_segment_goes_on(tmp_path: Path) -> None:
    log = open_log(tmp_path / "topic-0", CONFIG)
    for _ in range(3):
        put(log, b"a", b"x" * STREAM_MIN_BYTES)
    log.roll()
    before = log.read(0, 10**6).data
    part = log.stream(0, 10**6)
    assert isinstance(part.data, FileRange)
    segment = log.segments[0]
    compact(log)
    log.purge_deleted(log.clock_ms() + HOUR_MS)
    assert segment not in log.segments
    ours, theirs = socket.socketpair()
    with ours, theirs:
        received = bytearray()
        while len(received) < len(before):
            part.data.send(ours.fileno(), len(received))
            received += theirs.recv(1 << 20)
    assert received == before
    assert segment.descriptor >= 0
    del part
    assert segment.descriptor < 0, "its file is closed when the last reader is done"
    assert offsets(log.read(0, 10**6).data) == [2]


def run_round(log: PartitionLog, meanwhile: Callable[[], None], is_wanted: Callable[[], bool] = lambda: True) -> None:
    """A round during which something happens before the first segment is put in place."""
    sync(log)
    log.checkpoint()
    steps = 0

    async def on_thread(work: Callable[[], Result]) -> Result:
        nonlocal steps
        steps += 1
        result = work()
        if steps == len(log.segments):  # each sealed one was read; this was the first to be written
            meanwhile()
        return result

    part = dirty(log, durable_end=log.recorded_recovery_point)
    asyncio.run(CleaningRound(log, part, LIMITS, hurried_pace(), on_thread, is_wanted).run(START_MS))


def files(log: PartitionLog, ending: str) -> list[str]:
    return sorted(path.name for path in Path(log.directory).iterdir() if path.name.endswith(ending))


def test_segments_that_retention_took_are_not_brought_back(log: PartitionLog) -> None:
    segment_of(log, b"a")
    segment_of(log, b"a")
    log.configure(LogConfig(compacts=True, retention_bytes=log.segments[1].size))

    def meanwhile() -> None:
        assert log.apply_retention(START_MS, 2) == [0]

    with pytest.raises(CleaningAborted, match="were deleted"):
        run_round(log, meanwhile)
    assert log.log_start_offset == 1
    assert offsets(read_all(log)) == [1]
    assert files(log, ".cleaned") == files(log, ".swap") == []


@pytest.mark.parametrize("change", ["closed", "unwanted"])
def test_a_log_that_is_closed_or_no_longer_compacted_keeps_its_segments(log: PartitionLog, change: str) -> None:
    segment_of(log, b"a")
    segment_of(log, b"a")
    wanted = True

    def meanwhile() -> None:
        nonlocal wanted
        if change == "closed":
            log.close()
        else:
            wanted = False

    with pytest.raises(CleaningAborted, match="not to be compacted"):
        run_round(log, meanwhile, lambda: wanted)
    assert len(files(log, ".log")) == 3
    assert files(log, ".cleaned") == []


def test_a_damaged_batch_is_not_hidden_under_a_new_checksum(log: PartitionLog) -> None:
    append(log, build_batch([Record(0, START_MS, b"a", b"1"), Record(1, START_MS, b"b", b"2")]))
    put(log, b"a")
    log.roll()
    sync(log)
    data = bytearray(read_all(log))
    data[HEADER_BYTES + 6] ^= 1  # in the value of the first record
    log.disk.pwrite(log.files.open(log.segments[0]), data, 0)
    with pytest.raises(WireError, match="damaged"):
        compact(log)
    assert read_all(log) == data
    assert files(log, ".cleaned") == []


def test_a_segment_that_ends_inside_a_batch_is_not_compacted(log: PartitionLog) -> None:
    put(log, b"a")
    put(log, b"a")
    log.roll()
    sync(log)
    log.disk.truncate(log.files.open(log.segments[0]), log.segments[0].size - 1)
    with pytest.raises(DamagedSegmentError):
        compact(log)
