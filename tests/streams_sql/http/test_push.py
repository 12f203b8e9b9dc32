"""Push queries of a real server: what comes, how it ends, and what is left of it."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from tests.broker import BarnabasBroker
from tests.clients.confluent_client import AdminClient
from tests.sql_service import QUERY_DEADLINE_S, SqlProcess
from tests.streams_sql.http.listening import Listener, listening, push_ids
from tests.streams_sql.views.written_topic import WrittenTopic
from tests.waiting import wait_for

TRANSIENT = "transient_"


@pytest.fixture
def source(topic: str) -> str:
    """A name that no other test has."""
    return topic.upper().replace("-", "_")


@pytest.fixture
def written(barnabas: BarnabasBroker, topic: str) -> WrittenTopic:
    return WrittenTopic(barnabas.address, topic)


@pytest.fixture
def stream(sql_service: SqlProcess, written: WrittenTopic, source: str) -> str:
    written.write([("a", {"N": 1}), ("b", {"N": 2}), ("c", {"N": 3})])
    sql_service.execute(
        f"CREATE STREAM {source} (ID VARCHAR KEY, N INT) WITH (KAFKA_TOPIC='{written.name}', VALUE_FORMAT='JSON');"
    )
    return source


def ended(sql_service: SqlProcess, sql: str, **properties: str) -> list[dict[str, Any]]:
    """Everything behind the header of a query that ends."""
    body = {"ksql": sql, "streamsProperties": {"auto.offset.reset": "earliest", **properties}}
    answer = sql_service.post("/query", body)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()[1:]
    return found


def rows(listener: Listener, count: int) -> list[list[Any]]:
    return [listener.row() for _ in range(count)]


def test_rows_come_as_they_are_written(sql_service: SqlProcess, written: WrittenTopic, stream: str) -> None:
    with listening(sql_service, f"SELECT ID, N * 2 AS TWICE FROM {stream} WHERE N <> 2 EMIT CHANGES;") as listener:
        assert listener.header["schema"] == "`ID` STRING, `TWICE` INTEGER"
        assert rows(listener, 2) == [["a", 2], ["c", 6]]
        written.write([("d", {"N": 4})])
        assert listener.row() == ["d", 8]
        assert listener.query_id.startswith(f"{TRANSIENT}{stream}_")


def test_by_default_only_what_comes_from_now_on_is_told(
    sql_service: SqlProcess, written: WrittenTopic, stream: str
) -> None:
    latest = {"auto.offset.reset": "latest"}
    with listening(sql_service, f"SELECT * FROM {stream} EMIT CHANGES;", **latest) as listener:
        written.write([("d", {"N": 4})])
        assert listener.row() == ["d", 4]


def test_a_query_with_a_limit_says_that_it_waits_for_new_records(
    sql_service: SqlProcess, written: WrittenTopic, stream: str
) -> None:
    select = f"SELECT N FROM {stream} EMIT CHANGES LIMIT 1;"
    with listening(sql_service, select, **{"auto.offset.reset": "latest"}) as listener:
        (note,) = listener.header["notes"]
        assert note.startswith("The query starts at the end of its topics and waits for new records.")
        written.write([("d", {"N": 4})])
        assert listener.row() == [4]
    with listening(sql_service, select) as listener:
        assert "notes" not in listener.header


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_a_limit_ends_the_query(sql_service: SqlProcess, stream: str, limit: int) -> None:
    found = ended(sql_service, f"SELECT N FROM {stream} EMIT CHANGES LIMIT {limit};")
    wanted: list[dict[str, Any]] = [{"row": {"columns": [number]}} for number in range(1, limit + 1)]
    assert found == [*wanted, {"finalMessage": "Limit Reached"}]


def test_records_of_a_stream_end_where_the_topic_does(sql_service: SqlProcess, stream: str) -> None:
    *rows, last = ended(sql_service, f"SELECT N FROM {stream};")
    assert rows == [{"row": {"columns": [number]}} for number in (1, 2, 3)]
    assert (last["finalMessage"], last["figures"]["records"]) == ("Query Completed", 3)
    (last,) = ended(sql_service, f"SELECT N FROM {stream} LIMIT 2;")[2:]
    assert last["finalMessage"] == "Limit Reached"


def test_records_without_a_value_and_poison_are_no_rows_of_a_stream(
    sql_service: SqlProcess, written: WrittenTopic, stream: str
) -> None:
    written.write([("x", None), ("y", b"{no json"), ("z", {"N": 9})])
    assert sql_service.rows(f"SELECT ID FROM {stream} EMIT CHANGES LIMIT 4;") == [["a"], ["b"], ["c"], ["z"]]


def test_what_a_table_loses_is_told_with_its_key_alone(
    sql_service: SqlProcess, written: WrittenTopic, source: str
) -> None:
    sql_service.execute(
        f"CREATE TABLE {source} (ID VARCHAR PRIMARY KEY, N INT) WITH (KAFKA_TOPIC='{written.name}', VALUE_FORMAT='JSON');"
    )
    written.write([("a", {"N": 1}), ("a", None), ("b", {"N": 9}), ("c", {"N": 2})])
    sql = f"SELECT N, COALESCE(N, 7) AS M, ID AS K FROM {source} WHERE N < 5 EMIT CHANGES LIMIT 4;"
    assert ended(sql_service, sql) == [
        {"row": {"columns": [1, 1, "a"]}},
        {"row": {"columns": [None, None, "a"], "tombstone": True}},
        {"row": {"columns": [None, None, "b"], "tombstone": True}},
        {"row": {"columns": [2, 2, "c"]}},
        {"finalMessage": "Limit Reached"},
    ]
    assert sql_service.rows(sql) == [[1, 1, "a"], [2, 2, "c"]]


def test_rows_of_a_windowed_table_have_their_bounds(
    sql_service: SqlProcess, written: WrittenTopic, source: str
) -> None:
    written.write([(b"a" + struct.pack(">q", 60_000), {"N": 1}), (b"a" + struct.pack(">q", 60_000), None)])
    sql_service.execute(
        f"CREATE TABLE {source} (ID VARCHAR PRIMARY KEY, N INT) WITH (KAFKA_TOPIC='{written.name}', VALUE_FORMAT='JSON', "
        "WINDOW_TYPE='TUMBLING', WINDOW_SIZE='1 MINUTE');"
    )
    sql = f"SELECT ID, WINDOWSTART, WINDOWEND, N FROM {source} EMIT CHANGES LIMIT 2;"
    assert ended(sql_service, sql)[:2] == [
        {"row": {"columns": ["a", 60_000, 120_000, 1]}},
        {"row": {"columns": ["a", 60_000, 120_000, None], "tombstone": True}},
    ]


def test_a_query_is_listed_until_it_is_closed(sql_service: SqlProcess, stream: str) -> None:
    with listening(sql_service, f"SELECT * FROM {stream} EMIT CHANGES;") as listener:
        rows(listener, 3)
        assert listener.query_id in push_ids(sql_service)
        assert sql_service.post("/close-query", {"queryId": listener.query_id}).status_code == 200
        assert listener.take() == {"finalMessage": "Query Completed"}
        assert listener.query_id not in push_ids(sql_service)
        assert sql_service.post("/close-query", {"queryId": listener.query_id}).status_code == 400


def test_terminate_ends_it_too(sql_service: SqlProcess, stream: str) -> None:
    with listening(sql_service, f"SELECT * FROM {stream} EMIT CHANGES;") as listener:
        rows(listener, 3)
        (answer,) = sql_service.execute(f"TERMINATE {listener.query_id};")
        assert answer["@type"] == "terminate_query"
        assert (answer["queryId"], answer["wasTerminated"]) == (listener.query_id, True)
        assert listener.take() == {"finalMessage": "Query Completed"}


def test_a_client_that_leaves_ends_its_query(sql_service: SqlProcess, stream: str) -> None:
    with listening(sql_service, f"SELECT * FROM {stream} EMIT CHANGES;") as listener:
        rows(listener, 3)
    wait_for(lambda: listener.query_id not in push_ids(sql_service), "the query to end")


def test_a_topic_that_is_not_there_is_told(sql_service: SqlProcess, written: WrittenTopic, stream: str) -> None:
    written.delete()
    answer = sql_service.post("/query-stream", {"sql": f"SELECT * FROM {stream} EMIT CHANGES;"})
    assert (answer.status_code, answer.json()["error_code"]) == (503, 50300)
    assert f"Topic {written.name} cannot be read" in answer.json()["message"]
    assert not [each for each in push_ids(sql_service) if stream in each]


def test_a_query_with_state_runs_on_spark_while_somebody_listens(
    sql_service: SqlProcess, barnabas: BarnabasBroker, written: WrittenTopic, stream: str
) -> None:
    admin = AdminClient({"bootstrap.servers": barnabas.address})

    def topics() -> set[str]:
        return {name for name in admin.list_topics(timeout=90).topics if TRANSIENT in name}

    before = topics()
    sql = f"SELECT N % 2 AS ODD, COUNT(*) AS C, SUM(N) AS S FROM {stream} GROUP BY N % 2 EMIT CHANGES;"
    with listening(sql_service, sql) as listener:
        assert sorted(rows(listener, 2)) == [[0, 1, 2], [1, 2, 4]]
        written.write([("d", {"N": 5})])
        assert listener.row() == [1, 3, 9]
        assert len(topics() - before) == 1
    wait_for(lambda: topics() <= before, "the topic of its rows to be gone", QUERY_DEADLINE_S)
    left = f"**/*{listener.query_id.rpartition('_')[2]}*"

    def is_clean() -> bool:
        try:
            return not list(sql_service.home.glob(left))
        except FileNotFoundError:
            # A folder goes while it is looked into.
            return False

    wait_for(is_clean, "its checkpoints to be gone")


def test_what_goes_wrong_in_spark_is_told_to_who_listens(sql_service: SqlProcess, stream: str) -> None:
    sql = f"SELECT N, COUNT(*) AS C FROM {stream} GROUP BY N EMIT CHANGES;"
    with listening(sql_service, sql, **{"spark.sql.shuffle.partitions": "no number"}) as listener:
        error = listener.take()["errorMessage"]
        assert error["@type"] == "generic_error"
        assert "no number" in error["message"]


def test_what_spark_has_no_operator_for_runs_in_the_server(
    sql_service: SqlProcess, written: WrittenTopic, stream: str
) -> None:
    """Aggregates over a table take back what a row was, and sessions grow together."""
    table = f"{stream}_T"
    sql_service.execute(
        f"CREATE TABLE {table} (ID VARCHAR PRIMARY KEY, N INT) WITH (KAFKA_TOPIC='{written.name}', VALUE_FORMAT='JSON');"
    )
    sums = f"SELECT N % 2 AS ODD, SUM(N) AS TOTAL FROM {table} GROUP BY N % 2 EMIT CHANGES;"
    with listening(sql_service, sums) as listener:
        assert rows(listener, 3) == [[1, 1], [0, 2], [1, 4]]
        written.write([("a", {"N": 4})])
        assert rows(listener, 2) == [[1, 3], [0, 6]]
    sessions = f"SELECT COUNT(*) AS C FROM {stream} WINDOW SESSION (1 MINUTE) GROUP BY 'all' EMIT CHANGES LIMIT 1;"
    assert ended(sql_service, sessions)[0]["row"]["columns"] == [1]
