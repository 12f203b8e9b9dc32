"""A server that allows little: what it says when that is used up, and what clients get that do not read."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from barnabas.sql import Client, Refused
from tests.broker import BarnabasBroker
from tests.clients.confluent_client import AdminClient
from tests.sql_service import CALL_TIMEOUT_S, FROM_EARLIEST, SqlProcess
from tests.streams_sql.http.listening import listening, push_ids
from tests.streams_sql.views.written_topic import WrittenTopic
from tests.waiting import wait_for

PUSHES = 2
PULLS = 1
ROWS = 1_000
ENDED = "The server stops, and has ended this query. Ask again when it is back."


@pytest.fixture(scope="module")
def server(
    barnabas: BarnabasBroker, spark_jars: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SqlProcess]:
    settings = {
        "ksql.service.id": "budgets_",
        "ksql.max.push.queries": str(PUSHES),
        "ksql.query.pull.max.concurrent.requests": str(PULLS),
        "sql.pull.scan.max.rows": str(ROWS),
    }
    made = SqlProcess(tmp_path_factory.mktemp("budgets"), barnabas.address, "", settings=settings)
    made.start()
    yield made
    if made.is_running():
        made.stop()


@pytest.fixture
def stream(server: SqlProcess, barnabas: BarnabasBroker, topic: str) -> tuple[str, WrittenTopic]:
    written = WrittenTopic(barnabas.address, topic)
    name = topic.upper().replace("-", "_")
    server.execute(f"CREATE STREAM {name} (V VARCHAR) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON');")
    return name, written


def test_push_queries(server: SqlProcess, stream: tuple[str, WrittenTopic]) -> None:
    name, _ = stream
    sql = f"SELECT * FROM {name} EMIT CHANGES;"
    with listening(server, sql), listening(server, sql) as second:
        answer = server.post("/query-stream", {"sql": sql})
        assert (answer.status_code, answer.json()["error_code"]) == (400, 40003)
        assert f"Current push query count: {PUSHES}. Configured limit: {PUSHES}." in answer.json()["message"]
        server.execute(f"TERMINATE {second.query_id};")
        with listening(server, sql):
            assert len(push_ids(server)) == PUSHES
    wait_for(lambda: not push_ids(server), "all queries to end")


def test_prints(server: SqlProcess, stream: tuple[str, WrittenTopic]) -> None:
    _, written = stream
    body = {"ksql": f"PRINT '{written.name}';"}
    with ExitStack() as open_:
        for _ in range(PUSHES):
            open_.enter_context(
                httpx.stream("POST", f"{server.url}/query", json=body, timeout=CALL_TIMEOUT_S, trust_env=False)
            )
        answer = server.post("/query", body)
        assert (answer.status_code, answer.json()["error_code"]) == (400, 40003)
    ended = {"ksql": f"PRINT '{written.name}' LIMIT 0;"}
    wait_for(lambda: server.post("/query", ended).status_code == 200, "the places of those that left to be free")


def test_rows_that_a_pull_query_may_look_at(server: SqlProcess, stream: tuple[str, WrittenTopic]) -> None:
    name, written = stream
    written.write(("k", {"V": "x"}) for _ in range(2 * ROWS))
    for path, body in (
        ("/query-stream", {"sql": f"SELECT * FROM {name};"}),
        ("/query", {"ksql": f"SELECT V FROM {name};"}),
    ):
        answer = server.post(path, body)
        assert (answer.status_code, answer.json()["error_code"]) == (400, 40001)
        assert f"looks at more than {ROWS} rows" in answer.json()["message"]
    assert server.rows(f"SELECT V FROM {name} LIMIT 3;") == [["x"]] * 3


def test_pull_queries_at_once(server: SqlProcess, stream: tuple[str, WrittenTopic]) -> None:
    """One whose client does not read counts as long as the client is there."""
    name, written = stream
    written.write(("k", {"V": "x" * 20_000}) for _ in range(ROWS))
    sql = f"SELECT * FROM {name};"
    host, port = server.address.split(":")
    with socket.create_connection((host, int(port)), timeout=CALL_TIMEOUT_S) as idle:
        body = f'{{"sql":"{sql}"}}'.encode()
        idle.sendall(
            b"POST /query-stream HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
        )
        assert idle.recv(4_096).startswith(b"HTTP/1.1 200 OK")
        answer = server.post("/query-stream", {"sql": f"{sql} "})
        assert (answer.status_code, answer.json()["error_code"]) == (429, 42900)
        assert "ksql.query.pull.max.concurrent.requests" in answer.json()["message"]
        assert answer.headers["retry-after"]
    wait_for(
        lambda: server.post("/query-stream", {"sql": f"{sql}  "}).status_code == 200,
        "the place of the client that left to be free",
    )


def test_everything_can_be_ended_at_once(
    server: SqlProcess, barnabas: BarnabasBroker, stream: tuple[str, WrittenTopic]
) -> None:
    name, written = stream
    server.execute(f"CREATE STREAM {name}_C AS SELECT * FROM {name};")
    server.execute(f"CREATE TABLE {name}_T AS SELECT V, COUNT(*) AS N FROM {name} GROUP BY V;")
    answer = server.post("/ksql/terminate", {"deleteTopicList": [f"{name}_.*", written.name]})
    (status,) = answer.json()
    assert (status["@type"], status["commandId"]) == ("currentStatus", "cluster/TerminateCluster/terminate")
    streams, tables, queries = server.execute("SHOW STREAMS; SHOW TABLES; SHOW QUERIES;")
    assert (streams["streams"], tables["tables"], queries["queries"]) == ([], [], [])
    left = AdminClient({"bootstrap.servers": barnabas.address}).list_topics(timeout=90).topics
    # What a query made goes; what was there before stays, though it is named.
    assert [each for each in left if name in each.upper().replace("-", "_")] == [written.name]


def test_a_server_that_stops_ends_what_clients_listen_to(server: SqlProcess, stream: tuple[str, WrittenTopic]) -> None:
    name, written = stream
    written.write([("k", {"V": "x"})])
    sql = f"SELECT * FROM {name} EMIT CHANGES;"
    with (
        listening(server, sql) as listener,
        Client(server.url, properties=FROM_EARLIEST) as client,
        client.stream(sql) as rows,
        httpx.stream(
            "POST",
            f"{server.url}/query",
            json={"ksql": f"PRINT '{written.name}';"},
            timeout=CALL_TIMEOUT_S,
            trust_env=False,
        ) as lines,
    ):
        assert listener.row() == ["x"]
        coming = iter(rows)
        assert next(coming) == ("x",)
        assert server.stop() == 0
        assert "connections were still open" not in server.log.read_text(), "nobody was waited for"
        # It is not the queries that have come to their end.
        error = listener.take()["errorMessage"]
        assert (error["error_code"], error["message"]) == (50300, ENDED)
        with pytest.raises(Refused, match=ENDED) as refused:
            next(coming)
        assert refused.value.code == 50300
        printed = lines.iter_lines()
        assert next(printed) == ENDED
        with pytest.raises(httpx.RemoteProtocolError):
            next(printed)
