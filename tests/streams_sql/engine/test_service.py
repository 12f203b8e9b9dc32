"""Queries as a service, as a client of the server sees them."""

from __future__ import annotations

import json
import secrets
import time
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
    # What was written since the last checkpoint is written once more; a record whose number is out of range is passed over.
    wait_for(lambda: orders.values(sink, 3)[-1] == [6], "the last row", DEADLINE_S)
    out_of_range = "Number out of range: 1E+30: INTEGER holds"
    wait_for(lambda: out_of_range in str(sql.execute(f"SHOW ERRORS OF {query_id};")), "the error", DEADLINE_S)
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


def test_aggregates_of_decimals_are_the_same_wherever_they_are_computed(
    sql: SqlProcess, barnabas: BarnabasBroker
) -> None:
    topics = Topics(barnabas.address, f"q{secrets.token_hex(4)}")
    topic, name = topics.create("in"), topics.prefix.upper()
    aggregates = "SUM(X) AS A, AVG(X) AS B, MAX(X) AS C, TOPK(X, 2) AS D"
    sql.execute(
        f"CREATE STREAM {name} (K STRING KEY, X DECIMAL(4, 2), Y DECIMAL(38, 0), N INT) "
        f"WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON');"
        f"CREATE TABLE {name}_SUMS AS SELECT K, {aggregates} FROM {name} GROUP BY K;"
    )
    query_id = sql.start_query(f"CREATE TABLE {name}_LONG AS SELECT K, SUM(Y) AS A FROM {name} GROUP BY K;")
    largest = 10**38 - 1
    rows = [
        {"X": 99.99, "Y": str(largest), "N": 1},
        {"X": 21.01, "Y": "1", "N": 2},
        {"N": 99999999999},
    ]
    topics.write(topic, [("k", row, 1) for row in rows])
    expected = [["k", 121.0, 60.5, 99.99, [99.99, 21.01]]]
    sql.wait_for_rows(f"SELECT * FROM {name}_SUMS;", expected)
    assert sql.rows(f"SELECT K, {aggregates} FROM {name} GROUP BY K;") == expected
    assert sql.rows(f"SELECT SUM(A), AVG(A) FROM {name}_SUMS;") == [[121.0, 121.0]]
    sql.wait_for_rows(f"SELECT * FROM {name}_LONG;", [["k", None]])
    overflow = f"Numeric field overflow: A field with precision 38 and scale 0 must round to an absolute value less than 10^38. Got {largest + 1}"
    reasons = f"SUM(`Y`) gave NULL: {overflow}", "Number out of range: 99999999999: INTEGER holds"

    def are_reported() -> bool:
        errors = str(sql.execute(f"SHOW ERRORS OF {query_id};"))
        return all(reason in errors for reason in reasons)

    wait_for(are_reported, "reports of what is out of range", DEADLINE_S)
    answer = sql.post(
        "/query-stream", {"sql": f"SELECT SUM(Y) FROM {name};", "properties": {"auto.offset.reset": "earliest"}}
    )
    assert f"SUM(`Y`) cannot be computed: {overflow}" in answer.text
    topics.write(topic, [("k", {"X": 0, "Y": "-2"}, 1)])
    sql.wait_for_rows(f"SELECT * FROM {name}_LONG;", [["k", largest - 1]])


def test_a_table_can_be_read_as_soon_as_its_statement_is_acknowledged(orders: Orders) -> None:
    """Whatever was dropped just before, and under whatever name."""
    sql = orders.sql

    def created(table: str, column: str) -> list[list[Any]]:
        sql.execute(f"CREATE TABLE {table} AS SELECT K, COUNT(*) AS {column} FROM {orders.name} GROUP BY K;")
        return sql.rows(f"SELECT K, {column} FROM {table};")

    first, second = f"{orders.name}_FIRST", f"{orders.name}_SECOND"
    assert created(first, "N") == []
    sql.execute(f"DROP TABLE {first} DELETE TOPIC;")
    assert created(second, "N") == []
    sql.execute(f"DROP TABLE {second} DELETE TOPIC;")
    assert created(second, "M") == []
    sql.execute(f"DROP TABLE {second} DELETE TOPIC;")


def answered(sql: SqlProcess, text: str) -> tuple[list[str], list[list[Any]]]:
    """The notes and the rows of a pull query."""
    answer = sql.post("/query-stream", {"sql": text})
    assert answer.status_code == 200, answer.text
    head, *rows = map(json.loads, answer.text.splitlines())
    return head.get("notes", []), rows


def test_no_partial_result_is_without_a_note(orders: Orders) -> None:
    """Neither while the query of a table catches up, nor while the one that writes its source does, nor its view."""
    sql, count = orders.sql, 1_000
    orders.write(*range(count))
    middle, table = f"{orders.name}_MIDDLE", f"{orders.name}_COUNTED"
    batches = {"sql_batch_max_records": "250"}
    first = sql.start_query(f"CREATE STREAM {middle} AS SELECT * FROM {orders.name};", **batches)
    second = sql.start_query(f"CREATE TABLE {table} AS SELECT K, COUNT(*) AS N FROM {middle} GROUP BY K;", **batches)

    def is_complete() -> bool:
        notes, rows = answered(sql, f"SELECT N FROM {table};")
        assert notes or rows == [[count]]
        return not notes

    wait_for(is_complete, "the table to be complete", DEADLINE_S)
    listed = {query["id"]: query for query in sql.execute("SHOW QUERIES;")[0]["queries"]}
    assert [listed[each]["progress"] for each in (first, second)] == [
        {"recordsBehind": 0, "percent": 100, "isComplete": True}
    ] * 2
    (described,) = sql.execute(f"DESCRIBE {table} EXTENDED;")
    assert described["warnings"] == []
    (summary,) = described["sourceDescription"]["queryOffsetSummaries"]
    offsets = {"partition": 0, "logStartOffset": 0, "logEndOffset": count, "consumerOffset": count}
    assert summary == {"groupId": second, "topicSummaries": [{"kafkaTopic": middle, "offsets": [offsets]}]}
    sql.execute(f"DROP TABLE {table}; DROP STREAM {middle};")


def test_a_join_with_a_table_whose_rows_are_later_says_why_nothing_matches(orders: Orders) -> None:
    sql, sink, table = orders.sql, orders.sink("out"), f"{orders.name}_T"
    topic = orders.topics.create("table")
    orders.write(1, 2, 3)
    orders.topics.write(topic, [("k", {"b": 1}, 5_000)])
    sql.execute(
        f"CREATE TABLE {table} (K STRING PRIMARY KEY, B INT) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON');"
    )
    query_id = orders.query(sink, f"SELECT S.K, A, B FROM {orders.name} S LEFT JOIN {table} T ON S.K = T.K")
    assert orders.values(sink, 3) == [[1, None], [2, None], [3, None]]
    said = f"Query {query_id}: 0 of 3 rows of {orders.name} matched: "

    def has_said(statement: str) -> bool:
        return any(each["message"].startswith(said) for each in sql.execute(statement)[0]["warnings"])

    wait_for(lambda: has_said("SHOW QUERIES;"), "the warning")
    assert has_said(f"DESCRIBE {orders.name}_OUT;")
    assert has_said(f"EXPLAIN {query_id};")
    # Nothing has failed.
    assert sql.execute(f"SHOW ERRORS FOR {query_id};")[0]["counts"] == {query_id: {}}


def warnings_of(sql: SqlProcess, text: str) -> list[str]:
    return [warning["message"] for warning in sql.execute(text)[0]["warnings"]]


def test_a_query_over_a_topic_with_records_warns_of_them(orders: Orders) -> None:
    """A table that was dropped without its topic, and is created again, shows the rows of the former query."""
    sql, topics, name = orders.sql, orders.topics, orders.name
    for kind, shows in (("TABLE", "shows until the query writes rows with their keys"), ("STREAM", "shows")):
        source, sink = f"{name}_OVER_{kind}", orders.sink(f"over_{kind.lower()}")
        select = f"K, COUNT(*) AS N FROM {name} GROUP BY K" if kind == "TABLE" else f"* FROM {name}"
        create = f"CREATE {kind} {source} WITH (KAFKA_TOPIC='{sink}') AS SELECT {select};"
        assert warnings_of(sql, create) == []
        sql.execute(f"DROP {kind} {source};")
        topics.write(sink, [("k", {"n": 7}, time.time_ns() // 1_000_000)])
        (warning,) = warnings_of(sql, create)
        assert warning.startswith(f"Topic {sink} already contains 1 records, which {source} {shows}. To start")
        assert f"DROP {kind} {source} DELETE TOPIC" in warning
        sql.execute(f"DROP {kind} {source};")


def test_rows_that_the_retention_of_their_topic_deletes_are_warned_of(orders: Orders) -> None:
    """By the timestamps of records, and by those of a column."""
    sql, name = orders.sql, orders.name
    orders.write(1, 2)
    sql.execute(
        f"CREATE STREAM {name}_TIMED (K STRING KEY, A BIGINT) "
        f"WITH (KAFKA_TOPIC='{orders.topic}', VALUE_FORMAT='JSON', TIMESTAMP='A');"
    )
    for source, what in ((name, f"2 of 2 records of {name} are"), (f"{name}_TIMED", f"{name}_TIMED has rows that are")):
        sink = f"{source}_SINK"
        (warning,) = warnings_of(sql, f"CREATE STREAM {sink} AS SELECT * FROM {source};")
        assert warning.startswith(f"{what} older than retention.ms=604800000 of topic {sink}, before 20")
        assert "RETENTION_MS" in warning
        assert any("older than retention.ms=604800000" in each for each in warnings_of(sql, f"DESCRIBE {sink};"))
    forever = f"CREATE STREAM {name}_FOREVER WITH (RETENTION_MS=-1) AS SELECT * FROM {name};"
    assert warnings_of(sql, forever) == []
    assert warnings_of(sql, f"CREATE TABLE {name}_N AS SELECT K, COUNT(*) AS N FROM {name} GROUP BY K;") == []
    assert not any("retention" in each for each in warnings_of(sql, f"DESCRIBE {name}_FOREVER;"))
    for made in (f"STREAM {name}_SINK", f"STREAM {name}_TIMED_SINK", f"STREAM {name}_FOREVER", f"TABLE {name}_N"):
        sql.execute(f"DROP {made};")
