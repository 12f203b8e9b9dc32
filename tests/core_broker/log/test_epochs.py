"""Leader epochs: where each began, and where it ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from core_broker.log.disk import Disk
from core_broker.log.epochs import EpochEnd, EpochStart, LeaderEpochs


@pytest.fixture
def epochs(tmp_path: Path) -> LeaderEpochs:
    """Epoch 0 from offset 0, epoch 2 from 10, epoch 5 from 30."""
    made = LeaderEpochs.empty(str(tmp_path), Disk())
    for epoch, offset in ((0, 0), (2, 10), (5, 30)):
        made.assign(epoch, offset)
    return made


@pytest.mark.parametrize(
    ("epoch", "end"),
    [
        (5, EpochEnd(5, 100)),
        (4, EpochEnd(2, 30)),
        (2, EpochEnd(2, 30)),
        (1, EpochEnd(0, 10)),
        (0, EpochEnd(0, 10)),
        (6, None),
        (-1, None),
    ],
)
def test_the_end_of_an_epoch(epochs: LeaderEpochs, epoch: int, end: EpochEnd | None) -> None:
    assert epochs.end_offset(epoch, 100) == end


def test_an_epoch_before_the_first_known_one_ended_where_that_begins(epochs: LeaderEpochs) -> None:
    epochs.truncate_from_start(15)
    assert epochs.entries == (EpochStart(2, 15), EpochStart(5, 30))
    assert epochs.end_offset(0, 100) == EpochEnd(0, 15)


@pytest.mark.parametrize(("offset", "epoch"), [(0, 0), (9, 0), (10, 2), (29, 2), (30, 5), (1000, 5)])
def test_the_epoch_of_an_offset(epochs: LeaderEpochs, offset: int, epoch: int) -> None:
    assert epochs.epoch_of(offset) == epoch


def test_the_same_epoch_again_changes_nothing(epochs: LeaderEpochs) -> None:
    before = epochs.entries
    epochs.assign(5, 40)
    assert epochs.entries == before


def test_an_epoch_without_records_gives_way_to_the_next(epochs: LeaderEpochs) -> None:
    epochs.assign(6, 30)
    assert epochs.entries[-2:] == (EpochStart(2, 10), EpochStart(6, 30))


def test_epochs_beyond_the_end_of_the_log_are_forgotten(epochs: LeaderEpochs) -> None:
    epochs.truncate_from_end(30)
    assert epochs.latest == 2
    epochs.truncate_from_end(0)
    assert epochs.latest == -1
    assert epochs.end_offset(0, 0) is None


def test_the_file_is_kafkas_text(epochs: LeaderEpochs, tmp_path: Path) -> None:
    epochs.save()
    assert (tmp_path / "leader-epoch-checkpoint").read_text() == "0\n3\n0 0\n2 10\n5 30\n"
    assert LeaderEpochs.load(str(tmp_path), Disk()).entries == epochs.entries


def test_the_file_may_wait_for_an_epoch_that_recovery_will_see_in_the_records(
    epochs: LeaderEpochs, tmp_path: Path
) -> None:
    epochs.save(below=0)
    assert not (tmp_path / "leader-epoch-checkpoint").exists()
    epochs.save(below=1)
    epochs.assign(6, 50)
    epochs.save(below=50)
    assert LeaderEpochs.load(str(tmp_path), Disk()).latest == 5
    epochs.save(below=51)
    assert LeaderEpochs.load(str(tmp_path), Disk()).latest == 6


@pytest.mark.parametrize("text", ["0\n2\n0 0\n0 5\n", "0\n2\n0 5\n1 4\n", "0\n2\n0 0\n", "0\n1\nx y\n"])
def test_a_damaged_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "leader-epoch-checkpoint").write_text(text)
    with pytest.raises(ValueError, match=r".+"):
        LeaderEpochs.load(str(tmp_path), Disk())
