"""What clients should not send, and what they are told."""

from __future__ import annotations

import gzip
import json

import pytest

from tests.registry import RegistryProcess
from tests.schema_registry.http.conftest import Space, record

GOOD = {"schema": record("A", ("x", "int"))}
DEEP = 5_000


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, 400),
        (b"[]", 400, 400),
        (b"\xff\xfe", 400, 400),
        (b"", 422, 422),
        (b"null", 422, 422),
        (b'{"schema": {"type": "int"}}', 400, 400),
        (b'{"schema": "\\"int\\"", "schemaType": {}}', 400, 400),
        (b'{"schema": "\\"int\\"", "schemaType": 7}', 422, 42201),
        (b'{"schema": "\\"int\\"", "schemaType": ""}', 422, 42201),
        (b'{"schema": "\\"int\\"", "version": "2"}', 422, 42201),
        (b'{"schema": "\\"int\\"", "references": {}}', 400, 400),
        (b'{"schema": "\\"int\\"", "references": [{"name": "a"}]}', 400, 400),
        (b'{"schema": "\\"int\\"", "version": "two"}', 400, 400),
        (b'{"schema": "\\"int\\"", "id": 99999999999}', 400, 400),
        (b'{"schema": "\\"int\\"", "metadata": {"properties": {"a": {}}}}', 400, 400),
        (b'{"schema": "\\"int\\"", "schemaType": "XML"}', 422, 42201),
        (b'{"schema": ""}', 422, 42201),
        (b'{"type": "record", "name": "A", "fields": []}', 422, 42201),
    ],
)
def test_bodies(space: Space, body: bytes, status: int, code: int) -> None:
    answer = space.ask("POST", "/subjects/s/versions", body)
    assert (answer.status, answer.code) == (status, code), answer.raw
    assert space.ask("GET", "/subjects/s/versions").code == 40401, "nothing was stored"


@pytest.mark.parametrize(
    ("schema_type", "text", "words"),
    [
        ("AVRO", '{"type": "record",', "line 1"),
        ("AVRO", '{"type": "recrod", "name": "A", "fields": []}', "recrod"),
        ("AVRO", record("A", ("x", "int", "five")), "five"),
        ("AVRO", record("A", ("x", "int"), ("x", "int")), "x"),
        ("JSON", '{"type": ', "line 1"),
        ("JSON", '{"type": "strnig"}', "strnig"),
        ("JSON", '{"$ref": "#/definitions/missing"}', "missing"),
        ("PROTOBUF", 'syntax = "proto3";\nmessage A { int32 x = 1', "2"),
        ("PROTOBUF", 'syntax = "proto3"; message A { Missing x = 1; }', "Missing"),
        ("PROTOBUF", 'syntax = "proto3"; message A { int32 x = 1; int32 y = 1; }', "1"),
    ],
)
def test_schemas_that_are_none(space: Space, schema_type: str, text: str, words: str) -> None:
    body = {"schema": text, "schemaType": schema_type}
    answer = space.ask("POST", "/subjects/s/versions", body)
    assert (answer.status, answer.code) == (422, 42201), answer.raw
    assert f"Invalid schema of type {schema_type}, details: " in answer.body["message"]
    assert words in answer.body["message"]
    told = space.ask("POST", "/compatibility/subjects/s/versions/latest?verbose=true", body)
    assert told.body == {"is_compatible": False, "messages": [answer.body["message"]]}


HOSTILE = {
    "deep Avro": ("AVRO", '{"type":"array","items":' * DEEP + '"int"' + "}" * DEEP),
    "deep JSON": ("JSON", '{"items":' * DEEP + "{}" + "}" * DEEP),
    "deep JSON in defaults": ("JSON", '{"default":' + "[" * DEEP + "]" * DEEP + "}"),
    "deep Protobuf": ("PROTOBUF", 'syntax="proto3";' + "".join(f"message M{n} {{" for n in range(DEEP)) + "}" * DEEP),
    "deep options": ("PROTOBUF", 'syntax="proto3"; option (a) = ' + "{a:" * DEEP + "1" + "}" * DEEP + ";"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_schemas_are_refused_quickly(space: Space, name: str) -> None:
    schema_type, text = HOSTILE[name]
    answer = space.ask("POST", "/subjects/s/versions", {"schema": text, "schemaType": schema_type})
    assert (answer.status, answer.code) == (422, 42201), answer.raw[:300]
    assert len(answer.raw) < 2_000, "the message need not repeat the schema"
    assert space.registry.ask("GET", "/subjects").status == 200, "and the service goes on"


def test_a_pattern_that_backtracks_for_ever_costs_nothing(space: Space) -> None:
    text = json.dumps({"type": "object", "patternProperties": {"(a+)+$": {"type": "string"}}})
    space.register("s", text, "JSON")
    wider = json.dumps({"type": "object", "patternProperties": {"(a+)+$": {}}, "properties": {"a" * 60 + "!": {}}})
    assert (
        space.ask("POST", "/compatibility/subjects/s/versions/latest", {"schema": wider, "schemaType": "JSON"}).status
        == 200
    )


@pytest.mark.parametrize("content_type", ["text/plain", "application/xml", "nonsense"])
def test_content_types_that_are_not_taken(registry: RegistryProcess, content_type: str) -> None:
    answer = registry.ask("POST", "/subjects/s/versions", GOOD, {"Content-Type": content_type})
    assert (answer.status, answer.code) == (415, 415)
    assert answer.body["message"].endswith("send application/vnd.schemaregistry.v1+json or application/json")


@pytest.mark.parametrize(
    "content_type",
    [
        "application/vnd.schemaregistry.v1+json",
        "application/vnd.schemaregistry+json; charset=utf-8",
        "application/json",
        "application/octet-stream",
    ],
)
def test_content_types_that_are_taken(registry: RegistryProcess, content_type: str) -> None:
    answer = registry.ask("POST", "/compatibility/subjects/none/versions/latest", GOOD, {"Content-Type": content_type})
    assert answer.body == {"is_compatible": True}


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("*/*", "application/vnd.schemaregistry.v1+json"),
        ("application/json", "application/json"),
        ("application/*", "application/vnd.schemaregistry.v1+json"),
        ("application/json, application/vnd.schemaregistry+json", "application/vnd.schemaregistry+json"),
        ("text/html", None),
    ],
)
def test_accepted_types(registry: RegistryProcess, accept: str, chosen: str | None) -> None:
    answer = registry.ask("GET", "/subjects", headers={"Accept": accept})
    if chosen is None:
        assert (answer.status, answer.code) == (406, 406)
    else:
        assert (answer.status, answer.headers["content-type"]) == (200, chosen)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/subjects/s/versions", GOOD),
        ("PUT", "/config/s", {"compatibility": "FULL"}),
        ("PUT", "/mode/s", {"mode": "READONLY"}),
        ("DELETE", "/subjects/t", None),
    ],
)
def test_nothing_is_written_for_a_client_that_takes_no_answer(
    space: Space, method: str, path: str, body: dict[str, object] | None
) -> None:
    space.register("t", GOOD["schema"])
    before = space.get("/subjects?deleted=true")
    refused = space.registry.ask(method, f"/contexts/{space.name}{path}", body, {"Accept": "text/html"})
    assert (refused.status, refused.code) == (406, 406)
    assert space.get("/subjects?deleted=true") == before
    assert space.get("/subjects/t/versions") == [1]
    assert [space.ask("GET", f"/{kind}/s").code for kind in ("config", "mode")] == [40408, 40409]


def test_bodies_without_end(registry: RegistryProcess) -> None:
    huge = {"schema": "x" * (9 * 1024 * 1024)}
    assert registry.ask("POST", "/subjects/s/versions", huge).status == 413
    bomb = gzip.compress(json.dumps(huge).encode())
    assert registry.ask("POST", "/subjects/s/versions", bomb, {"Content-Encoding": "gzip"}).status == 413


def test_a_schema_that_kafka_would_not_take(space: Space) -> None:
    text = record("A", *((f"field_{number}", "int", number) for number in range(20_000)))
    answer = space.ask("POST", "/subjects/s/versions", {"schema": text})
    assert (answer.status, answer.code) == (422, 42209), answer.raw[:300]
    space.register("s", GOOD["schema"])


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("PUT", "/subjects", 405),
        ("GET", "/nope", 404),
        ("POST", "/config", 405),
        ("DELETE", "/contexts/.", 405),
        ("GET", "/contexts//subjects", 400),
        ("POST", "/contexts/.a/subjects//versions", 400),
    ],
)
def test_paths_and_methods_that_do_not_exist(registry: RegistryProcess, method: str, path: str, status: int) -> None:
    answer = registry.ask(method, path)
    assert (answer.status, answer.code) == (status, status)
