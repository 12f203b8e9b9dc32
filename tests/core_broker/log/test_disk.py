"""The thin layer over the file system."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from core_broker.log.disk import Disk

PWrite = Callable[[int, bytes | memoryview, int], int]


@pytest.fixture
def file(tmp_path: Path) -> int:
    return Disk().create(tmp_path / "file")


def write_at_most(size: int, real: PWrite) -> PWrite:
    return lambda descriptor, data, position: real(descriptor, memoryview(data)[:size], position)


def test_a_short_write_is_continued(file: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pwrite", write_at_most(7, os.pwrite))
    data = os.urandom(100)
    Disk().pwrite(file, data, 20)
    assert Disk().pread(file, 200, 20) == data
    assert Disk().size(file) == 120


def test_a_disk_that_takes_nothing_and_says_nothing_is_an_error(file: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pwrite", write_at_most(0, os.pwrite))
    with pytest.raises(OSError, match="0 of 5 bytes"):
        Disk().pwrite(file, b"12345", 0)


def test_a_buffer_is_filled_as_far_as_the_file_goes(file: int) -> None:
    Disk().pwrite(file, b"abcdef", 0)
    buffer = bytearray(10)
    assert Disk().pread_into(file, memoryview(buffer), 2) == 4
    assert buffer == b"cdef" + bytes(6)


def test_a_file_is_replaced_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "checkpoint"
    Disk().replace_file(path, b"old")

    def refuse(source: str, target: str) -> None:
        raise OSError(5, "broken")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="broken"):
        Disk().replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    monkeypatch.undo()
    Disk().replace_file(path, b"new")
    assert path.read_bytes() == b"new"


def test_what_is_gone_already_may_be_removed(tmp_path: Path) -> None:
    Disk().unlink(tmp_path / "nothing")
    Disk().remove_directory(tmp_path / "nothing")


def test_the_whole_file_system_can_be_synced_and_a_bad_descriptor_is_an_error(tmp_path: Path, file: int) -> None:
    Disk().sync_filesystem(file)
    Disk().sync_directory(tmp_path)
    with pytest.raises(OSError, match="syncfs"):
        Disk().sync_filesystem(-1)


def test_a_lock_keeps_others_out(tmp_path: Path) -> None:
    held = Disk().lock(tmp_path / ".lock")
    with pytest.raises(BlockingIOError):
        Disk().lock(tmp_path / ".lock")
    Disk().close(held)
    Disk().close(Disk().lock(tmp_path / ".lock"))
