"""A real server over HTTP: statements, rows that clients write, PRINT, and both versions of HTTP."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.broker import BarnabasBroker
from tests.registry import RegistryProcess
from tests.sql_service import FROM_EARLIEST, SqlProcess
from tests.streams_sql.views.written_topic import WrittenTopic

AT_ONCE_S = 15.0
"""Many times what answers take that need no Spark: the machine may do much else. That they need none, e2e/test_without_java.py shows."""
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
    log = "ksql.logging.processing"
    settings = {"ksql.service.id": f"{topic}_", f"{log}.stream.auto.create": "true", f"{log}.rows.include": "true"}
    settings["sql.functions.modules"] = "math"
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
        check_errors_are_a_stream(server, barnabas.address, topic, source)
        check_functions_of_users(server, source)
    finally:
        server.stop()


def check_functions_of_users(server: SqlProcess, source: str) -> None:
    name = f"{source}_ROOT"
    create = f"CREATE FUNCTION {name} (x DOUBLE) RETURNS DOUBLE LANGUAGE PYTHON AS 'math:sqrt';"
    (made,) = server.execute(create)
    assert (made["commandId"], made["commandStatus"]["message"]) == (
        f"function/{name}/create",
        f"Function {name} created",
    )
    assert server.rows(f"SELECT {name}(ID + 3) FROM {source} WHERE ID = 1 EMIT CHANGES LIMIT 1;") == [[2.0]]
    (listed,) = server.execute("SHOW FUNCTIONS;")
    assert {"name": name, "type": "SCALAR", "category": "USER-DEFINED"} in listed["functions"]
    (described,) = server.execute(f"DESCRIBE FUNCTION {name};")
    assert described["path"] == "math:sqrt"
    assert described["functions"][0]["arguments"][0]["name"] == "X"
    assert "os is not among those whose functions this server calls" in server.refusal(
        create.replace("math:sqrt", "os:system").replace(name, "F")
    )
    assert "sql.functions.inline.enabled=true" in server.refusal(
        "CREATE FUNCTION f () RETURNS INT LANGUAGE PYTHON AS $$f = int$$;"
    )
    assert "The module math has no square." in server.refusal(create.replace("sqrt", "square").replace(name, "F"))
    query_id = server.start_query(f"CREATE STREAM {source}_R AS SELECT ID, {name}(ID) AS R FROM {source};")
    assert f"it is used by [{query_id}]" in server.refusal(f"DROP FUNCTION {name};")
    server.execute(f"TERMINATE {query_id}; DROP FUNCTION {name};")


def check_errors_are_a_stream(server: SqlProcess, address: str, topic: str, source: str) -> None:
    producer = Producer({"bootstrap.servers": address})
    producer.produce(topic, b"{", b"\0\0\0\1")
    producer.flush()
    server.execute(f"INSERT INTO {source} VALUES (2, 'x');")
    query = f"SELECT ID, CAST(V AS INT) AS N FROM {source} WHERE ID = 2 EMIT CHANGES LIMIT 1;"
    assert server.rows(query) == [[2, None]]
    (listed,) = server.execute("SHOW ERRORS LIMIT 2;")
    cast, bad = listed["errors"]
    assert (bad["kind"], bad["topic"], bad["offset"], bad["part"], bad["record"]) == (
        "DESERIALIZATION_ERROR", topic, 1, "value", "ew==",
    )  # fmt: skip
    assert (cast["kind"], cast["offset"], json.loads(cast["record"])["V"]) == ("RECORD_PROCESSING_ERROR", 2, "x")
    (own,) = server.execute(f"SHOW ERRORS FOR {bad['queryId'].lower()};")
    assert own["counts"] == {bad["queryId"]: {"DESERIALIZATION_ERROR": 1, "RECORD_PROCESSING_ERROR": 1}}
    text = "SELECT ORIGIN->`offset`, MESSAGE->TYPE FROM KSQL_PROCESSING_LOG EMIT CHANGES LIMIT 2;"
    assert sorted(server.rows(text)) == [[1, 0], [2, 1]]
    assert "Query with id:NOPE does not exist" in server.refusal("SHOW ERRORS OF NOPE;")
    told = server.get("/metrics").text
    assert f'streams_sql_query_errors_total{{kind="RECORD_PROCESSING_ERROR",query="{bad["queryId"]}"}} 1.0' in told
    assert f'streams_sql_view_lag_records{{view="{source}_T"}}' in told
    assert "streams_sql_leader 1.0" in told


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
    assert f"Did you mean {source} or topic `{topic}`?" in sql_service.post("/query-stream", body).json()["message"]


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


def test_types_columns_that_are_added_and_several_rows(sql_service: SqlProcess, topic: str, source: str) -> None:
    place = f"{source}_PLACE"
    (made,) = sql_service.execute(f"CREATE TYPE {place} AS STRUCT<CITY STRING, ZIP INT>;")
    assert (made["commandId"], made["commandStatus"]["status"]) == (f"type/{place}/create", "SUCCESS")
    (listed,) = sql_service.execute("SHOW TYPES;")
    assert listed["types"][place]["fields"][0]["name"] == "CITY"
    stream_of(sql_service, source, topic, f"ID INT KEY, HOME {place}")
    (altered,) = sql_service.execute(f"ALTER STREAM {source} ADD COLUMN OTHERS ARRAY<{place}>;")
    assert altered["commandId"] == f"stream/{source}/alter"
    sql_service.execute(
        f"""INSERT INTO {source} (ID, HOME, OTHERS) VALUES
            (1 + 1, STRUCT(CITY := UCASE('ulm'), ZIP := CAST('89073' AS INT)), ARRAY[CAST(STRUCT(ZIP := 7) AS {place})]),
            (3, NULL, NULL);"""
    )
    assert sql_service.rows(f"SELECT ID, HOME->CITY, OTHERS[1]->ZIP FROM {source} EMIT CHANGES LIMIT 2;") == [
        [2, "ULM", 7],
        [3, None, None],
    ]
    (gone, missing) = sql_service.execute(f"DROP TYPE {place}; DROP TYPE IF EXISTS {place};")
    assert (gone["commandStatus"]["message"], missing["commandStatus"]["message"]) == (
        f"Dropped type '{place}'",
        f"Type '{place}' does not exist",
    )


@pytest.mark.parametrize("form", ["AVRO", "PROTOBUF", "JSON_SR"])
def test_names_keep_their_case_where_that_is_asked_for(
    sql_service: SqlProcess, registry: RegistryProcess, topic: str, source: str, form: str
) -> None:
    sql_service.execute(
        f"""SET 'sql.names.keep.case'='true';
            CREATE STREAM {source} (orderId INT KEY, shipTo STRUCT<streetName STRING>, HowMany INT)
            WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='{form}', PARTITIONS=1);
            INSERT INTO {source} VALUES (1, STRUCT(streetname := 'Elm'), 3);"""
    )
    schema = registry.ask("GET", f"/subjects/{topic}-value/versions/latest").body["schema"]
    assert all(name in schema for name in ("shipTo", "streetName", "HowMany"))
    assert sql_service.rows(f"SELECT orderid, shipTo->streetName, howmany FROM {source} EMIT CHANGES LIMIT 1;") == [
        [1, "Elm", 3]
    ]
    # What the registry gives is written as it has it.
    again = f"{source}_AGAIN"
    sql_service.execute(
        f"""SET 'sql.names.keep.case'='true';
            CREATE STREAM {again} (ID INT KEY) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='{form}');
            INSERT INTO {again} (ID, HOWMANY) VALUES (2, 4);"""
    )
    assert sql_service.rows(f"SELECT howMany FROM {source} WHERE orderId = 2 EMIT CHANGES LIMIT 1;") == [[4]]
    assert len(registry.ask("GET", f"/subjects/{topic}-value/versions").body) == 1


def test_no_row_is_written_where_one_cannot_be(sql_service: SqlProcess, topic: str, source: str) -> None:
    stream_of(sql_service, source, topic)
    refusal = sql_service.refusal(f"INSERT INTO {source} VALUES (1, 'a'), (2 / 0, 'b');")
    assert refusal.startswith("The value for ID cannot be worked out: ")
    assert sql_service.rows(f"SELECT * FROM {source};") == []


def test_a_property_of_all_sessions_holds_until_it_is_changed(sql_service: SqlProcess) -> None:
    name = "ksql.functions.collect_list.limit"
    refusal = sql_service.refusal("ALTER SYSTEM 'ksql.service.id'='x';")
    assert (
        refusal == "Cannot override property 'ksql.service.id': it is the server's own, and set where that is started."
    )
    assert name in sql_service.refusal(f"ALTER SYSTEM '{name}'='much';")
    (altered,) = sql_service.execute(f"ALTER SYSTEM '{name}'='17';")
    assert altered["commandId"] == f"cluster/{name}/alter"
    (listed,) = sql_service.execute("SHOW PROPERTIES;")
    assert {each["name"]: each["value"] for each in listed["properties"]}[name] == "17"
    assert name not in listed["overwrittenProperties"]


def test_what_is_asserted_is_so_or_becomes_so(sql_service: SqlProcess, registry: RegistryProcess, topic: str) -> None:
    def answered(text: str) -> tuple[int, int | None, str]:
        answer = sql_service.post("/ksql", {"ksql": text})
        found = answer.json()
        return (
            (200, None, found[0]["@type"])
            if answer.status_code == 200
            else (answer.status_code, found["error_code"], found["message"])
        )

    quick = "TIMEOUT 10 MILLISECONDS"
    assert answered(f"ASSERT TOPIC `{topic}` {quick};") == (417, 41700, f"Topic {topic} does not exist")
    assert answered(f"ASSERT NOT EXISTS TOPIC '{topic}';") == (200, None, "assert_topic")
    # What tests assert, no server does.
    for text in ("VALUES s VALUES (1)", "NULL VALUES s KEY (1)", "STREAM s", "TABLE t WITH (PARTITIONS=1)"):
        status, _, message = answered(f"ASSERT {text};")
        assert status == 400
        assert "`barnabas sql test FILE` runs without a server" in message
    subject = f"{topic}-value"
    assert answered(f"ASSERT SCHEMA SUBJECT '{subject}' {quick};") == (
        417,
        41700,
        f"Schema with subject name {subject} does not exist",
    )
    name = topic.upper().replace("-", "_")
    with ThreadPoolExecutor() as threads:
        awaited = threads.submit(answered, f"ASSERT TOPIC '{topic}' WITH (PARTITIONS=1) TIMEOUT 30 SECONDS;")
        sql_service.execute(
            f"CREATE STREAM {name} (ID INT) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='AVRO', PARTITIONS=1);"
        )
        assert awaited.result() == (200, None, "assert_topic")
    assert answered(f"ASSERT SCHEMA SUBJECT '{subject}';") == (200, None, "assert_schema")
    number = registry.ask("GET", f"/subjects/{subject}/versions/latest").body["id"]
    assert answered(f"ASSERT SCHEMA SUBJECT '{subject}' ID {number};") == (200, None, "assert_schema")
    assert answered(f"ASSERT NOT EXISTS SCHEMA ID {number} {quick};")[2] == f"Schema with id {number} exists"
    assert answered(f"ASSERT TOPIC '{topic}' WITH (PARTITIONS=2, REPLICAS=1, X=1) {quick};") == (
        417,
        41700,
        f"Mismatched configuration for topic {topic}: For config partitions, expected 2 got 1\nCannot assert unknown topic property: X",
    )
    assert "A TIMEOUT of 86400000 ms is too long" in sql_service.refusal(f"ASSERT TOPIC '{topic}' TIMEOUT 1 DAY;")


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
    found = sql_service.get(f"/status/stream/{source}/create").json()
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
    answer = sql_service.get(f"/is_valid_property/{name}")
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
    answer = sql_service.post("/inserts-stream", body)
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
    answer = sql_service.post("/inserts-stream", body)
    assert "Value for primary key column(s) ID is required" in answer.json()["message"]
    assert "primary key column(s) ID" in sql_service.refusal(f"INSERT INTO {source} VALUES (NULL, 'x');")
    assert "primary key column(s) ID" in sql_service.refusal(f"INSERT INTO {source} (V) VALUES ('x');")


def test_sources_that_take_no_rows(sql_service: SqlProcess, topic: str, source: str) -> None:
    sql_service.execute(
        f"CREATE SOURCE STREAM {source} (V VARCHAR) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1);"
    )
    for target in (source, "NOPE"):
        answer = sql_service.post("/inserts-stream", {"target": target})
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
    answer = sql_service.get("/info", x_request_id="mine")
    assert answer.headers["x-request-id"] == "mine"


def test_pages_that_tell_of_the_server(sql_service: SqlProcess) -> None:
    def page(path: str) -> Any:
        answer = sql_service.get(path)
        assert answer.status_code == 200
        return answer.json()

    cluster = page("/info")["KsqlServerInfo"]["kafkaClusterId"]
    assert page("/v1/metadata")["clusterId"]["scope"]["clusters"]["kafka-cluster"] == cluster
    assert page("/healthcheck")["isHealthy"] is True
    assert list(page("/clusterStatus")["clusterStatus"]) == [sql_service.address]
    assert page("/chc/ready") == {}
