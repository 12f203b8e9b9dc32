"""Records of one partition in one request."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from tests.registry import Answer, ask
from tests.rest_proxy.streams.conftest import FIRST_MS, FOREVER, STEP_MS, Write
from tests.rest_proxy.v3.v3_service import V3Service

VALUES = [b'{"n":%d}' % number for number in range(5)]


def get(service: V3Service, topic: str, query: str, form: str = "json", partition: object = 0) -> Answer:
    accept = {"Accept": f"application/vnd.kafka.{form}.v2+json"}
    return ask(service.url, "GET", f"/topics/{topic}/partitions/{partition}/records?{query}", headers=accept)


def offsets(answer: Answer) -> list[int]:
    assert answer.status == 200, answer.raw
    return [record["offset"] for record in answer.body]


@pytest.fixture
def written(service: V3Service, topic: str, write: Write) -> str:
    service.create(topic, retention_ms=FOREVER)
    write(topic, VALUES, key=b'"k"')
    return topic


@pytest.mark.parametrize(
    ("form", "key", "value"), [("json", "k", {"n": 0}), ("binary", "Imsi", "eyJuIjowfQ==")], ids=["json", "binary"]
)
def test_records_have_their_headers_and_timestamps(
    service: V3Service, written: str, form: str, key: Any, value: Any
) -> None:
    answer = get(service, written, "offset=0", form)
    assert answer.status == 200, answer.raw
    assert answer.headers["content-type"] == f"application/vnd.kafka.{form}.v2+json"
    assert answer.body[0] == {
        "topic": written,
        "key": key,
        "value": value,
        "partition": 0,
        "offset": 0,
        "timestamp": FIRST_MS,
        "headers": [{"name": "h", "value": "dg=="}, {"name": "n", "value": None}],
    }
    assert offsets(answer) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("offset=3", [3, 4]),
        ("offset=beginning", [0, 1, 2, 3, 4]),
        ("offset=end&timeout=50", []),
        ("offset=5&timeout=50", []),
        ("offset=0&max_bytes=20", [0, 1]),
        ("offset=2&max_bytes=0", [2]),
        ("offset=earliest&limit=2", [0, 1]),
        ("offset=latest&timeout=50", []),
        (f"timestamp={FIRST_MS + 2 * STEP_MS}", [2, 3, 4]),
        ("timestamp=2023-11-14T22:13:22.500Z", [3, 4]),
        ("timestamp=2023-11-14T23:13:22.500+01:00", [3, 4]),
        ("timestamp=2023-11-14T22:13:22.500", [3, 4]),
        ("timestamp=2023-11-15&timeout=50", []),
        ("timestamp=2023-11-14", [0, 1, 2, 3, 4]),
        ("timestamp=2999-01-01T00:00:00Z&timeout=50", []),
    ],
)
def test_a_client_says_where_to_begin_and_how_much(
    service: V3Service, written: str, query: str, expected: list[int]
) -> None:
    assert offsets(get(service, written, query)) == expected


def test_a_read_at_the_end_returns_with_the_next_record(service: V3Service, written: str, write: Write) -> None:
    answers: list[Answer] = []
    reading = threading.Thread(target=lambda: answers.append(get(service, written, "offset=5&timeout=20000")))
    reading.start()
    write(written, [b"true"])
    reading.join()
    assert offsets(answers[0]) == [5]


@pytest.mark.parametrize(
    ("partition", "query", "status", "code", "message"),
    [
        (0, "", 400, 400, "Say where to begin"),
        (0, "offset=1&timestamp=1", 400, 400, "Say where to begin"),
        (0, "offset=-1", 400, 400, "offset='-1' is neither a number"),
        (0, "timestamp=noon", 400, 400, "timestamp='noon' is neither a date"),
        (0, "offset=0&timeout=x", 400, 400, "timeout='x' is not a number"),
        (0, "offset=0&timeout=30001", 400, 400, "timeout=30001 is more than the 30000 ms"),
        (0, "offset=0&limits=1", 400, 400, "'limits' is unknown: did you mean limit?"),
        (0, "offset=0&zzz=1", 400, 400, "there are limit, max_bytes, offset, timeout, timestamp"),
        (0, "offset=6", 400, 40002, "has records from 0 on, and the next one will be 5"),
        (7, "offset=0", 404, 40402, "Partition not found."),
        ("x", "offset=0", 404, 404, "HTTP 404 Not Found"),
    ],
)
def test_a_question_that_is_wrong_is_explained(
    service: V3Service, written: str, partition: object, query: str, status: int, code: int, message: str
) -> None:
    answer = get(service, written, query, partition=partition)
    assert (answer.status, answer.code) == (status, code)
    assert message in answer.body["message"]


def test_an_unknown_topic_is_not_made(service: V3Service, topic: str) -> None:
    answer = get(service, topic, "offset=0")
    assert (answer.status, answer.code) == (404, 40401)
    assert topic not in ask(service.url, "GET", "/topics").body


def test_a_record_that_cannot_be_read_ends_the_answer_before_it(service: V3Service, topic: str, write: Write) -> None:
    service.create(topic, retention_ms=FOREVER)
    write(topic, [b"1", b"2", b"{", b"4"])
    assert offsets(get(service, topic, "offset=0")) == [0, 1]
    answer = get(service, topic, "offset=2")
    assert (answer.status, answer.code) == (408, 40801)
    assert f"record 2 of partition 0 of topic {topic}; to go on behind it, read from offset=3" in answer.body["message"]
    assert offsets(get(service, topic, "offset=3")) == [3]
    assert [record["value"] for record in get(service, topic, "offset=2", "string").body] == ["{", "4"]


def test_a_reader_without_a_wish_is_shown_each_record_as_what_it_is(
    service: V3Service, topic: str, write: Write
) -> None:
    service.create(topic, retention_ms=FOREVER)
    schema = json.dumps({"type": "record", "name": "R", "fields": [{"name": "f", "type": "int"}]})
    record = {"value": {"type": "AVRO", "schema": schema, "data": {"f": 1}}}
    assert service.ask("POST", f"/topics/{topic}/records", record).body["error_code"] == 200
    write(topic, [b'{"n":1}', b"text", b"\xff", b"\0\x7f\xff\xff\xff!"], key=b"k")
    answer = ask(service.url, "GET", f"/topics/{topic}/partitions/0/records?offset=0")
    assert answer.headers["content-type"] == "application/json"
    assert [(each["value_type"], each["value"]) for each in answer.body] == [
        ("AVRO", {"f": 1}),
        ("JSON", {"n": 1}),
        ("STRING", "text"),
        ("BINARY", "/w=="),
        ("BINARY", "AH////8h"),
    ]
    assert answer.body[0]["key"] is None
    assert (answer.body[1]["key"], answer.body[1]["key_type"]) == ("k", "STRING")
    binary = {"Accept": "application/vnd.kafka.v2+json"}
    (first,) = ask(service.url, "GET", f"/topics/{topic}/partitions/0/records?offset=2&limit=1", headers=binary).body
    assert first["value"] == "dGV4dA=="


def test_types_that_there_are_not_are_refused_with_those_that_there_are(service: V3Service, written: str) -> None:
    answer = ask(
        service.url, "GET", f"/topics/{written}/partitions/0/records?offset=0", headers={"Accept": "text/html"}
    )
    assert answer.status == 406
    assert "application/vnd.kafka.string.v2+json" in answer.body["message"]
