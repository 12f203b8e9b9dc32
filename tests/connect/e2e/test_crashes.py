"""Everything that can be killed is killed under load; afterwards source and target are compared row by row."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy.exc import DBAPIError

from tests.broker import BarnabasBroker, BrokerProcess
from tests.connect.conftest import StartWorker
from tests.connect.connectors.jdbc.sample_database import SampleDatabase
from tests.connect.e2e.conftest import HEALING_DEADLINE_S, QUICK_SESSIONS, TEST_DEADLINE_S
from tests.connect.e2e.pipelines import (
    JSON,
    QUICK_CONSUMER,
    compare,
    file_sink,
    file_source,
    growing_file,
    growing_table,
    lines,
    table_sink,
    table_source,
    task_processes,
)
from tests.connect.tasks.topics import create
from tests.connect_service import ConnectProcess
from tests.databases import Postgres
from tests.service_process import STOP_DEADLINE_S, ServiceProcess
from tests.waiting import wait_for

pytestmark = pytest.mark.timeout(TEST_DEADLINE_S)

ROWS_BETWEEN = 200
"""How many rows must arrive between two disasters."""
CONVERTERS = {"key.converter": JSON, "value.converter": JSON}


@pytest.fixture(scope="module")
def mortal_postgres() -> Iterator[Postgres]:
    """A server that tests may kill."""
    programs = Postgres.server.find()
    if programs is None:
        pytest.skip(Postgres.server.advice)
    server = Postgres(programs)
    server.start()
    yield server
    server.remove()


@pytest.fixture
def mortal_database(mortal_postgres: Postgres) -> Iterator[SampleDatabase]:
    database = SampleDatabase("postgresql", mortal_postgres.create_database())
    yield database
    database.close()


def test_a_table_is_copied_exactly_once_whatever_dies(
    quick_broker: BarnabasBroker,
    mortal_postgres: Postgres,
    mortal_database: SampleDatabase,
    start_worker: StartWorker,
) -> None:
    database = mortal_database
    database.execute("CREATE TABLE events (id BIGINT PRIMARY KEY, name TEXT, amount NUMERIC(12, 3))")
    worker = start_worker(quick_broker.address, **QUICK_SESSIONS, exactly_once_source_support="enabled")
    create(quick_broker.address, "copied-events")
    worker.create("source", table_source(database.url, "events", "copied-", **CONVERTERS))
    chosen = {"exactly.once": "true", "auto.create": "true", **QUICK_CONSUMER, **CONVERTERS}
    worker.create("sink", table_sink(database.url, "copied-events", "copies", **chosen))

    def kill_broker_and_tasks() -> None:
        quick_broker.kill()
        _kill_tasks(worker)
        quick_broker.start()

    disasters = (partial(_kill, worker), partial(_kill, mortal_postgres), kill_broker_and_tasks)
    with growing_table(database, "events") as taken:
        for disaster in disasters:
            _await_growth(lambda: _count(database), taken)
            disaster()
    wait_for(lambda: _count(database) >= taken(), "all rows to arrive", HEALING_DEADLINE_S)
    expected, found = (database.rows(f"SELECT id, name, amount FROM {table}") for table in ("events", "copies"))
    compare(expected, found, exactly_once=True)
    assert len(expected) == taken()


def _kill_tasks(worker: ConnectProcess) -> None:
    for process in task_processes(worker):
        os.kill(process, signal.SIGKILL)


def _kill(service: ServiceProcess) -> None:
    service.kill()
    service.start()


def _await_growth(count: Callable[[], int], taken: Callable[[], int]) -> None:
    """Wait until something arrives that was fed after this call."""
    wanted = taken() + ROWS_BETWEEN
    wait_for(lambda: count() >= wanted, f"{wanted} rows to arrive", HEALING_DEADLINE_S)


def _count(database: SampleDatabase) -> int:
    try:
        # They come in order, and this is asked often.
        return int(database.rows("SELECT coalesce(max(id), -1) + 1 FROM copies")[0][0])
    except DBAPIError:
        return 0


@pytest.mark.parametrize(("kind", "disaster", "exactly_once"), [("ours", _kill, False), ("kafka", _kill_tasks, True)])
def test_a_file_is_copied_whatever_dies(
    request: pytest.FixtureRequest,
    topic: str,
    tmp_path: Path,
    kind: str,
    disaster: Callable[[ConnectProcess], None],
    exactly_once: bool,
) -> None:
    broker: BrokerProcess = request.getfixturevalue({"ours": "quick_broker", "kafka": "apache_kafka"}[kind])
    sessions = QUICK_SESSIONS if kind == "ours" else {}
    consumer = QUICK_CONSUMER if kind == "ours" else {"consumer.override.session.timeout.ms": "6000"}
    start_worker: StartWorker = request.getfixturevalue("start_worker")
    file, copy = tmp_path / "lines.txt", tmp_path / "copy.txt"
    for each in (file, copy):
        each.touch()
    support = "enabled" if exactly_once else "disabled"
    worker = start_worker(broker.address, **sessions, exactly_once_source_support=support)
    create(broker.address, topic)
    worker.create("source", file_source(file, topic))
    worker.create("sink", file_sink(copy, topic, exactly_once=exactly_once, **consumer))

    def arrived() -> int:
        return len(set(copy.read_text().splitlines()))

    with growing_file(file) as taken:
        _await_growth(arrived, taken)
        disaster(worker)
    wait_for(lambda: arrived() >= taken(), "all lines to arrive", HEALING_DEADLINE_S)
    compare(lines(taken()), copy.read_text().splitlines(), exactly_once=exactly_once)


def test_a_worker_that_stops_when_kafka_has_gone_waits_for_no_task(
    quick_broker: BarnabasBroker, start_worker: StartWorker, tmp_path: Path, topic: str
) -> None:
    """Tasks may take longer to stop than the test has patience, but nothing can be committed any more."""
    file, copy = tmp_path / "lines.txt", tmp_path / "copy.txt"
    for each in (file, copy):
        each.touch()
    patience_ms = int(2 * STOP_DEADLINE_S * 1000)
    worker = start_worker(quick_broker.address, task_shutdown_graceful_timeout_ms=patience_ms)
    create(quick_broker.address, topic)
    worker.create("source", file_source(file, topic))
    worker.create("sink", file_sink(copy, topic, exactly_once=False))
    with growing_file(file) as taken:
        _await_growth(lambda: len(copy.read_text().splitlines()), taken)
        quick_broker.kill()
        assert worker.stop() == 0
