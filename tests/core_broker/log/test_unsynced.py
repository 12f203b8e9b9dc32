"""What a group commit has to sync, and how far the log is durable then."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core_broker.log.config import LogConfig
from core_broker.log.partition_log import PartitionLog
from tests.core_broker.log.batches import append, batch, kill, open_log, sync


def synced_paths(log: PartitionLog) -> set[str]:
    dirty = log.dirty_files()
    if dirty is None:
        return set()
    names = {os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")) for descriptor in dirty.descriptors}
    log.mark_synced(dirty.offset)
    return names


@pytest.fixture
def log(tmp_path: Path) -> PartitionLog:
    return open_log(tmp_path / "data" / "topic-0")


def test_a_new_log_syncs_its_folder_and_the_name_of_that(log: PartitionLog) -> None:
    assert log.dirty_files() is None
    append(log, batch())
    assert synced_paths(log) == {f"{0:020d}.log", "topic-0", "data"}
    append(log, batch())
    assert synced_paths(log) == {f"{0:020d}.log"}
    assert log.recovery_point == 2
    assert log.dirty_files() is None


def test_after_a_roll_everything_that_it_left_is_synced_once(log: PartitionLog) -> None:
    append(log, batch())
    synced_paths(log)
    append(log, batch())
    log.roll()
    append(log, batch())
    rolled = {f"{0:020d}.{kind}" for kind in ("log", "index", "timeindex")}
    assert synced_paths(log) == rolled | {f"{2:020d}.log", f"{2:020d}.snapshot", "topic-0"}
    append(log, batch())
    assert synced_paths(log) == {f"{2:020d}.log"}


def test_a_round_covers_what_was_published_when_it_began(log: PartitionLog) -> None:
    append(log, batch(3))
    dirty = log.dirty_files()
    append(log, batch(2))
    assert dirty is not None
    assert dirty.offset == 3
    log.mark_synced(3)
    assert log.recovery_point == 3
    assert synced_paths(log) == {f"{0:020d}.log"}
    assert log.recovery_point == 5


def test_a_roll_during_a_round_belongs_to_the_next(log: PartitionLog) -> None:
    append(log, batch())
    sync(log)
    append(log, batch())
    dirty = log.dirty_files()
    log.roll()
    append(log, batch())
    assert dirty is not None
    log.mark_synced(dirty.offset)
    assert {f"{0:020d}.log", f"{2:020d}.log", f"{0:020d}.index"} <= synced_paths(log)
    assert log.recovery_point == 3


def test_one_round_at_a_time(log: PartitionLog) -> None:
    append(log, batch())
    log.dirty_files()
    with pytest.raises(RuntimeError, match="under way"):
        log.dirty_files()
    with pytest.raises(RuntimeError, match="offset 7"):
        log.mark_synced(7)


def test_descriptors_stay_open_until_the_round_ends(tmp_path: Path) -> None:
    log = open_log(tmp_path / "topic-0")
    append(log, batch())
    dirty = log.dirty_files()
    assert dirty is not None
    log.delete(tmp_path / "gone")
    for descriptor in dirty.descriptors:
        os.fstat(descriptor)
    log.sync_failed()
    for descriptor in dirty.descriptors:
        with pytest.raises(OSError, match="descriptor"):
            os.fstat(descriptor)


def test_after_a_crash_all_above_the_recovery_point_is_dirty(tmp_path: Path) -> None:
    config = LogConfig(segment_bytes=2 * len(batch()))
    log = open_log(tmp_path / "topic-0", config)
    for _ in range(6):
        append(log, batch())
    kill(log)
    again = open_log(tmp_path / "topic-0", config, recovery_point=3)
    logs = {name for name in synced_paths(again) if name.endswith(".log")}
    assert logs == {f"{2:020d}.log", f"{4:020d}.log"}
    assert again.recovery_point == 6


def test_a_checkpoint_does_not_move_past_a_roll_that_is_not_synced(log: PartitionLog) -> None:
    append(log, batch(2))
    sync(log)
    assert log.checkpoint() == 2
    append(log, batch(2))
    dirty = log.dirty_files()
    log.roll()
    assert dirty is not None
    log.mark_synced(dirty.offset)
    assert log.checkpoint() == 2
    append(log, batch())
    sync(log)
    assert log.checkpoint() == 5
