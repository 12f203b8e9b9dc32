"""A disk without a byte to spare, under the checkpoints and the views of a server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.broker import BarnabasBroker
from tests.small_disk import SmallDisk, mounted
from tests.sql_service import SqlProcess
from tests.streams_sql.e2e.deadlines import RESULTS_S, TEST_S
from tests.streams_sql.e2e.order_results import OrderResults
from tests.streams_sql.e2e.order_topics import OrderTopics
from tests.streams_sql.e2e.sample_orders import Expected, queries, statements
from tests.waiting import wait_for

pytestmark = pytest.mark.timeout(TEST_S)

DISK_BYTES = 16 * 1024 * 1024
FULL = "no space left on device"
VIEW = "SELECT USER_ID, ORDERED, TOTAL FROM PER_USER;"


@dataclass(frozen=True, slots=True)
class Disks:
    views: SmallDisk
    checkpoints: SmallDisk


@pytest.fixture
def disks(tmp_path: Path) -> Iterator[Disks]:
    with mounted(tmp_path / "views", DISK_BYTES) as views, mounted(tmp_path / "checkpoints", DISK_BYTES) as checkpoints:
        yield Disks(views, checkpoints)


@pytest.fixture
def server(
    disks: Disks, barnabas: BarnabasBroker, spark_jars: Path, tmp_path: Path, topic: str
) -> Iterator[SqlProcess]:
    settings = {
        "ksql.service.id": topic,
        "sql.checkpoint.uri": str(disks.checkpoints.path),
        "sql.data.dir": str(disks.views.path / "data"),
        # What Spark writes while it runs lies elsewhere, so that each disk is full for one reason.
        "spark.local.dir": str(tmp_path),
    }
    made = SqlProcess(tmp_path / "sql", barnabas.address, "", settings=settings)
    made.start()
    yield made
    made.stop()


def test_a_full_disk_is_told_and_queries_and_views_go_on_when_there_is_room(
    server: SqlProcess, disks: Disks, barnabas: BarnabasBroker, topic: str
) -> None:
    prefix = f"{topic}-"
    topics = OrderTopics(barnabas.address, prefix)
    server.execute(statements(prefix))
    query = server.start_query(queries(prefix, ("PER_USER",)))
    results = OrderResults(barnabas.address, prefix, ("PER_USER",))
    topics.write_orders(0, 100)
    results.compare(100)
    server.wait_for_rows(VIEW, _rows(100))

    disks.views.fill()
    topics.write_orders(100, 5_000)
    results.compare(5_000)
    wait_for(lambda: "disk is full" in _described(server), "the error of the view", RESULTS_S)
    # It answers with what it has.
    assert len(server.rows(VIEW)) == len(_rows(100))
    disks.views.make_room()
    server.wait_for_rows(VIEW, _rows(5_000))
    assert "disk is full" not in _described(server)

    disks.checkpoints.fill()
    topics.write_orders(5_000, 5_100)
    wait_for(lambda: FULL in str(server.query(query)["queryErrors"]).lower(), "the error of the query", RESULTS_S)
    disks.checkpoints.make_room()
    topics.write_orders(5_100, 5_200)
    results.compare(5_200)
    server.wait_for_rows(VIEW, _rows(5_200))
    results.close()


def _described(server: SqlProcess) -> str:
    return str(server.execute("DESCRIBE PER_USER EXTENDED;")).lower()


def _rows(count: int) -> list[list[object]]:
    return [[*key, *row] for key, row in Expected.of(count).table("PER_USER").items()]
