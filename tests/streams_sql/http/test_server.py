"""A real server over HTTP: statements, rows that clients write, PRINT, and both versions of HTTP."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import time
from typing import Any

import httpx
import pytest

from tests.broker import BarnabasBroker
from tests.sql_service import FROM_EARLIEST, SqlProcess
from tests.streams_sql.views.written_topic import WrittenTopic

AT_ONCE_S = 5.0
"""A few times what an answer takes that needs no Spark, on a machine that does much else."""
TIME_MS = 1_600_000_000_123


@pytest.fixture
def source(topic: str) -> str:
    return topic.upper().replace("-", "_")


@pytest.fixture
def written(barnabas: BarnabasBroker, topic: str) -> WrittenTopic:
    return WrittenTopic(barnabas.address, topic)


def stream_of(sql_service: SqlProcess, name: str, topic: str, columns: str = "ID INT KEY, V VARCHAR") -> None:
    sql_service.execute(
        f"CREATE STREAM {name} ({columns}) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1);"
    )


# --- statements ---


def test_a_server_answers_while_spark_starts(
    barnabas: BarnabasBroker, tmp_path_factory: pytest.TempPathFactory, topic: str, source: str
) -> None:
    settings = {"ksql.service.id": f"{topic}_"}
    server = SqlProcess(tmp_path_factory.mktemp("starting"), barnabas.address, "", settings=settings)
    server.start()
    try:
        began_s = time.monotonic()
        stream_of(server, source, topic)
        server.execute(f"INSERT INTO {source} VALUES (1, 'a'); SHOW STREAMS; DESCRIBE {source};")
        server.execute(f"CREATE TABLE {source}_T AS SELECT ID, COUNT(*) AS C FROM {source} GROUP BY ID;")
        assert server.rows(f"SELECT V FROM {source} EMIT CHANGES LIMIT 1;") == [["a"]]
        assert server.rows(f"SELECT * FROM {source}_T;") == []
        assert time.monotonic() - began_s < AT_ONCE_S
        assert "Setting Spark log level" not in server.log.read_text()
    finally:
        server.stop()


def test_statements_of_a_request_are_done_together_or_not_at_all(
    sql_service: SqlProcess, topic: str, source: str
) -> None:
    create = f"CREATE STREAM {source} (ID INT KEY) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1);"
    answer = sql_service.post("/ksql", {"ksql": f"{create} DROP STREAM NOPE_{source};"})
    assert answer.status_code == 400
    assert answer.json()["statementText"] == f"DROP STREAM NOPE_{source};"
    assert answer.json()["entities"] == []
    assert source not in str(sql_service.execute("SHOW STREAMS;"))
    answers = sql_service.execute(f"SET 'auto.offset.reset'='earliest'; {create} DROP STREAM {source} DELETE TOPIC;")
    assert [each["commandId"] for each in answers] == [f"stream/{source}/create", f"stream/{source}/drop"]


def test_a_name_that_is_nearly_right_is_proposed(sql_service: SqlProcess, topic: str, source: str) -> None:
    stream_of(sql_service, source, topic)
    body = {"sql": f"SELECT VV\n  FROM {source}\nEMIT CHANGES;"}
    message = sql_service.post("/query-stream", body).json()["message"]
    assert message.startswith("line 1:8: ")
    assert "\n  SELECT VV\n         ^^" in message
    body = {"sql": f"SELECT V FROM {source}X EMIT CHANGES;"}
    assert f"Did you mean {source}?" in sql_service.post("/query-stream", body).json()["message"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT * FROM X EMIT CHANGES;", 40002),
        ("PRINT x;", 40002),
        ("CREATE STREAM", 40001),
        ("'", 40001),
        ("TERMINATE NOPE;", 40001),
        ("SET 'ksql.service.id'='x';", 40001),
        ("DESCRIBE NOPE;", 40001),
    ],
)
def test_statements_that_are_refused(sql_service: SqlProcess, text: str, code: int) -> None:
    answer = sql_service.post("/ksql", {"ksql": text})
    assert (answer.status_code, answer.json()["@type"]) == (400, "statement_error")
    assert (answer.json()["error_code"], answer.json()["statementText"]) == (code, text)


@pytest.mark.parametrize(
    "text",
    ["SHOW STREAMS;", "SELECT 1 FROM X; SELECT 2 FROM X;", "", "CREATE STREAM X (A INT) WITH (KAFKA_TOPIC='x');"],
)
def test_what_is_no_query_is_refused_as_one(sql_service: SqlProcess, text: str) -> None:
    for path, body in (("/query", {"ksql": text}), ("/query-stream", {"sql": text})):
        answer = sql_service.post(path, body)
        assert (answer.status_code, answer.json()["error_code"]) == (400, 40001)


def test_changes_have_positions_that_later_requests_can_wait_for(
    sql_service: SqlProcess, topic: str, source: str
) -> None:
    stream_of(sql_service, source, topic)
    (dropped,) = sql_service.execute(f"DROP STREAM {source};")
    position = dropped["commandSequenceNumber"]
    listed = sql_service.post("/ksql", {"ksql": "SHOW STREAMS;", "commandSequenceNumber": position})
    assert source not in listed.text
    late = sql_service.post("/ksql", {"ksql": "SHOW STREAMS;", "commandSequenceNumber": position + 1_000})
    assert (late.status_code, late.json()["error_code"]) == (503, 50301)
    assert f"command sequence number: {position + 1_000}" in late.json()["message"]


def test_statuses_are_told_later_too(sql_service: SqlProcess, topic: str, source: str) -> None:
    stream_of(sql_service, source, topic)
    found = httpx.get(f"{sql_service.url}/status/stream/{source}/create", trust_env=False).json()
    assert found == {"status": "SUCCESS", "message": "Stream created", "queryId": None}


def test_dropping_what_is_gone_is_no_failure(sql_service: SqlProcess, source: str) -> None:
    """Java's client knows a status and takes anything else for a failure."""
    (answer,) = sql_service.execute(f"DROP STREAM IF EXISTS {source};")
    assert answer["@type"] == "currentStatus"
    assert answer["commandStatus"]["status"] == "SUCCESS"
    (answer,) = sql_service.execute("UNDEFINE nothing;")
    assert answer["@type"] == "warning_entity"


def test_variables_of_the_request_are_put_in(sql_service: SqlProcess, topic: str, source: str) -> None:
    stream_of(sql_service, source, topic)
    body = {"ksql": "DESCRIBE ${name};", "sessionVariables": {"name": source}}
    assert sql_service.post("/ksql", body).json()[0]["sourceDescription"]["name"] == source
    sql_service.execute(f"INSERT INTO {source} VALUES (1, 'x');")
    query = {"sql": "SELECT V FROM ${name} EMIT CHANGES LIMIT 1;", "properties": FROM_EARLIEST}
    answer = sql_service.post("/query-stream", {**query, "sessionVariables": {"name": source}})
    assert answer.text.splitlines()[1] == '["x"]'


@pytest.mark.parametrize(
    ("name", "is_valid"),
    [
        ("auto.offset.reset", True),
        ("ksql.streams.auto.offset.reset", True),
        ("ksql.streams.num.stream.threads", True),
        ("commit.interval.ms", True),
        ("ksql.fail.on.deserialization.error", True),
        ("ksql.query.pull.table.scan.enabled", True),
        ("spark.sql.shuffle.partitions", True),
        ("ksql.service.id", False),
        ("bootstrap.servers", False),
        ("ksql.streams.bootstrap.servers", False),
        ("spark.master", False),
        ("sasl.jaas.config", False),
        ("nonsense", False),
    ],
)
def test_properties_that_a_session_may_have(sql_service: SqlProcess, name: str, is_valid: bool) -> None:
    answer = httpx.get(f"{sql_service.url}/is_valid_property/{name}", trust_env=False)
    assert (answer.status_code == 200) == is_valid
    if not is_valid:
        assert (answer.status_code, answer.json()["error_code"]) == (400, 40000)


def test_listings(sql_service: SqlProcess, written: WrittenTopic) -> None:
    (extended,) = sql_service.execute("SHOW TOPICS EXTENDED;")
    found = {each["name"]: each for each in extended["topics"]}[written.name]
    assert found == {"name": written.name, "replicaInfo": [1], "consumerCount": 0, "consumerGroupCount": 0}
    (properties,) = sql_service.execute("SET 'auto.offset.reset'='latest'; SHOW PROPERTIES;")
    values = {each["name"]: each["value"] for each in properties["properties"]}
    assert values["auto.offset.reset"] == "latest"
    assert "auto.offset.reset" in properties["overwrittenProperties"]
    assert "ksql.service.id" in properties["defaultProperties"]
    (functions,) = sql_service.execute("SHOW FUNCTIONS;")
    assert {"ABS", "COUNT"} <= {each["name"] for each in functions["functions"]}


# --- rows that clients write ---


def test_rows_that_are_streamed_in_are_rows_of_the_source(sql_service: SqlProcess, topic: str, source: str) -> None:
    columns = "ID INT KEY, V VARCHAR, D DECIMAL(5,2), TS TIMESTAMP, B BYTES, S STRUCT<X INT, Y ARRAY<DATE>>"
    stream_of(sql_service, source, topic, columns)
    row = {
        "id": 1,
        "V": "é",
        "D": 1.5,
        "TS": "2020-01-02T03:04:05.678",
        "B": "AP8=",
        "S": {"x": 7, "Y": ["1970-01-02"]},
        "ROWTIME": TIME_MS,
    }
    lines = [{"target": source.lower()}, row, {"ID": 2, "NOPE": 1}, {"ID": "x"}, {"ID": 3}]
    body = "\n".join(json.dumps(line) for line in lines)
    answer = httpx.post(f"{sql_service.url}/inserts-stream", content=body, trust_env=False)
    acks = [json.loads(line) for line in answer.text.splitlines()]
    assert [(ack["status"], ack["seq"]) for ack in acks] == [("ok", 0), ("error", 1), ("error", 2), ("ok", 3)]
    assert f"{source} has no column NOPE" in acks[1]["message"]
    assert "takes INTEGER" in acks[2]["message"]
    first, second = sql_service.rows(f"SELECT *, ROWTIME FROM {source} EMIT CHANGES LIMIT 2;")
    assert first == [1, "é", 1.5, "2020-01-02T03:04:05.678", "AP8=", {"X": 7, "Y": [1]}, TIME_MS]
    assert second[:6] == [3, None, None, None, None, None]


def test_a_table_takes_no_row_without_its_key(sql_service: SqlProcess, topic: str, source: str) -> None:
    sql_service.execute(
        f"CREATE TABLE {source} (ID INT PRIMARY KEY, V VARCHAR) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1);"
    )
    body = f'{{"target":"{source}"}}\n{{"V":"x"}}\n'
    answer = httpx.post(f"{sql_service.url}/inserts-stream", content=body, trust_env=False)
    assert "Value for primary key column(s) ID is required" in answer.json()["message"]
    assert "primary key column(s) ID" in sql_service.refusal(f"INSERT INTO {source} VALUES (NULL, 'x');")
    assert "primary key column(s) ID" in sql_service.refusal(f"INSERT INTO {source} (V) VALUES ('x');")


def test_sources_that_take_no_rows(sql_service: SqlProcess, topic: str, source: str) -> None:
    sql_service.execute(
        f"CREATE SOURCE STREAM {source} (V VARCHAR) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1);"
    )
    for target in (source, "NOPE"):
        answer = httpx.post(
            f"{sql_service.url}/inserts-stream", content=json.dumps({"target": target}), trust_env=False
        )
        assert (answer.status_code, answer.json()["error_code"]) == (400, 40001)


# --- PRINT ---


def test_print_guesses_formats_and_tells_when_it_was_wrong(sql_service: SqlProcess, written: WrittenTopic) -> None:
    written.write([(struct.pack(">i", 1), {"N": 1})], timestamp_ms=TIME_MS)
    written.write([("a text", b"no json"), (struct.pack(">i", 3), None)], timestamp_ms=TIME_MS)
    assert sql_service.printed(f"PRINT '{written.name}' FROM BEGINNING LIMIT 3;") == [
        "Key format: KAFKA_STRING",
        "Value format: KAFKA_STRING",
        'rowtime: 2020/09/13 12:26:40.123 Z, key: \x00\x00\x00\x01, value: {"N":1}, partition: 0',
        "rowtime: 2020/09/13 12:26:40.123 Z, key: a text, value: no json, partition: 0",
        "rowtime: 2020/09/13 12:26:40.123 Z, key: \x00\x00\x00\x03, value: <null>, partition: 0",
    ]


def test_print_tells_every_so_many_records(sql_service: SqlProcess, written: WrittenTopic) -> None:
    written.write([("k", {"N": number}) for number in range(10)])
    lines = sql_service.printed(f"PRINT '{written.name}' FROM BEGINNING INTERVAL 3 LIMIT 3;")
    assert lines[0] == "Key format: KAFKA_STRING"
    assert [json.loads(line.split("value: ")[1].split(", partition")[0])["N"] for line in lines[2:]] == [0, 3, 6]
    assert sql_service.printed(f"PRINT '{written.name}' LIMIT 0;") == []


def test_print_of_what_matches_nothing(sql_service: SqlProcess, written: WrittenTopic) -> None:
    written.write([(b"\xff\xfe", b"\xff\x00\x01")])
    _, value, record = sql_service.printed(f"PRINT '{written.name}' FROM BEGINNING LIMIT 1;")
    assert value.startswith("Value format:  does not match any supported format.")
    assert record.endswith(r"key: \xFF\xFE, value: \xFF\x00\x01, partition: 0")


def test_a_topic_that_is_not_there_cannot_be_printed(sql_service: SqlProcess, written: WrittenTopic) -> None:
    answer = sql_service.post("/query", {"ksql": f"PRINT '{written.name}x';"})
    assert answer.status_code == 400
    assert f"Could not find topic '{written.name}x'" in answer.json()["message"]
    assert f"Did you mean {written.name}?" in answer.json()["message"]


# --- HTTP ---


def curl(server: SqlProcess, path: str, body: str = "", *more: str) -> tuple[str, str]:
    """The version of HTTP, and what was answered."""
    program = shutil.which("curl")
    if program is None:
        pytest.skip("curl is not installed, and no other client here speaks HTTP/2 without TLS")
    how = ["-s", "--http2-prior-knowledge", "-w", "%{stderr}%{http_version}", *more]
    what = ["--data-binary", "@-"] if body else []
    done = subprocess.run(
        [program, *how, *what, f"{server.url}{path}"], input=body.encode(), capture_output=True, check=True, timeout=60
    )
    return done.stderr.decode(), done.stdout.decode()


def test_http_2_without_tls(sql_service: SqlProcess, topic: str, source: str) -> None:
    stream_of(sql_service, source, topic)
    version, info = curl(sql_service, "/info")
    assert version == "2"
    assert json.loads(info)["KsqlServerInfo"]["serverStatus"] == "RUNNING"
    rows = "".join(f'{{"ID":{number},"V":"x"}}\n' for number in range(1_000))
    version, acks = curl(sql_service, "/inserts-stream", f'{{"target":"{source}"}}\n{rows}')
    assert version == "2"
    assert [json.loads(line)["seq"] for line in acks.splitlines()] == list(range(1_000))
    query = {"sql": f"SELECT ID FROM {source} EMIT CHANGES LIMIT 1000;", "properties": FROM_EARLIEST}
    version, found = curl(sql_service, "/query-stream", json.dumps(query))
    assert version == "2"
    assert [json.loads(line) for line in found.splitlines()[1:]] == [[number] for number in range(1_000)]


def test_every_answer_names_its_request(sql_service: SqlProcess) -> None:
    answer = httpx.get(f"{sql_service.url}/info", headers={"x-request-id": "mine"}, trust_env=False)
    assert answer.headers["x-request-id"] == "mine"


def test_pages_that_tell_of_the_server(sql_service: SqlProcess) -> None:
    def page(path: str) -> Any:
        answer = httpx.get(f"{sql_service.url}{path}", trust_env=False)
        assert answer.status_code == 200
        return answer.json()

    cluster = page("/info")["KsqlServerInfo"]["kafkaClusterId"]
    assert page("/v1/metadata")["clusterId"]["scope"]["clusters"]["kafka-cluster"] == cluster
    assert page("/healthcheck")["isHealthy"] is True
    assert list(page("/clusterStatus")["clusterStatus"]) == [sql_service.address]
    assert page("/chc/ready") == {}
