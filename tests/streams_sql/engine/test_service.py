"""Queries as a service, as a client of the server sees them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.broker import BarnabasBroker
from tests.sql_service import SqlProcess
from tests.streams_sql.spark.query_runs import Topics
from tests.waiting import wait_for

TEST_DEADLINE_S = 600
DEADLINE_S = 90.0

pytestmark = pytest.mark.timeout(TEST_DEADLINE_S)


@pytest.fixture(scope="module")
def sql(barnabas: BarnabasBroker, spark_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlProcess]:
    home = tmp_path_factory.mktemp("sql")
    service = SqlProcess(home, barnabas.address, "", settings={"ksql.service.id": f"q{secrets.token_hex(4)}_"})
    service.start()
    yield service
    service.stop()


class Orders:
    """A stream with names that nobody else has."""

    def __init__(self, sql: SqlProcess, barnabas: BarnabasBroker) -> None:
        self.sql = sql
        self.topics = Topics(barnabas.address, f"q{secrets.token_hex(4)}")
        self.topic = self.topics.create("in")
        self.name = self.topics.prefix.upper()
        sql.execute(
            f"CREATE STREAM {self.name} (K STRING KEY, A INT) WITH (KAFKA_TOPIC='{self.topic}', VALUE_FORMAT='JSON');"
        )

    def sink(self, name: str) -> str:
        return self.topics.create(name)

    def query(self, sink: str, select: str, **properties: str) -> str:
        text = f"CREATE OR REPLACE STREAM {self.name}_OUT WITH (KAFKA_TOPIC='{sink}') AS {select};"
        return self.sql.start_query(text, **properties)

    def write(self, *numbers: int | bytes) -> None:
        values = [number if isinstance(number, bytes) else {"a": number} for number in numbers]
        self.topics.write(self.topic, [("k", value, 1) for value in values])

    def values(self, sink: str, count: int) -> list[Any]:
        return [list(found.value.values()) for found in self.topics.read(sink, count)]


@pytest.fixture
def orders(sql: SqlProcess, barnabas: BarnabasBroker) -> Orders:
    return Orders(sql, barnabas)


def await_batch(orders: Orders) -> None:
    """A query that is stopped before its first batch is done writes that again."""
    wait_for(
        lambda: (
            "input-rows"
            in orders.sql.execute(f"DESCRIBE {orders.name}_OUT EXTENDED;")[0]["sourceDescription"]["statistics"]
        ),
        "a batch",
    )


def test_a_query_that_is_paused_goes_on_where_it_was(orders: Orders) -> None:
    sql, sink = orders.sql, orders.sink("out")
    query_id = orders.query(sink, f"SELECT K, A FROM {orders.name}")
    orders.write(1)
    assert orders.values(sink, 1) == [[1]]
    await_batch(orders)
    sql.execute(f"PAUSE {query_id};")
    assert sql.query(query_id)["state"] == "PAUSED"
    orders.write(2)
    sql.execute(f"RESUME {query_id};")
    assert orders.values(sink, 2) == [[1], [2]]


def test_a_query_that_is_terminated_leaves_nothing_behind(orders: Orders) -> None:
    sql, sink = orders.sql, orders.sink("out")
    query_id = orders.query(sink, f"SELECT K, A FROM {orders.name}")
    orders.write(1)
    orders.values(sink, 1)
    checkpoints = sql.home / "data" / "sql" / "checkpoints"
    assert (checkpoints / query_id).exists()
    sql.execute(f"TERMINATE {query_id};")
    wait_for(lambda: not (checkpoints / query_id).exists(), "its checkpoint to be gone", DEADLINE_S)
    assert query_id not in {query["id"] for query in sql.execute("SHOW QUERIES;")[0]["queries"]}


def test_a_query_that_is_replaced_reads_nothing_twice_and_leaves_nothing_out(orders: Orders) -> None:
    sink = orders.sink("out")
    query_id = orders.query(sink, f"SELECT K, A FROM {orders.name} WHERE A < 10")
    orders.write(1, 20)
    assert orders.values(sink, 1) == [[1]]
    await_batch(orders)
    assert orders.query(sink, f"SELECT K, A, A * 2 AS B FROM {orders.name}") == query_id
    orders.write(30)
    assert orders.values(sink, 2) == [[1], [30, 60]]


def test_records_that_cannot_be_read_are_shown(orders: Orders) -> None:
    sql, sink = orders.sql, orders.sink("out")
    query_id = orders.query(sink, f"SELECT K, A FROM {orders.name}")
    orders.write(b"{", 2)
    assert orders.values(sink, 1) == [[2]]
    place = f"{orders.topic}, partition 0, offset 0: The value cannot be decoded"
    wait_for(lambda: any(place in error["errorMessage"] for error in sql.query(query_id)["queryErrors"]), place)
    described = sql.execute(f"DESCRIBE {orders.name} EXTENDED;")[0]["sourceDescription"]
    assert place in described["errorStats"]


def test_a_query_may_fail_at_a_record_that_cannot_be_read(orders: Orders) -> None:
    sql, sink = orders.sql, orders.sink("out")
    query_id = orders.query(sink, f"SELECT K, A FROM {orders.name}", ksql_fail_on_deserialization_error="true")
    orders.write(1, b"{")
    (error,) = sql.wait_for_state(query_id, "ERROR")["queryErrors"]
    assert f"The record: {orders.topic}, partition 0, offset 1: " in error["errorMessage"]
    assert "It is started again after 5 s." in error["errorMessage"]
    sql.execute(f"TERMINATE {query_id};")


def test_a_query_that_begins_now_misses_nothing_that_is_written_afterwards(orders: Orders) -> None:
    sink = orders.sink("out")
    orders.write(1)
    orders.query(sink, f"SELECT K, A FROM {orders.name}", auto_offset_reset="latest")
    # At once: Spark looks at the topic only later.
    orders.write(2)
    assert orders.values(sink, 1) == [[2]]


def test_a_query_runs_in_real_time_mode_until_a_record_needs_python(orders: Orders) -> None:
    sql, sink = orders.sql, orders.sink("out")
    query_id = orders.query(sink, f"SELECT K, A + 1 AS B FROM {orders.name} WHERE A > 0", sql_trigger_real_time="true")
    assert sql.query(query_id)["executionPlan"].startswith(
        "Runs in real-time mode: a checkpoint each 5000 ms, task slots: 1, writes at least once\n"
    )
    orders.write(1, b"no JSON", 0, 2)
    assert orders.values(sink, 2) == [[2], [3]]
    orders.write(b'{"a": 1e30}', 5)
    # What was written since the last checkpoint is written once more; a number that is too large wraps around.
    wait_for(lambda: orders.values(sink, 4)[-2:] == [[10**30 % 2**32 + 1], [6]], "the last two rows", DEADLINE_S)
    described = sql.query(query_id)
    assert described["executionPlan"].startswith(
        "Runs in batches each 200 ms, writes at least once; not in real-time mode: "
    )
    assert "a number in the JSON is longer than Spark reads exactly" in described["executionPlan"]


def test_what_cannot_run_in_real_time_mode_is_refused(orders: Orders) -> None:
    refused = orders.sql.post(
        "/ksql",
        {
            "ksql": f"CREATE TABLE {orders.name}_N AS SELECT K, COUNT(*) AS N FROM {orders.name} GROUP BY K;",
            "streamsProperties": {"sql.trigger.real.time": "true"},
        },
    )
    assert refused.status_code == 400
    assert "cannot run in real-time mode: it has an aggregate or a join" in refused.json()["message"]
