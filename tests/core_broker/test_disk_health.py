"""What the log and the health of a broker say of a disk that fills up and is emptied again."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from core_broker.commit import GroupCommit
from core_broker.disk_health import DiskHealth
from core_broker.disk_space import NEARLY_FULL_BYTES, DiskSpace, Level, size_text
from core_broker.log.disk import Disk, FilePath

BATCH_MAX_BYTES = 1_048_588
ERROR = "writes fail with KAFKA_STORAGE_ERROR, and clients retry them"


class SizedDisk(Disk):
    """A disk whose free space a test sets."""

    def __init__(self) -> None:
        self.free = 10 * NEARLY_FULL_BYTES

    def free_bytes(self, path: FilePath) -> int:
        return self.free


def test_the_log_has_a_line_for_each_change_and_no_more(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    disk = SizedDisk()

    async def watch() -> None:
        loop = asyncio.get_running_loop()
        commits = GroupCommit(loop, disk)
        health = DiskHealth(tmp_path, disk, commits, loop, BATCH_MAX_BYTES)
        for free in (5 * NEARLY_FULL_BYTES, NEARLY_FULL_BYTES - 1, 2_000_000, 460_000, 0, 5 * NEARLY_FULL_BYTES):
            disk.free = free
            await health.watch()
            await health.watch()

    with caplog.at_level(logging.INFO, "core_broker.disk_health"):
        asyncio.run(watch())
    assert [(record.levelname, record.getMessage().partition(". ")[0]) for record in caplog.records] == [
        ("WARNING", f"disk nearly full: {tmp_path}: 1000 MB free"),
        ("ERROR", f"disk full: {tmp_path}: 460 kB free, and a batch may have 1.049 MB (message.max.bytes): {ERROR}"),
        ("INFO", f"disk has space again: {tmp_path}: 5000000000 bytes free"),
    ]


@pytest.mark.parametrize(
    ("free", "level"),
    [
        (BATCH_MAX_BYTES - 1, Level.FULL),
        (BATCH_MAX_BYTES, Level.NEARLY_FULL),
        (NEARLY_FULL_BYTES, Level.ENOUGH),
    ],
)
def test_a_disk_is_full_when_it_cannot_take_the_largest_batch(free: int, level: Level) -> None:
    assert DiskSpace("d", free, BATCH_MAX_BYTES).level is level


def test_sizes() -> None:
    assert [size_text(size) for size in (0, 999, 460_000, 12_345_678, 5 * 10**9)] == [
        "0 bytes", "999 bytes", "460 kB", "12.35 MB", "5 GB"
    ]  # fmt: skip
