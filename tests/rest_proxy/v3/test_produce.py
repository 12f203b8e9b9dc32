"""Records written through v3, as streams and in batches, read back with a Kafka client."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from confluent_kafka import Consumer, Message, TopicPartition

from tests.broker import BarnabasBroker
from tests.registry import Answer, ask
from tests.rest_proxy.v3.upload import Upload
from tests.rest_proxy.v3.v3_service import V3Service

READ_DEADLINE_S = 90.0
AVRO = json.dumps({"type": "record", "name": "R", "fields": [{"name": "f", "type": "int"}]})
SCHEMAS = {
    "AVRO": (AVRO, b"\x02", 6),
    "JSONSCHEMA": (json.dumps({"type": "object", "properties": {"f": {"type": "integer"}}}), b'{"f":1}', 12),
    "PROTOBUF": ('syntax = "proto3"; message M { int32 f = 1; }', b"\x08\x01", 8),
}


def text(data: str) -> dict[str, Any]:
    return {"value": {"type": "STRING", "data": data}}


def lines(records: Sequence[object], end: str = "\n") -> bytes:
    return "".join(json.dumps(record) + end for record in records).encode()


def post(v3: V3Service, topic: str, *records: object) -> list[dict[str, Any]]:
    answer = v3.ask("POST", f"/topics/{topic}/records", lines(records, ""))
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    return [json.loads(line) for line in answer.raw.split(b"\r\n") if line]


def batch(v3: V3Service, topic: str, body: object) -> Answer:
    return v3.ask("POST", f"/topics/{topic}/records:batch", body)


def read(v3: V3Service, topic: str, count: int, partition: int = 0) -> list[Message]:
    consumer = Consumer({"bootstrap.servers": v3.bootstrap, "group.id": "reader"})
    consumer.assign([TopicPartition(topic, partition, 0)])
    try:
        return consumer.consume(count, READ_DEADLINE_S)
    finally:
        consumer.close()


def test_every_field_of_a_record_arrives(v3: V3Service, two_partitions: str) -> None:
    record = {
        "partition_id": 1,
        "headers": [{"name": "h1", "value": "dg=="}, {"name": "h2"}, {"name": "h1", "value": ""}],
        "key": {"type": "BINARY", "data": "aw=="},
        "value": {"type": "JSON", "data": {"b": 1.5, "a": "é"}},
        "timestamp": "2021-02-05T19:14:42Z",
    }
    assert post(v3, two_partitions, record) == [
        {
            "error_code": 200,
            "cluster_id": v3.cluster_id,
            "topic_name": two_partitions,
            "partition_id": 1,
            "offset": 0,
            "timestamp": "2021-02-05T19:14:42Z",
            "key": {"type": "BINARY", "size": 1},
            "value": {"type": "JSON", "size": 18},
        }
    ]
    (message,) = read(v3, two_partitions, 1, partition=1)
    assert (message.key(), message.value()) == (b"k", '{"b":1.5,"a":"é"}'.encode())
    assert message.headers() == [("h1", b"v"), ("h2", None), ("h1", b"")]
    assert message.timestamp()[1] == 1612552482000


@pytest.mark.parametrize(
    ("record", "key", "value", "receipt"),
    [
        ({}, None, None, {}),
        ({"value": None, "key": None}, None, None, {}),
        ({"value": {"type": "JSON", "data": None}}, None, None, {"value": {"type": "JSON", "size": -1}}),
        ({"partitionId": 0, **text("x")}, None, b"x", {"value": {"type": "STRING", "size": 1}}),
        ({"partition_id": "0"}, None, None, {}),
        ({"partition_id": 0.0}, None, None, {}),
        ({"key": {"type": "STRING", "data": "k"}}, b"k", None, {"key": {"type": "STRING", "size": 1}}),
        ({"timestamp": 1612552482.5}, None, None, {"timestamp": "2021-02-05T19:14:42.500Z"}),
        ({"timestamp": "1612552482"}, None, None, {"timestamp": "2021-02-05T19:14:42Z"}),
        ({"timestamp": "2021-02-05t21:14:42+02:00"}, None, None, {"timestamp": "2021-02-05T19:14:42Z"}),
    ],
)
def test_what_is_left_away_is_null(
    v3: V3Service, topic: str, record: object, key: bytes, value: bytes, receipt: dict[str, Any]
) -> None:
    v3.create(topic)
    (got,) = post(v3, topic, record)
    date = got.pop("timestamp")
    place = {"cluster_id": v3.cluster_id, "topic_name": topic, "partition_id": 0, "offset": 0}
    assert {**got, "timestamp": date} == {"error_code": 200, **place, "timestamp": date, **receipt}
    (message,) = read(v3, topic, 1)
    assert (message.key(), message.value()) == (key, value)


@pytest.mark.parametrize("form", SCHEMAS)
def test_schemas_by_text_id_version_and_the_latest(v3: V3Service, topic: str, form: str) -> None:
    schema, payload, size = SCHEMAS[form]
    v3.create(topic)
    (first,) = post(v3, topic, {"value": {"type": form, "schema": schema, "data": {"f": 1}}})
    assert first["error_code"] == 200, first
    about = first["value"]
    assert about == {
        "type": form,
        "subject": f"{topic}-value",
        "schema_id": about["schema_id"],
        "schema_version": 1,
        "size": size,
    }
    hints = [
        {"schema_id": about["schema_id"]},
        {"schema_version": 1},
        {"schema_version": "1"},
        {},
        {"subject": f"{topic}-value"},
    ]
    receipts = post(v3, topic, *({"value": {**hint, "data": {"f": 1}}} for hint in hints))
    assert [receipt["value"] for receipt in receipts] == [about] * len(hints)
    (written,) = {message.value() or b"" for message in read(v3, topic, 1 + len(hints))}
    assert written.endswith(payload)


@pytest.mark.parametrize(("form", "record"), [("AVRO", "R"), ("PROTOBUF", "M")])
def test_a_strategy_names_the_subject(v3: V3Service, topic: str, form: str, record: str) -> None:
    data = {"type": form, "schema": SCHEMAS[form][0], "data": {"f": 1}}
    (receipt,) = post(v3, topic, {"key": {**data, "subject_name_strategy": "TOPIC_RECORD_NAME"}})
    assert receipt["key"]["subject"] == f"{topic}-{record}"


BAD_RECORDS: list[tuple[dict[str, Any], int, str]] = [
    ({"value": {"type": "BINARY", "data": "!!"}}, 400, 'Bad Request: data="!!" is not a valid base64 string.'),
    ({"value": {"type": "BINARY", "data": 1}}, 400, "Bad Request: data=1 is not a base64 string."),
    ({"value": {"type": "STRING", "data": 1}}, 400, "Bad Request: data=1 is not a string."),
    ({"value": {"type": "NOPE", "data": 1}}, 400, "type='NOPE' is none of BINARY, JSON, STRING,"),
    ({"value": {"type": ["JSON"], "data": 1}}, 400, 'type=["JSON"] is not a string'),
    ({"value": {"type": "JSON"}}, 400, "needs its 'data'"),
    ({"value": 1}, 400, "The value of a record is an object with its data, not 1."),
    ({"value": {"type": "AVRO", "data": 1}}, 400, "'schema_version=latest' cannot be used with 'serializer'."),
    ({"value": {"type": "AVRO", "schema_id": 1, "data": 1}}, 400, "'schema_id=1' cannot be used with 'serializer'."),
    ({"value": {"type": "JSON", "subject": "s", "data": 1}}, 400, "'type=JSON' cannot be used with 'subject'."),
    ({"value": {"schema_id": 1, "schema_version": 1, "data": 1}}, 400, "Only one of 'schema_id', 'schema_version'"),
    ({"value": {"subject": "s", "subject_name_strategy": "TOPIC_NAME", "data": 1}}, 400, "Only one of 'subject_name"),
    ({"value": {"subject_name_strategy": "NOPE", "data": 1}}, 400, "is none of TOPIC_NAME, RECORD_NAME"),
    ({"value": {"schema_id": "1.5", "data": 1}}, 400, 'schema_id="1.5" is not a number'),
    (
        {"value": {"schema_version": 9, "subject": "nope", "data": 1}},
        400,
        "Bad Request: Schema does not exist for subject",
    ),
    (
        {"value": {"schema_version": 0, "subject": "nope", "data": 1}},
        400,
        "Bad Request: Schema does not exist for subject",
    ),
    (
        {"value": {"type": "JSONSCHEMA", "schema": "{}", "subject_name_strategy": "RECORD_NAME", "data": 1}},
        422,
        "Error: 42207 : Error serializing message. the schema names no record",
    ),
    ({"value": {"schema_id": 2147483647, "data": 1}}, 422, "Error: 42207 : Error serializing message. "),
    ({"value": {"type": "JSON", "data": 1, "nope": 1}}, 400, 'Unrecognized field "nope"'),
    ({"nope": 1}, 400, 'Unrecognized field "nope"'),
    ({"partition_id": -1}, 40402, "Partition not found."),
    ({"partition_id": 0.5}, 400, "partition_id=0.5 is not a number"),
    ({"headers": {"a": "b"}}, 400, "is not a list of headers"),
    ({"headers": [{"value": "dg=="}]}, 400, "is not an object with a name"),
    ({"headers": [{"name": "h", "value": "!"}]}, 400, "is not base64"),
    ({"timestamp": "yesterday"}, 400, 'timestamp="yesterday" is neither a date'),
    ({"timestamp": "2021-02-05T19:14:42"}, 400, "is neither a date"),
    ({"timestamp": 10**30}, 400, "is neither a date"),
    ({"timestamp": 0}, 400, "not after the beginning of 1970"),
]


def test_a_record_that_is_wrong_has_its_receipt_in_its_turn(v3: V3Service, topic: str) -> None:
    v3.create(topic)
    sent = [record for bad, _, _ in BAD_RECORDS for record in (bad, text("good"))]
    receipts = post(v3, topic, *sent)
    assert [receipt["offset"] for receipt in receipts[1::2]] == list(range(len(BAD_RECORDS)))
    for (bad, code, message), receipt in zip(BAD_RECORDS, receipts[::2], strict=True):
        assert (receipt["error_code"], sorted(receipt)) == (code, ["error_code", "message"]), (bad, receipt)
        assert message in receipt["message"], bad


@pytest.mark.parametrize("form", ["AVRO", "JSONSCHEMA"])
def test_a_record_that_is_refused_leaves_no_schema_behind(
    rest_url: str, barnabas: BarnabasBroker, registry_url: str, topic: str, form: str
) -> None:
    v3 = V3Service.at(rest_url, barnabas.address)
    v3.create(topic)
    good = {"type": form, "schema": SCHEMAS[form][0], "data": {"f": 1}}
    bad = {**good, "data": {"f": "x"}}
    receipts = post(v3, topic, {"value": bad}, {"value": good, "key": bad}, {"value": good, "partition_id": "x"})
    assert [receipt["error_code"] for receipt in receipts] == [400, 400, 400], receipts
    refused = batch(v3, topic, {"entries": [{"id": "1", "value": bad}]}).body
    assert [failure["error_code"] for failure in refused["failures"]] == [400]
    assert ask(registry_url, "GET", f"/subjects?subjectPrefix={topic}").body == []
    assert [receipt["error_code"] for receipt in post(v3, topic, {"value": good, "key": good})] == [200]
    assert ask(registry_url, "GET", f"/subjects?subjectPrefix={topic}").body == [f"{topic}-key", f"{topic}-value"]


def test_records_are_taken_for_a_cluster_of_any_name(v3: V3Service, topic: str) -> None:
    """As by Confluent's proxy, whose clients may write any."""
    v3.create(topic)
    answer = ask(
        v3.url, "POST", f"/v3/clusters/any/topics/{topic}/records", text("a"), {"Content-Type": "application/json"}
    )
    assert (answer.status, answer.body["cluster_id"], answer.body["offset"]) == (200, "any", 0)


def test_receipts_come_while_the_upload_goes_on(v3: V3Service, topic: str) -> None:
    v3.create(topic)
    with Upload(v3, topic) as upload:
        assert upload.head.startswith("HTTP/1.1 200 ")
        upload.send(lines([text("a")], ""))
        assert [each["offset"] for each in upload.receipts(1)] == [0]
        upload.send(lines([text("b"), {"value": {"type": "STRING", "data": 1}}, text("c")]))
        assert [each.get("offset") for each in upload.receipts(3)] == [1, None, 2]
        half = lines([text("d")])
        upload.send(half[:15])
        upload.send(half[15:] + lines([text("e")])[:20])
        assert [each["offset"] for each in upload.receipts(1)] == [3]
        upload.send(lines([text("e")])[20:])
        assert [each["offset"] for each in upload.finish()] == [4]
    assert [message.value() for message in read(v3, topic, 5)] == [b"a", b"b", b"c", b"d", b"e"]


def test_a_long_upload_is_written_in_order(v3: V3Service, topic: str) -> None:
    count = 12_000
    v3.create(topic)
    with Upload(v3, topic) as upload:
        for start in range(0, count, 3_000):
            upload.send(lines([text(str(number)) for number in range(start, start + 3_000)]))
        receipts = upload.finish()
    assert [receipt["offset"] for receipt in receipts] == list(range(count))
    assert [message.value() for message in read(v3, topic, count)] == [b"%d" % number for number in range(count)]


@pytest.mark.parametrize(
    ("body", "good", "message"),
    [
        (lines([text("a")]) + b"garbage" + lines([text("b")]), 1, "should begin at byte"),
        (lines([text("a"), text("b")]) + b'{"value":{"type":"JS', 2, "in the middle of a record"),
        (b'{"value":tru}' + lines([text("a")]), 0, "not valid JSON"),
    ],
)
def test_broken_json_ends_the_stream(v3: V3Service, topic: str, body: bytes, good: int, message: str) -> None:
    v3.create(topic)
    answer = v3.ask("POST", f"/topics/{topic}/records", body)
    receipts = [json.loads(line) for line in answer.raw.split(b"\r\n") if line]
    assert [receipt["error_code"] for receipt in receipts] == [200] * good + [400]
    assert receipts[-1]["message"].startswith("Bad Request: Error processing message: ")
    assert message in receipts[-1]["message"]
    assert receipts[-1]["message"].endswith("The upload ends here: what follows was not read.")


def test_an_empty_upload_has_no_receipts(v3: V3Service, topic: str) -> None:
    answer = v3.ask("POST", f"/topics/{topic}/records", b"")
    assert (answer.status, answer.raw) == (200, b"")


def test_what_a_client_sent_before_it_died_is_written(v3: V3Service, topic: str) -> None:
    v3.create(topic)
    with Upload(v3, topic) as upload:
        upload.send(lines([text("a")]))
        assert upload.receipts(1)[0]["offset"] == 0
        upload.send(lines([text("b")]) + lines([text("c")])[:10])
    assert [message.value() for message in read(v3, topic, 2)] == [b"a", b"b"]
    assert [each["offset"] for each in post(v3, topic, text("d"))] == [2]


@pytest.mark.parametrize("path", ["records", "records:batch"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/vnd.kafka.json.v2+json"}, 415),
        ({"Content-Type": "application/json", "Accept": "text/plain"}, 406),
    ],
)
def test_types_that_are_not_ours_are_refused(
    v3: V3Service, topic: str, path: str, headers: dict[str, str], status: int
) -> None:
    answer = v3.ask("POST", f"/topics/{topic}/{path}", lines([text("a")]), headers)
    assert (answer.status, answer.code) == (status, status)


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", ""])
def test_neither_a_charset_nor_a_type_is_needed(v3: V3Service, topic: str, content_type: str) -> None:
    headers = {"Content-Type": content_type, "Accept": "*/*"}
    answer = v3.ask("POST", f"/topics/{topic}/records", lines([text("a")]), headers)
    assert answer.body["error_code"] == 200


def test_a_topic_that_cannot_be_is_told_in_each_receipt(v3: V3Service) -> None:
    receipts = post(v3, "bad%20name", text("a"), text("b"))
    assert receipts == [{"error_code": 40002, "message": "Invalid topics: [bad name]"}] * 2


def test_a_batch_has_a_result_for_each_entry(v3: V3Service, topic: str) -> None:
    v3.create(topic)
    entries = [
        {"id": "1", **text("a")},
        {"id": "b-2_", "value": {"type": "BINARY", "data": "!!"}},
        {"id": "3", "key": {"type": "STRING", "data": "k"}, "timestamp": "2021-02-05T19:14:42Z"},
    ]
    answer = batch(v3, topic, {"entries": entries})
    assert answer.status == 207
    first, second = answer.body["successes"]
    place = {"cluster_id": v3.cluster_id, "topic_name": topic, "partition_id": 0}
    date = first.pop("timestamp")
    assert first == {"id": "1", **place, "offset": 0, "value": {"type": "STRING", "size": 1}}
    assert date.endswith("Z")
    key = {"type": "STRING", "size": 1}
    assert second == {"id": "3", **place, "offset": 1, "timestamp": "2021-02-05T19:14:42Z", "key": key}
    message = 'Bad Request: data="!!" is not a valid base64 string.'
    assert answer.body["failures"] == [{"id": "b-2_", "error_code": 400, "message": message}]
    assert [each.value() for each in read(v3, topic, 2)] == [b"a", None]


@pytest.mark.parametrize(
    ("body", "status", "code", "message"),
    [
        ({"entries": [{"id": "1"}, {"id": "1"}]}, 422, 42208, "Batch entry IDs are not distinct."),
        ({"entries": []}, 422, 42208, "Empty batch."),
        ({}, 422, 42208, "Empty batch."),
        ({"entries": [{"id": str(n)} for n in range(11)]}, 422, 42208, "Too many entries in batch."),
        ({"entries": [{"id": "a b"}]}, 422, 42208, "Batch entry identifier is not a valid string."),
        ({"entries": [{"id": 1}]}, 422, 42208, "Batch entry identifier is not a valid string."),
        (b"", 422, 42208, "Request body is empty. Data is required."),
        (b"null", 422, 42208, "Request body is empty. Data is required."),
        ({"entries": [], "nope": 1}, 422, 422, "Unrecognized field: nope"),
        (b"{", 400, 400, "the body is not valid JSON"),
        ([], 400, 400, "an object with the field 'entries'"),
        ({"entries": [1]}, 400, 400, "a list of objects"),
    ],
)
def test_a_batch_that_is_wrong_is_refused_as_a_whole(
    v3: V3Service, topic: str, body: object, status: int, code: int, message: str
) -> None:
    answer = batch(v3, topic, body)
    assert (answer.status, answer.code) == (status, code)
    assert message in answer.body["message"]
