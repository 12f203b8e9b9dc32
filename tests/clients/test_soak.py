"""The soak in short: two kills in twenty seconds. `python -m tests.soak` runs the long one."""

import pytest

from tests.conftest import StartBroker
from tests.soak import Plan, run


@pytest.mark.timeout(300)
def test_nothing_is_lost_or_doubled_when_the_broker_is_killed(start_broker: StartBroker) -> None:
    broker = start_broker()
    report = run(broker, Plan(seconds=20, kills=2, seed=7))
    assert report.violations == []
    assert report.kills == 2
    assert report.acknowledged == report.sent == report.stored
    assert report.acknowledged > 1000
