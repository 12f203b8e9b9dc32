"""A full or broken disk: the write is refused, everything else goes on, and it heals."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from barnabas.wire.batch import parse_header
from core_broker.log.config import LogConfig
from core_broker.log.partition_log import PartitionLog
from tests.core_broker.log.batches import START_MS, append, batch, kill, offsets, open_log, read_all, sync
from tests.core_broker.log.failing_disk import FailingDisk


@pytest.fixture
def disk() -> FailingDisk:
    return FailingDisk()


@pytest.fixture
def log(tmp_path: Path, disk: FailingDisk) -> PartitionLog:
    """A log with two batches of two records, which rolls after the fourth."""
    made = open_log(tmp_path / "topic-0", LogConfig(segment_bytes=4 * len(batch(2))), disk=disk)
    append(made, batch(2, producer_id=1, sequence=0))
    append(made, batch(2, producer_id=1, sequence=2))
    return made


def refused(log: PartitionLog, size: int = 10, sequence: int = 4) -> int:
    with pytest.raises(OSError, match=r".+") as caught:
        append(log, batch(2, size=size, producer_id=1, sequence=sequence))
    assert caught.value.errno is not None
    return caught.value.errno


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("written", [0, 1, 50])
@pytest.mark.parametrize("truncates", [True, False], ids=["truncates", "cannot even truncate"])
def test_a_refused_write_leaves_the_log_as_it_was_and_it_heals(
    log: PartitionLog, disk: FailingDisk, error: int, written: int, truncates: bool
) -> None:
    content = read_all(log)
    disk.fail(error, "pwrite", *([] if truncates else ["truncate"]), written=written)
    for _ in range(3):
        assert refused(log, size=40) == error
        assert (log.log_end_offset, read_all(log)) == (4, content)
        assert log.read(4, 1000).data == b""
    disk.heal()
    staged = append(log, batch(2, producer_id=1, sequence=4))
    assert staged.base_offset == 4
    assert offsets(read_all(log)) == [0, 1, 2, 3, 4, 5]
    path = Path(log.directory) / f"{0:020d}.log"
    assert path.stat().st_size == log.size_bytes, "bytes of the failed write are still there"


@pytest.mark.parametrize("calls", [("create",), ("pwrite",), ("create", "pwrite", "truncate")])
def test_a_roll_that_fails_is_tried_again(log: PartitionLog, disk: FailingDisk, calls: tuple[str, ...]) -> None:
    append(log, batch(2, producer_id=1, sequence=4))
    append(log, batch(2, producer_id=1, sequence=6))
    content = read_all(log)
    disk.fail(errno.ENOSPC, *calls, written=20)
    for _ in range(2):
        assert refused(log, sequence=8) == errno.ENOSPC
        assert (log.bases, log.log_end_offset, read_all(log)) == ([0], 8, content)
    disk.heal()
    assert append(log, batch(2, producer_id=1, sequence=8)).base_offset == 8
    assert log.bases == [0, 8]
    log.close()
    again = open_log(Path(log.directory), clean=True)
    assert offsets(read_all(again)) == list(range(10))
    assert append(again, batch(2, producer_id=1, sequence=8)).duplicate


def test_garbage_of_a_failed_write_is_cut_off_by_a_roll_and_by_closing(tmp_path: Path, disk: FailingDisk) -> None:
    log = open_log(tmp_path / "topic-0", disk=disk)
    path = tmp_path / "topic-0" / f"{0:020d}.log"
    append(log, batch())
    size = path.stat().st_size
    for settle in (log.roll, log.close):
        disk.fail(errno.EIO, "pwrite", "truncate", written=30)
        with pytest.raises(OSError, match=r".+"):
            append(log, batch(size=100))
        disk.heal()
        settle()
        assert path.stat().st_size == size
        path = tmp_path / "topic-0" / f"{1:020d}.log"
        size = 0


def test_a_process_that_ends_with_garbage_behind_the_log_recovers(tmp_path: Path, disk: FailingDisk) -> None:
    log = open_log(tmp_path / "topic-0", disk=disk)
    append(log, batch(3))
    disk.fail(errno.EIO, "pwrite", "truncate", written=30)
    with pytest.raises(OSError, match=r".+"):
        append(log, batch(size=100))
    kill(log)
    assert offsets(read_all(open_log(tmp_path / "topic-0"))) == [0, 1, 2]


def test_a_failed_sync_does_not_count_and_the_bytes_are_written_again(log: PartitionLog, disk: FailingDisk) -> None:
    sync(log)
    append(log, batch(2))
    dirty = log.dirty_files()
    assert dirty is not None
    position = log.size_bytes - len(batch(2))
    written: list[int] = []
    original = disk.pwrite

    def recorded(descriptor: int, data: bytes, at: int) -> None:
        written.append(at)
        original(descriptor, data, at)

    disk.pwrite = recorded  # type: ignore[assignment,method-assign]
    log.sync_failed()
    assert log.recovery_point == 4
    assert written == [position], "a second sync could succeed without these bytes"
    sync(log)
    assert log.recovery_point == 6
    assert offsets(read_all(log)) == [0, 1, 2, 3, 4, 5]


def test_a_batch_whose_sync_fails_before_it_is_published_is_taken_back(log: PartitionLog, disk: FailingDisk) -> None:
    data = batch(2)
    staged = log.stage(memoryview(data), parse_header(data), now_ms=START_MS)
    staged.write()
    disk.fail(errno.EIO, "fdatasync")
    with pytest.raises(OSError, match=r".+"):
        staged.sync()
    disk.heal()
    log.discard(staged)
    assert append(log, batch(2, producer_id=1, sequence=4)).base_offset == 4


def test_reads_go_on_while_writes_fail(log: PartitionLog, disk: FailingDisk) -> None:
    disk.fail(errno.ENOSPC, "pwrite", "create", "truncate", "fdatasync")
    refused(log)
    assert offsets(log.read(2, 1000).data) == [2, 3]
    found = log.offset_for_timestamp(START_MS + 1)
    assert found is not None
    assert found.offset == 1
