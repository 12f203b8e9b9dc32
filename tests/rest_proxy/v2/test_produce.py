"""Producing through v2, read back with confluent-kafka."""

from __future__ import annotations

import base64
import json
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest

from barnabas.kernel.serdes.framing import id_prefix
from tests.broker import BarnabasBroker, BrokerProcess
from tests.clients.confluent_client import ConfluentClient, create_topic
from tests.registry import Answer, ask

ORDER = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [{"name": "id", "type": "int"}, {"name": "note", "type": ["null", "string"], "default": None}],
    }
)
POINT = json.dumps({"type": "object", "properties": {"x": {"type": "integer"}}})
PERSON = 'syntax = "proto3"; message Person { string name = 1; }'
MANY = 1_234
"""More records than are encoded in one go."""


class Service(NamedTuple):
    url: str
    broker: BrokerProcess


@pytest.fixture(params=["ours", "kafka"])
def service(request: pytest.FixtureRequest) -> Service:
    """The proxy, on our broker and on Apache Kafka."""
    url, broker = {"ours": ("rest_url", "barnabas"), "kafka": ("rest_on_kafka_url", "apache_kafka")}[request.param]
    return Service(request.getfixturevalue(url), request.getfixturevalue(broker))


def produce(url: str, path: str, form: str, body: object, **headers: str) -> Answer:
    given = {"Content-Type": f"application/vnd.kafka.{form}.v2+json", **headers}
    return ask(url, "POST", path, body, given)


def read(broker: BrokerProcess, topic: str, count: int, partition: int = 0) -> list[tuple[bytes | None, bytes | None]]:
    found = ConfluentClient().consume(broker.address, topic, count, partition=partition)
    return [(each.record.key, each.record.value) for each in found]


def placed(*offsets: int, partition: int = 0) -> list[dict[str, Any]]:
    return [{"partition": partition, "offset": offset, "error_code": None, "error": None} for offset in offsets]


@pytest.mark.parametrize(
    ("form", "records", "expected"),
    [
        (
            "binary",
            [{"key": "aw==", "value": "AAH/"}, {"value": None}, {"value": ""}],
            [(b"k", b"\x00\x01\xff"), (None, None), (None, b"")],
        ),
        (
            "json",
            [{"key": {"k": 1}, "value": [1, "ä", 123456789012345678901]}, {"key": "k"}, {"value": False}],
            [(b'{"k":1}', '[1,"ä",123456789012345678901]'.encode()), (b'"k"', None), (None, b"false")],
        ),
    ],
)
def test_records_without_schemas(
    service: Service, topic: str, form: str, records: list[Any], expected: list[Any]
) -> None:
    answer = produce(service.url, f"/topics/{topic}", form, {"records": records})
    assert (answer.status, answer.headers["content-type"]) == (200, "application/vnd.kafka.v2+json")
    assert answer.body == {"offsets": placed(0, 1, 2), "key_schema_id": None, "value_schema_id": None}
    assert read(service.broker, topic, 3) == expected


@pytest.mark.parametrize(
    ("form", "schema", "values", "bodies"),
    [
        (
            "avro",
            ORDER,
            [{"id": 1, "note": "x"}, {"id": 2, "note": {"string": "x"}}],
            [b"\x02\x02\x02x", b"\x04\x02\x02x"],
        ),
        ("jsonschema", POINT, [{"x": 1}, {"x": 2}], [b'{"x":1}', b'{"x":2}']),
        ("protobuf", PERSON, [{"name": "Ada"}, {}], [b"\0\x0a\x03Ada", b"\0"]),
    ],
)
def test_records_with_schemas_by_text_and_by_id(
    service: Service, topic: str, form: str, schema: str, values: list[Any], bodies: list[bytes]
) -> None:
    body = {
        "key_schema": schema,
        "value_schema": schema,
        "records": [{"key": values[0], "value": each} for each in values],
    }
    answer = produce(service.url, f"/topics/{topic}", form, body).body
    key_id, value_id = answer["key_schema_id"], answer["value_schema_id"]
    assert answer["offsets"] == placed(0, 1)
    by_id = {"value_schema_id": str(value_id), "records": [{"value": values[1]}]}
    again = produce(service.url, f"/topics/{topic}", form, by_id).body
    assert again == {"offsets": placed(2), "key_schema_id": None, "value_schema_id": value_id}
    key, first, second = id_prefix(key_id) + bodies[0], id_prefix(value_id) + bodies[0], id_prefix(value_id) + bodies[1]
    assert read(service.broker, topic, 3) == [(key, first), (key, second), (None, second)]


@pytest.mark.parametrize(
    ("form", "schema", "records", "told"),
    [
        ("avro", ORDER, [{"value": {"id": 1}}, {"value": {"id": "x"}}], "records[1].value: "),
        ("avro", ORDER, [{"value": {"id": 1}, "key": {"id": "x"}}], "records[0].key: "),
        ("jsonschema", POINT, [{"value": {"x": "y"}}], "records[0].value: "),
        ("jsonschema", POINT, [{"value": {"x": 1}, "when": 1}], "Unrecognized field: when"),
    ],
)
def test_a_request_that_is_refused_leaves_no_schema_behind(
    rest_url: str, registry_url: str, topic: str, form: str, schema: str, records: list[Any], told: str
) -> None:
    body = {"key_schema": schema, "value_schema": schema, "records": records}
    answer = produce(rest_url, f"/topics/{topic}", form, body)
    assert answer.status >= 400
    assert told in answer.body["message"]
    subjects = ask(registry_url, "GET", f"/subjects?subjectPrefix={topic}", None)
    assert (subjects.status, subjects.body) == (200, [])


def test_partitions_are_those_of_the_record_or_of_the_path(rest_url: str, barnabas: BarnabasBroker, topic: str) -> None:
    create_topic(barnabas.address, topic, partitions=3)
    mixed = {"records": [{"value": 1, "partition": 2}, {"value": 2, "partition": "1"}, {"value": 3, "partition": 2.0}]}
    first = produce(rest_url, f"/topics/{topic}", "json", mixed).body["offsets"]
    assert [(each["partition"], each["offset"]) for each in first] == [(2, 0), (1, 0), (2, 1)]
    second = produce(rest_url, f"/topics/{topic}/partitions/1", "json", {"records": [{"value": 4}]}).body
    assert second["offsets"] == placed(1, partition=1)
    assert read(barnabas, topic, 2, partition=1) == [(None, b"2"), (None, b"4")]


def test_many_records_keep_their_order(rest_url: str, barnabas: BarnabasBroker, topic: str) -> None:
    records = [{"value": number} for number in range(MANY)]
    answer = produce(rest_url, f"/topics/{topic}", "json", {"records": records}).body
    assert answer["offsets"] == placed(*range(MANY))
    assert [json.loads(value or b"") for _, value in read(barnabas, topic, MANY)] == list(range(MANY))


@pytest.mark.parametrize(
    "content_type",
    [
        "application/vnd.kafka.binary.v2+json; charset=utf-8",
        "Application/VND.kafka.Binary.v2+JSON;charset=UTF-8;x=y",
        "",
    ],
)
def test_records_are_base64_whatever_the_parameters_and_without_a_type(
    rest_url: str, topic: str, content_type: str
) -> None:
    value = base64.b64encode(b"x").decode()
    body = {"records": [{"value": value}]}
    assert ask(rest_url, "POST", f"/topics/{topic}", body, {"Content-Type": content_type}).status == 200


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/vnd.kafka.v2+json", "application/vnd.kafka.xml.v2+json", "json"]
)
def test_other_content_types_are_refused(rest_url: str, topic: str, content_type: str) -> None:
    answer = ask(rest_url, "POST", f"/topics/{topic}", {"records": [{"value": 1}]}, {"Content-Type": content_type})
    assert (answer.status, answer.code) == (415, 415)
    assert answer.body["message"].startswith(
        "HTTP 415 Unsupported Media Type: send application/vnd.kafka.binary.v2+json or "
    )


@pytest.mark.parametrize(
    ("form", "body", "status", "code", "message"),
    [
        ("json", b"", 422, 422, "must not be empty"),
        ("json", b" \n", 422, 422, "the body of the request must not be empty"),
        ("json", b"null", 422, 422, "the body of the request must not be empty"),
        ("json", {}, 422, 422, "records must not be empty"),
        ("json", {"records": []}, 422, 422, "records must not be empty"),
        ("json", {"records": {}}, 400, 400, "records must be a list"),
        ("json", {"records": [1]}, 400, 400, "records[0] must be an object"),
        ("json", [], 400, 400, "must be an object"),
        ("json", b'{"records":[{"val', 400, 400, "not valid JSON"),
        ("json", {"records": [{"value": 1, "headers": []}]}, 422, 422, "Unrecognized field: headers"),
        ("json", {"records": [{"value": 1}], "nope": 1}, 422, 422, "Unrecognized field: nope"),
        ("json", {"records": [{"value": 1, "partition": -1}]}, 400, 400, "records[0].partition must be"),
        ("json", {"records": [{"value": 1, "partition": 0.5}]}, 400, 400, "records[0].partition must be"),
        (
            "binary",
            {"records": [{"value": ""}, {"value": "!!"}]},
            400,
            400,
            'Bad Request: records[1].value: data="!!" is not a valid base64 string.',
        ),
        ("binary", {"records": [{"key": 1}]}, 400, 400, "records[0].key: data=1 is not a base64 string."),
        ("avro", {"records": [{"key": 1}]}, 422, 42201, "Request includes keys but does not include key schema"),
        ("avro", {"records": [{"value": 1}]}, 422, 42202, "Request includes values but does not include value schema"),
        ("avro", {"value_schema": "{", "records": [{"value": 1}]}, 422, 42205, "Invalid schema: "),
        ("avro", {"value_schema_id": 2**31 - 1, "records": [{"value": 1}]}, 422, 42207, "Error serializing message. "),
        ("avro", {"value_schema_id": "x", "records": [{"value": 1}]}, 400, 400, "value_schema_id must be"),
        ("avro", {"value_schema": {}, "records": [{"value": 1}]}, 400, 400, "value_schema must be the text"),
        ("avro", {"value_schema": '"int"', "value_schema_id": 1, "records": [{"value": 1}]}, 400, 400, "exclude"),
        (
            "avro",
            {"value_schema": ORDER, "records": [{"value": {"id": "x"}}]},
            400,
            400,
            "records[0].value: at id: 'x'",
        ),
        (
            "jsonschema",
            {"value_schema": POINT, "records": [{"value": {"x": "y"}}]},
            400,
            400,
            "records[0].value: at x: ",
        ),
        ("protobuf", {"value_schema": PERSON, "records": [{"value": {"nope": 1}}]}, 400, 400, "records[0].value: "),
    ],
)
def test_a_request_that_is_wrong_is_refused_as_a_whole(
    rest_url: str, topic: str, form: str, body: object, status: int, code: int, message: str
) -> None:
    answer = produce(rest_url, f"/topics/{topic}", form, body)
    assert (answer.status, answer.code) == (status, code)
    assert message in answer.body["message"]
    assert topic not in ask(rest_url, "GET", "/topics").body


def test_a_record_that_fails_does_so_in_its_place(rest_url: str, barnabas: BarnabasBroker, topic: str) -> None:
    create_topic(barnabas.address, topic)
    big = "x" * 2_000_000
    body = {"records": [{"value": 1}, {"value": 2, "partition": 9}, {"value": big}, {"value": 3}]}
    answer = produce(rest_url, f"/topics/{topic}", "json", body)
    assert answer.status == 200
    first, unknown, oversize, last = answer.body["offsets"]
    assert [first, last] == placed(0, 1)
    assert unknown == {"partition": None, "offset": None, "error_code": 50003, "error": "Partition not found."}
    assert (oversize["partition"], oversize["offset"], oversize["error_code"]) == (None, None, 50002)
    assert read(barnabas, topic, 2) == [(None, b"1"), (None, b"3")]


@pytest.mark.parametrize("name", ["no%20topic", "%2E%2E", "t" * 250, "%C3%A4"])
def test_a_topic_that_cannot_be_is_told_in_the_place_of_each_record(rest_url: str, name: str) -> None:
    answer = produce(rest_url, f"/topics/{name}", "json", {"records": [{"value": 1}, {"value": 2}]})
    failure = {"partition": None, "offset": None, "error_code": 50002, "error": f"Invalid topics: [{unquote(name)}]"}
    assert (answer.status, answer.body["offsets"]) == (200, [failure, failure])
