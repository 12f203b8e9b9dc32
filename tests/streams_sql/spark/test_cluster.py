"""Queries on a Spark cluster: a standalone master with one worker."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from streams_sql.spark.driver.messages import Open, Unavailable
from streams_sql.spark.driver.process import Driver
from streams_sql.spark.sources.broker_access import KafkaAccess
from tests.broker import BarnabasBroker
from tests.sql_service import QUICK_JAVA, QUICK_SPARK, SqlProcess
from tests.streams_sql.spark.cluster import SparkMaster, SparkWorker
from tests.streams_sql.spark.query_runs import Topics
from tests.streams_sql.spark.test_driver_process import Told

TEST_DEADLINE_S = 600
SMALL = {"spark.executor.memory": "512m", "spark.cores.max": "2", "spark.executor.extraJavaOptions": QUICK_JAVA}


@pytest.fixture(scope="module")
def master(java: Path, spark_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    os.environ["JAVA_HOME"] = str(java.parent.parent)
    master = SparkMaster(tmp_path_factory.mktemp("master"))
    master.start()
    worker = SparkWorker(tmp_path_factory.mktemp("worker"), master)
    try:
        worker.start()
        yield master.address
    finally:
        worker.kill()
        master.kill()


@pytest.mark.timeout(TEST_DEADLINE_S)
def test_queries_run_on_a_cluster(master: str, barnabas: BarnabasBroker, tmp_path: Path) -> None:
    topics = Topics(barnabas.address, f"c{secrets.token_hex(4)}")
    topic = topics.create("in", 2)
    shared = tmp_path / "shared"
    settings = {
        "spark.master": master,
        "sql.checkpoint.uri": shared.as_uri(),
        "ksql.service.id": f"{topics.prefix}_",
        **SMALL,
    }
    sql = SqlProcess(tmp_path / "sql", barnabas.address, "", settings=settings)
    sql.start()
    try:
        prefix = topics.prefix.upper()
        sql.execute(f"CREATE STREAM {prefix}S (K STRING KEY, A INT) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON');")
        rows = sql.start_query(f"CREATE STREAM {prefix}R AS SELECT K, A * 2 AS B FROM {prefix}S WHERE A > 1;")
        counts = sql.start_query(f"CREATE TABLE {prefix}T AS SELECT K, COUNT(*) AS N FROM {prefix}S GROUP BY K;")
        topics.write(topic, [("a", {"a": 1}, 1), ("a", {"a": 2}, 2), ("b", {"a": 3}, 3)])
        sql.wait_for_rows(f"SELECT K, N FROM {prefix}T;", [["a", 2], ["b", 1]])
        assert sorted(row[-1] for row in sql.rows(f"SELECT * FROM {prefix}R EMIT CHANGES LIMIT 2;")) == [4, 6]
        assert {rows, counts} <= {entry.name for entry in (shared / f"{topics.prefix}_").iterdir()}
        sql.execute(f"DROP TABLE {prefix}T;")
    finally:
        sql.stop()


@pytest.mark.timeout(TEST_DEADLINE_S)
def test_executors_without_what_queries_need_are_told_at_start(master: str, barnabas: BarnabasBroker) -> None:
    bare = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    settings = {**QUICK_SPARK, **SMALL, "spark.pyspark.python": str(bare)}
    asyncio.run(be_told_what_executors_lack(master, barnabas.address, settings))


async def be_told_what_executors_lack(master: str, address: str, settings: dict[str, str]) -> None:
    told = Told()
    driver = Driver(Open(master, settings, KafkaAccess(address)), told.events.append)
    driver.start()
    try:
        reason = (await told.next(Unavailable)).reason
    finally:
        await driver.stop()
    assert reason.startswith("The machines of the Spark cluster cannot run queries: ")
    assert "Install barnabas[sql]" in reason


def test_a_cluster_needs_a_place_for_checkpoints_that_it_shares(barnabas: BarnabasBroker, tmp_path: Path) -> None:
    settings = {"spark.master": "spark://somewhere:7077"}
    sql = SqlProcess(tmp_path / "sql", barnabas.address, "", settings=settings)
    with pytest.raises(AssertionError):
        sql.start()
    assert "sql.checkpoint.uri" in sql.log.read_text()
    assert "whose machines cannot see" in sql.log.read_text()
