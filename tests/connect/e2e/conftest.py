"""What the tests of whole pipelines share: a database of the test's own, and a worker whose group misses its dead soon."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.broker import QUICK_GROUPS, BarnabasBroker
from tests.conftest import StartBroker
from tests.connect.connectors.jdbc.sample_database import SampleDatabase
from tests.databases import Postgres

HEALING_DEADLINE_S = 180.0
"""What dies is missed when its session is over, and starts again after a pause; on a busy machine all of that takes its time."""
TEST_DEADLINE_S = 600
"""For one test, in which several things heal one after the other."""
QUICK_SESSIONS = {"session_timeout_ms": "3000", "heartbeat_interval_ms": "300"}
"""For brokers that allow so little."""


@pytest.fixture
def database(postgres: Postgres) -> Iterator[SampleDatabase]:
    url = postgres.create_database()
    opened = SampleDatabase("postgresql", url)
    yield opened
    opened.close()
    postgres.drop_database(url)


@pytest.fixture
def quick_broker(start_broker: StartBroker) -> BarnabasBroker:
    """A broker that may be killed, and lets members of groups be missed soon."""
    named = {name.replace(".", "_"): value for name, value in QUICK_GROUPS.items()}
    return start_broker(**named, group_min_session_timeout_ms=500)
