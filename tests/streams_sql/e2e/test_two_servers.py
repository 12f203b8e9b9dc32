"""Two servers of one service: one runs the queries, the other answers reads, hands changes on, and takes over."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker import QUICK_GROUPS, BarnabasBroker
from tests.conftest import StartBroker
from tests.process_tree import is_alive
from tests.sql_service import SqlProcess
from tests.streams_sql.e2e.deadlines import RESULTS_S, TEST_S
from tests.streams_sql.e2e.order_results import OrderResults
from tests.streams_sql.e2e.order_topics import OrderTopics
from tests.streams_sql.e2e.sample_orders import Expected, queries, statements
from tests.streams_sql.e2e.spark_processes import SparkProcesses, wait_until_gone
from tests.waiting import wait_for

pytestmark = pytest.mark.timeout(TEST_S)

ORDERS_BETWEEN = 50
LEADS = "runs the queries"
"""In the log of a server that was elected."""
RUN = ("BIG", "PER_USER")
SETTINGS = {"ksql.service.id": "pair_", "ksql.streams.session.timeout.ms": "6000"}

Pair = tuple[SqlProcess, SqlProcess]


@pytest.fixture
def own_broker(start_broker: StartBroker) -> BarnabasBroker:
    return start_broker(**{name.replace(".", "_"): value for name, value in QUICK_GROUPS.items()})


@pytest.fixture
def pair(own_broker: BarnabasBroker, spark_jars: Path, tmp_path: Path) -> Iterator[Pair]:
    """The first one leads, since it was there first."""
    shared = {**SETTINGS, "sql.checkpoint.uri": str(tmp_path / "checkpoints")}
    first, second = (
        SqlProcess(tmp_path / name, own_broker.address, "", settings=shared) for name in ("first", "second")
    )
    first.start()
    wait_for(lambda: LEADS in first.log.read_text(), "the first server to lead")
    second.start()
    yield first, second
    for server in (first, second):
        if server.is_running():
            os.kill(server.pid, signal.SIGCONT)
            server.stop()


def test_the_other_server_takes_over_from_one_that_sleeps_and_from_one_that_dies(
    own_broker: BarnabasBroker, pair: Pair
) -> None:
    first, second = pair
    topics = OrderTopics(own_broker.address, "")
    first.execute(statements(""))
    # Changes may be sent to any server.
    _execute(second, queries("", RUN))
    results = OrderResults(own_broker.address, "", RUN)
    with topics.growing() as written:
        results.wait_until_covers(written() + ORDERS_BETWEEN)
        _answers_alike(first, second)
        _sleep_through_an_election(first, second)
        results.wait_until_covers(written() + ORDERS_BETWEEN)
        _wake(first, second)
        _execute(first, "CREATE STREAM MADE_LATER AS SELECT * FROM ORDERS WHERE AMOUNT > 900;")
        _answers_alike(first, second)
        second.kill()
        wait_for(lambda: first.log.read_text().count(LEADS) == 2, "the first server to lead again", RESULTS_S)
        results.wait_until_covers(written() + ORDERS_BETWEEN)
    results.compare(written())
    expected = Expected.of(written()).table("PER_USER")
    first.wait_for_rows(
        "SELECT USER_ID, ORDERED, TOTAL FROM PER_USER;", [[*key, *row] for key, row in expected.items()]
    )
    results.close()


def _sleep_through_an_election(sleeper: SqlProcess, other: SqlProcess) -> None:
    """A server that sleeps cannot stop its Spark, which has to be gone all the same before the other one runs the queries."""
    java = SparkProcesses(sleeper.pid).java()
    os.kill(sleeper.pid, signal.SIGSTOP)
    wait_for(lambda: LEADS in other.log.read_text(), "the other server to lead", RESULTS_S)
    assert not is_alive(java)


def _wake(sleeper: SqlProcess, leader: SqlProcess) -> None:
    """It has slept in the belief that it leads, and must neither write commands nor run queries."""
    os.kill(sleeper.pid, signal.SIGCONT)
    # Whether it hands this on or refuses it: it does not write it.
    answer = sleeper.post("/ksql", {"ksql": "CREATE STREAM AT_ONCE AS SELECT * FROM ORDERS WHERE AMOUNT > 950;"})
    assert answer.status_code in (200, 503), answer.text
    led = f"is led by {leader.url}"
    wait_for(lambda: led in sleeper.log.read_text(), "the sleeper to follow", RESULTS_S)
    assert sleeper.log.read_text().count(LEADS) == 1


def _execute(server: SqlProcess, text: str) -> None:
    """Changes may be sent to any server; while they agree on who leads, they are asked to wait."""

    def is_done() -> bool:
        answer = server.post("/ksql", {"ksql": text, "streamsProperties": {"auto.offset.reset": "earliest"}})
        assert answer.status_code in (200, 503), answer.text
        return answer.status_code == 200

    wait_for(is_done, text, RESULTS_S)


def _answers_alike(*servers: SqlProcess) -> None:
    def listed(server: SqlProcess) -> list[str]:
        streams, tables, queries = server.execute("SHOW STREAMS; SHOW TABLES; SHOW QUERIES;")
        return [
            *(row["name"] for row in (*streams["streams"], *tables["tables"])),
            *(row["id"] for row in queries["queries"]),
        ]

    first, second = map(listed, servers)
    assert first == second
    for server in servers:
        assert len(server.rows("SELECT * FROM PER_USER WHERE USER_ID = 'user-1';")) == 1


def test_a_server_that_stops_hands_over_when_nothing_runs_in_it_any_more(
    own_broker: BarnabasBroker, pair: Pair
) -> None:
    first, second = pair
    started = SparkProcesses(first.pid).all()
    assert first.stop() == 0
    wait_until_gone(started)
    wait_for(lambda: LEADS in second.log.read_text(), "the second server to lead")
