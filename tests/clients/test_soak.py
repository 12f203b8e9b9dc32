"""The soak in short: two kills in twenty seconds. `python -m tests.soak` runs the long one."""

import pytest

from tests.conftest import StartBroker
from tests.soak import NOT_ACKNOWLEDGED, Plan, encode_value, lost, run, wrong_order


@pytest.mark.timeout(300)
def test_nothing_is_lost_or_doubled_when_the_broker_is_killed(start_broker: StartBroker) -> None:
    broker = start_broker()
    report = run(broker, Plan(seconds=20, kills=2, seed=7))
    assert report.violations == []
    assert report.kills == 2
    assert report.acknowledged == report.sent == report.stored
    assert report.acknowledged > 1000


def stored(*numbers: tuple[int, int]) -> list[bytes]:
    return [encode_value(producer, sequence, 5) for producer, sequence in numbers]


def test_a_sound_log_passes() -> None:
    values = stored((0, 0), (1, 0), (0, 1), (1, 1))
    assert list(wrong_order(0, values)) == []
    assert list(lost(0, values, 0, [0, 2])) == []
    assert list(lost(0, values, 1, [1, 3, NOT_ACKNOWLEDGED])) == []


def test_a_double_record_is_found() -> None:
    assert list(wrong_order(0, stored((0, 0), (0, 1), (0, 1)))) == [
        "partition 0 offset 2: record 0:1 is there twice or late"
    ]


def test_a_gap_is_found() -> None:
    assert list(wrong_order(3, stored((0, 0), (0, 2)))) == ["partition 3 offset 1: record 0:2 comes before 0:1"]


@pytest.mark.parametrize("offset", [1, 2], ids=["another-record-there", "behind-the-end"])
def test_a_lost_record_is_found(offset: int) -> None:
    assert list(lost(0, stored((0, 0), (1, 0)), 0, [0, offset])) == [
        f"partition 0 offset {offset}: record 0:1 was acknowledged and is lost"
    ]
