"""What an interrupted deletion or compaction left behind is settled when the log is opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core_broker.log.batches import append, batch, offsets, open_log, read_all

SEGMENTS = (0, 2, 4)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three segments of two records each."""
    log = open_log(tmp_path / "topic-0")
    for _ in SEGMENTS:
        append(log, batch(2))
        log.roll()
    log.close()
    return tmp_path / "topic-0"


def copy(folder: Path, base_offset: int, suffix: str) -> None:
    for kind in ("log", "index", "timeindex"):
        source = folder / f"{base_offset:020d}.{kind}"
        source.with_name(source.name + suffix).write_bytes(source.read_bytes())


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.suffix in (".deleted", ".cleaned", ".swap")]


def test_deleted_files_are_removed(folder: Path) -> None:
    copy(folder, 0, ".deleted")
    for path in folder.glob(f"{0:020d}.*"):
        if path.suffix != ".deleted":
            path.unlink()
    log = open_log(folder, clean=True)
    assert log.log_start_offset == 2
    assert offsets(read_all(log)) == [2, 3, 4, 5]
    assert leftovers(folder) == []


def test_half_written_compacted_segments_are_removed(folder: Path) -> None:
    copy(folder, 2, ".cleaned")
    (folder / f"{2:020d}.log.cleaned").write_bytes(b"half")
    assert offsets(read_all(open_log(folder, clean=True))) == [0, 1, 2, 3, 4, 5]
    assert leftovers(folder) == []


def test_a_whole_compacted_segment_takes_the_place_of_what_it_replaces(folder: Path) -> None:
    """It covers the first two segments; of these, the second one was not deleted yet."""
    merged = (folder / f"{0:020d}.log").read_bytes() + (folder / f"{2:020d}.log").read_bytes()
    copy(folder, 0, ".swap")
    (folder / f"{0:020d}.log.swap").write_bytes(merged)
    log = open_log(folder, clean=True)
    assert log.bases == [0, 4, 6]
    assert offsets(read_all(log)) == [0, 1, 2, 3, 4, 5]
    assert leftovers(folder) == []


def test_a_compaction_that_had_not_written_all_segments_is_undone(folder: Path) -> None:
    copy(folder, 2, ".swap")
    copy(folder, 0, ".cleaned")
    log = open_log(folder, clean=True)
    assert offsets(read_all(log)) == [0, 1, 2, 3, 4, 5]
    assert leftovers(folder) == []
