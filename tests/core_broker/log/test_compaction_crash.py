"""Compaction that is cut off at every single step, and disks that refuse in the middle of it."""

from __future__ import annotations

import errno
import random
from pathlib import Path

import pytest

from barnabas.wire.batch import Record, build_batch
from core_broker.log.config import LogConfig
from core_broker.log.disk import Disk, FilePath
from core_broker.log.partition_log import PartitionLog
from tests.core_broker.log.batches import START_MS, append, append_marker, kill, open_log, read_all, sync
from tests.core_broker.log.compacting import compact
from tests.core_broker.log.compaction_model import Batch, Model, parse
from tests.core_broker.log.failing_disk import PowerCutDisk, PowerCutError

CONFIG = LogConfig(segment_bytes=900, index_interval_bytes=100, compacts=True)
LEFTOVERS = (".cleaned", ".swap", ".deleted")
STEPS_MAX = 200


def fill(path: Path, disk: Disk) -> PartitionLog:
    """Several segments with records, tombstones, and transactions of either end."""
    log = open_log(path, CONFIG, disk=disk)
    for number in range(14):
        value = None if number % 5 == 4 else b"%d" % number * 20
        records = [
            Record(0, START_MS + number, b"k%d" % (number % 4), value),
            Record(1, START_MS, b"x%d" % number, b""),
        ]
        append(log, build_batch(records, compression=number % 5))
        if number % 3 == 0:
            transactional = build_batch(
                [Record(0, START_MS, b"t", b"%d" % number)],
                producer_id=1,
                producer_epoch=0,
                base_sequence=number // 3,
                transactional=True,
            )
            append(log, transactional)
            append_marker(log, 1, commits=number % 2 == 0)
        if number % 2:
            log.roll()  # early, so that a group has more than one segment
    append(log, build_batch([Record(0, START_MS + 99, b"k0", b"last")]))
    sync(log)
    log.checkpoint()
    return log


def committed(batches: list[Batch]) -> dict[bytes, bytes]:
    return Model(batches).table()


def check(path: Path, before: list[Batch], after: list[Batch], end: int) -> None:
    """Whatever was replaced was replaced wholly, nothing is left over, and the next round finishes the work."""
    log = open_log(path, CONFIG, recovery_point=end)
    assert [name for name in sorted(file.name for file in path.iterdir()) if name.endswith(LEFTOVERS)] == []
    found = parse(read_all(log))
    assert log.log_end_offset == end
    assert committed(found) == committed(before)
    for batch in found:
        assert batch in before or batch in after
    for offset in range(end):
        assert parse(log.read(offset, 1).data)[0].last_offset >= offset
    assert len(log.aborted_transactions(0, end)) == 2
    assert compact(log) is not None
    assert committed(parse(read_all(log))) == committed(before)
    assert [batch.base_offset for batch in parse(read_all(log)) if batch.records] == [
        batch.base_offset for batch in after if batch.records
    ]
    kill(log)


@pytest.mark.parametrize("power", ["stays", "goes"])
def test_a_crash_at_any_step_leaves_the_old_segments_or_the_new_one(tmp_path: Path, power: str) -> None:
    whole = fill(tmp_path / "whole", Disk())
    before, end = parse(read_all(whole)), whole.log_end_offset
    assert len(whole.segments) > 4
    compact(whole)
    after = parse(read_all(whole))
    assert len(after) < len(before)
    for step in range(STEPS_MAX):
        root = tmp_path / f"{step}"
        root.mkdir()
        disk = PowerCutDisk(root, random.Random(step))
        log = fill(root / "topic-0", disk)
        disk.cut_after(step)
        try:
            compact(log, settle=False)
        except PowerCutError:
            kill(log)
        else:
            break
        if power == "goes":
            disk.survive(tmp_path / f"{step}-after")
            root = tmp_path / f"{step}-after"
        check(root / "topic-0", before, after, end)
    assert 20 < step < STEPS_MAX - 1, "every step of a whole compaction was tried"


class RefusingDisk(Disk):
    """Refuses one rename."""

    def __init__(self) -> None:
        self.renames_left = -1

    def rename(self, source: FilePath, target: FilePath) -> None:
        self.renames_left -= 1
        if self.renames_left == -1:
            raise OSError(errno.ENOSPC, "no space left")
        super().rename(source, target)


def test_a_refused_rename_leaves_everything_as_it_was(tmp_path: Path) -> None:
    for number in range(STEPS_MAX):
        path, disk = tmp_path / f"{number}", RefusingDisk()
        log = fill(path, disk)
        files, bases, before = sorted(path.iterdir()), list(log.bases), parse(read_all(log))
        disk.renames_left = number
        try:
            compact(log, settle=False)
        except OSError:
            found = parse(read_all(log))
            assert committed(found) == committed(before)
            if number < 12:  # in the first group: nothing at all has changed
                assert (sorted(path.iterdir()), log.bases, found) == (files, bases, before)
            log.purge_deleted(START_MS + 10**9)
            compact(log)
            assert committed(parse(read_all(log))) == committed(before)
            log.purge_deleted(START_MS + 10**9)
            assert not [file for file in path.iterdir() if file.name.endswith(LEFTOVERS)]
        else:
            break
    assert 10 < number < STEPS_MAX - 1
