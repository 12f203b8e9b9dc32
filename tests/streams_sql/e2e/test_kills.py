"""Everything that can be killed is killed while queries run; afterwards the results are compared with a recomputation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.broker import QUICK_GROUPS
from tests.conftest import StartBroker
from tests.process_tree import descendants
from tests.sql_service import SqlProcess
from tests.streams_sql.e2e.deadlines import TEST_S
from tests.streams_sql.e2e.order_results import OrderResults
from tests.streams_sql.e2e.order_topics import OrderTopics
from tests.streams_sql.e2e.sample_orders import Expected, queries, statements
from tests.streams_sql.e2e.spark_processes import SparkProcesses, kill, wait_until_gone
from tests.waiting import wait_for

pytestmark = pytest.mark.timeout(TEST_S)

ORDERS_BETWEEN = 50
"""How many orders must come through between two disasters."""


def test_results_are_whole_whatever_is_killed(start_broker: StartBroker, spark_jars: Path, tmp_path: Path) -> None:
    broker = start_broker(**{name.replace(".", "_"): value for name, value in QUICK_GROUPS.items()})
    # A server that was killed is missed when its session is over.
    sql = SqlProcess(tmp_path / "sql", broker.address, "", settings={"ksql.streams.session.timeout.ms": "6000"})
    topics = OrderTopics(broker.address, "")

    def kill_spark() -> None:
        """Java, and then the driver process, which another one has followed by then."""
        spark = SparkProcesses(sql.pid)
        first = spark.driver()
        kill(spark.java())
        second = wait_for(lambda: driver if (driver := spark.driver()) != first else None, "another driver process")
        started = {second, *descendants(second)}
        kill(second)
        wait_until_gone({first, *started})

    def kill_broker() -> None:
        broker.kill()
        broker.start()

    def kill_server() -> None:
        started = SparkProcesses(sql.pid).all()
        sql.kill()
        wait_until_gone(started)
        sql.start()

    disasters: tuple[Callable[[], None], ...] = (kill_spark, kill_broker, kill_server)
    sql.start()
    try:
        sql.execute(statements(""))
        topics.write_users()
        sql.execute(queries(""))
        results = OrderResults(broker.address, "")
        with topics.growing() as written:
            for disaster in disasters:
                results.wait_until_covers(written() + ORDERS_BETWEEN)
                disaster()
            results.wait_until_covers(written() + ORDERS_BETWEEN)
        results.compare(written())
        expected = Expected.of(written())
        sql.wait_for_rows("SELECT USER_ID, ORDERED, TOTAL FROM PER_USER;", _rows(expected.table("PER_USER")))
        sql.wait_for_rows(
            "SELECT USER_ID, WINDOWSTART, ORDERED, TOTAL FROM PER_SECOND;", _rows(expected.table("PER_SECOND"))
        )
        results.close()
    finally:
        sql.stop()


def _rows(table: dict[tuple[object, ...], tuple[int, int]]) -> list[list[object]]:
    return [[*key, *row] for key, row in table.items()]
