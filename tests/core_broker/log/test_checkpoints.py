"""Checkpoint files: Kafka's text, replaced in one step."""

from __future__ import annotations

from pathlib import Path

import pytest

from core_broker.log.checkpoints import OffsetCheckpoint, TopicPartition, parse_checkpoint
from core_broker.log.disk import Disk


def test_the_text_is_kafkas(tmp_path: Path) -> None:
    path = tmp_path / "recovery-point-offset-checkpoint"
    OffsetCheckpoint(path, Disk()).write(
        {TopicPartition("__transaction_state", 12): 13, TopicPartition("samp", 0): 2008}
    )
    assert path.read_text() == "0\n2\n__transaction_state 12 13\nsamp 0 2008\n"
    assert [file.name for file in tmp_path.iterdir()] == [path.name], "the temporary file is still there"


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    checkpoint = OffsetCheckpoint(tmp_path / "file", Disk())
    offsets = {TopicPartition("a.b_c-d", 3): 5, TopicPartition("x", 0): 2**40}
    checkpoint.write(offsets)
    assert checkpoint.read() == offsets


def test_a_missing_or_empty_file_says_nothing(tmp_path: Path) -> None:
    checkpoint = OffsetCheckpoint(tmp_path / "file", Disk())
    assert checkpoint.read() == {}
    (tmp_path / "file").touch()
    assert checkpoint.read() == {}


@pytest.mark.parametrize("text", ["0\n2\nx 0 5\n", "0\n1\nx 0\n", "0\n1\nx 0 five\n", "1\n0\n", "garbage"])
def test_a_damaged_file_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_text(text)
    assert OffsetCheckpoint(tmp_path / "file", Disk()).read() == {}


def test_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version"):
        parse_checkpoint(b"1\n0\n")


def test_one_entry_can_be_taken_out(tmp_path: Path) -> None:
    one, other = TopicPartition("x", 0), TopicPartition("x", 1)
    OffsetCheckpoint(tmp_path / "file", Disk()).write({one: 5, other: 6})
    checkpoint = OffsetCheckpoint(tmp_path / "file", Disk())
    checkpoint.read()
    checkpoint.forget(one)
    assert OffsetCheckpoint(tmp_path / "file", Disk()).read() == {other: 6}
