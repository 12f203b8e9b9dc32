"""Formats with schemas, against our registry: what is written is read by Confluent's deserializers, and the other way round."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable, Iterator
from time import monotonic
from typing import Any, TypeVar

import orjson
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from barnabas.kernel.serdes.framing import id_prefix
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.schema_text import AVRO, JSON, PROTOBUF, SchemaText
from barnabas.kernel.settings import resolve
from rest_proxy.formats import lookups
from rest_proxy.formats.encoder import Encoder
from rest_proxy.formats.failure import (
    FormatFailure,
    InvalidData,
    InvalidSchema,
    RegistryUnavailable,
    SchemaRefused,
    Undecodable,
)
from rest_proxy.formats.formats import LATEST_KEPT_S, TEXT_KEPT_MAX_CHARACTERS, Formats
from rest_proxy.formats.schema_choice import SchemaChoice
from rest_proxy.settings import REST_CATALOGUE
from tests.ports import free_port

ORDER = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [{"name": "id", "type": "int"}, {"name": "note", "type": ["null", "string"], "default": None}],
    }
)
POINT = json.dumps({"title": "Point", "type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]})
PERSON = 'syntax = "proto3"; package p; message Person { string first_name = 1; int32 age = 2; }'
TEXTS = {"avro": (AVRO, ORDER), "jsonschema": (JSON, POINT), "protobuf": (PROTOBUF, PERSON)}

T = TypeVar("T")


@pytest.fixture
def client(registry_url: str) -> Iterator[RegistryClient]:
    with RegistryClient(registry_url) as client:
        yield client


@pytest.fixture
def confluent(registry_url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": registry_url}) as client:
        yield client


def with_formats(url: str, scenario: Callable[[Formats], Awaitable[T]]) -> T:
    async def run() -> T:
        formats = Formats(resolve(REST_CATALOGUE, {"schema.registry.url": url}, {}))
        try:
            return await scenario(formats)
        finally:
            await formats.stop()

    return asyncio.run(run())


def encoder_of(url: str, choice: SchemaChoice) -> Encoder:
    return with_formats(url, lambda formats: formats.encoder(choice))


def decoded(url: str, form: str, data: bytes | None, headers: list[tuple[str, bytes]] | None = None) -> Any:
    (fragment,) = with_formats(url, lambda formats: formats.decode_all(form, [(data, headers or [])]))
    return json.loads(orjson.dumps(fragment))


def context(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


@pytest.mark.parametrize("value", [{"id": 1, "note": "x"}, {"id": 1, "note": {"string": "x"}}])
def test_avro_of_either_union_form_is_read_by_confluent(
    registry_url: str, confluent: SchemaRegistryClient, topic: str, value: Any
) -> None:
    data = encoder_of(registry_url, SchemaChoice(topic, is_key=False, format="avro", text=ORDER)).encode(value)
    read = AvroDeserializer(confluent)
    assert read(data, context(topic)) == {"id": 1, "note": "x"}


def test_json_schema_is_read_by_confluent(registry_url: str, topic: str) -> None:
    encoder = encoder_of(registry_url, SchemaChoice(topic, is_key=False, format="jsonschema", text=POINT))
    assert JSONDeserializer(POINT)(encoder.encode({"x": 1}), context(topic)) == {"x": 1}


def test_protobuf_has_its_frame_and_its_message(registry_url: str, topic: str) -> None:
    encoder = encoder_of(registry_url, SchemaChoice(topic, is_key=True, format="protobuf", text=PERSON))
    assert encoder.schema_id is not None
    expected = id_prefix(encoder.schema_id) + b"\0" + b"\x0a\x03Ada\x10\x24"
    assert encoder.encode({"firstName": "Ada", "age": 36}) == expected
    assert encoder.encode({"first_name": "Ada", "age": 36}) == expected


@pytest.mark.parametrize(
    ("schema", "given", "shown"),
    [
        ('["null","int"]', {"int": 5}, 5),
        ('["null","string"]', "x", "x"),
        ('[{"type":"map","values":["null","int"]}]', {"map": {"a": 5}}, {"a": {"int": 5}}),
        ('{"type":"array","items":["null","int"]}', [5, None], [{"int": 5}, None]),
    ],
)
def test_the_branch_of_a_union_is_told_only_inside_of_something(
    registry_url: str, topic: str, schema: str, given: object, shown: object
) -> None:
    encoder = encoder_of(registry_url, SchemaChoice(topic, is_key=False, format="avro", text=schema))
    assert decoded(registry_url, "avro", encoder.encode(given)) == shown


@pytest.mark.parametrize("form", TEXTS)
def test_null_is_no_value_at_all(registry_url: str, topic: str, form: str) -> None:
    assert (
        encoder_of(registry_url, SchemaChoice(topic, is_key=False, format=form, text=TEXTS[form][1])).encode(None)
        is None
    )


@pytest.mark.parametrize(
    ("strategy", "subject"),
    [
        (None, "{topic}-key"),
        ("TOPIC_NAME", "{topic}-key"),
        ("RECORD_NAME", "shop.Order"),
        ("TOPIC_RECORD_NAME", "{topic}-shop.Order"),
    ],
)
def test_a_text_is_registered_under_the_subject_of_its_strategy(
    registry_url: str, client: RegistryClient, topic: str, strategy: str | None, subject: str
) -> None:
    encoder = encoder_of(registry_url, SchemaChoice(topic, is_key=True, format="avro", text=ORDER, strategy=strategy))
    assert encoder.subject == subject.format(topic=topic)
    assert client.version(encoder.subject).id == encoder.schema_id


@pytest.mark.parametrize("form", TEXTS)
def test_every_way_to_name_a_schema_finds_it(registry_url: str, client: RegistryClient, topic: str, form: str) -> None:
    kind, text = TEXTS[form]
    schema_id = client.register(f"{topic}-value", SchemaText(text, kind))
    choices = [
        SchemaChoice(topic, is_key=False, format=form, text=text),
        SchemaChoice(topic, is_key=False, format=form, id=schema_id),
        SchemaChoice(topic, is_key=False, id=schema_id),
        SchemaChoice(topic, is_key=False, version=1),
        SchemaChoice(topic, is_key=False),
        SchemaChoice("other", is_key=True, subject=f"{topic}-value"),
    ]

    async def scenario(formats: Formats) -> None:
        for choice in choices:
            found = await formats.encoder(choice)
            assert (found.format, found.schema_id, found.subject, found.version) == (
                form,
                schema_id,
                f"{topic}-value",
                1,
            )
            assert formats.known(choice) is found

    with_formats(registry_url, scenario)


def test_the_latest_version_is_asked_for_again_after_a_while(
    registry_url: str, client: RegistryClient, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = f"{topic}-value"
    client.register(subject, SchemaText('"int"'))
    latest = SchemaChoice(topic, is_key=False)

    async def scenario(formats: Formats) -> list[int | None]:
        versions = [(await formats.encoder(latest)).version]
        client.register(subject, SchemaText('"long"'))
        versions.append((await formats.encoder(latest)).version)
        monkeypatch.setattr(lookups, "monotonic", lambda: monotonic() + LATEST_KEPT_S)
        versions.append((await formats.encoder(latest)).version)
        return versions

    assert with_formats(registry_url, scenario) == [1, 1, 2]


def test_long_texts_are_not_kept(registry_url: str, topic: str) -> None:
    text = ORDER + " " * TEXT_KEPT_MAX_CHARACTERS
    choice = SchemaChoice(topic, is_key=False, format="avro", text=text)

    async def scenario(formats: Formats) -> None:
        assert (await formats.encoder(choice)).version == 1
        assert formats.known(choice) is None

    with_formats(registry_url, scenario)


@pytest.mark.parametrize(
    ("choice", "failure", "reason"),
    [
        ({"id": 2**31 - 1}, SchemaRefused, "schemaId = 2147483647\n.*error code: 40403"),
        ({"version": 7}, InvalidData, "Schema does not exist for subject: .*-value, version: 7"),
        ({"version": 0}, InvalidData, "Schema does not exist for subject: .*-value, version: 0"),
        ({}, SchemaRefused, "latest schema version.*\n.*error code: 40401"),
        ({"format": "avro", "text": "{bad"}, InvalidSchema, "{bad\n"),
        ({"format": "avro", "text": '"string"', "strategy": "RECORD_NAME"}, SchemaRefused, "names no record"),
        ({"strategy": "RECORD_NAME"}, InvalidData, "without schema_id or schema"),
        ({"strategy": "NO_NAME"}, InvalidData, "none of TOPIC_NAME"),
        ({"text": '"string"'}, InvalidData, "give the type, too: AVRO, JSONSCHEMA, PROTOBUF"),
    ],
)
def test_choices_that_lead_nowhere_say_why(
    registry_url: str, topic: str, choice: dict[str, Any], failure: type[FormatFailure], reason: str
) -> None:
    with pytest.raises(failure, match=f"(?s){reason}"):
        encoder_of(registry_url, SchemaChoice(topic, is_key=False, **choice))


def test_a_schema_of_another_format_is_refused(registry_url: str, client: RegistryClient, topic: str) -> None:
    schema_id = client.register(f"{topic}-value", SchemaText(POINT, JSON))
    with pytest.raises(InvalidSchema, match="is of the type JSON, not avro"):
        encoder_of(registry_url, SchemaChoice(topic, is_key=False, format="avro", id=schema_id))


@pytest.mark.parametrize(
    ("form", "value", "reason"),
    [
        ("avro", {"id": "x"}, "at id: 'x' is not an int"),
        ("jsonschema", {"x": "y"}, 'at x: "y" is not of type "integer"'),
        ("protobuf", {"age": "old"}, "age"),
    ],
)
def test_values_that_do_not_fit_say_where_and_why(
    registry_url: str, topic: str, form: str, value: Any, reason: str
) -> None:
    encoder = encoder_of(registry_url, SchemaChoice(topic, is_key=False, format=form, text=TEXTS[form][1]))
    with pytest.raises(InvalidData, match=reason):
        encoder.encode(value)


def test_confluents_avro_is_shown_in_avros_json(registry_url: str, confluent: SchemaRegistryClient, topic: str) -> None:
    data = AvroSerializer(confluent, ORDER)({"id": 1, "note": "x"}, context(topic))
    assert decoded(registry_url, "avro", data) == {"id": 1, "note": {"string": "x"}}


def test_confluents_json_is_shown_as_it_is(registry_url: str, confluent: SchemaRegistryClient, topic: str) -> None:
    data = JSONSerializer(POINT, confluent)({"x": 1}, context(topic))
    assert decoded(registry_url, "jsonschema", data) == {"x": 1}


@pytest.mark.parametrize("form", TEXTS)
def test_what_was_encoded_is_decoded_by_prefix_or_header(
    registry_url: str, client: RegistryClient, topic: str, form: str
) -> None:
    value = {"avro": {"id": 7, "note": None}, "jsonschema": {"x": 7}, "protobuf": {"firstName": "Ada", "age": 36}}[form]
    encoder = encoder_of(registry_url, SchemaChoice(topic, is_key=False, format=form, text=TEXTS[form][1]))
    data = encoder.encode(value)
    assert data is not None
    assert encoder.schema_id is not None
    assert decoded(registry_url, form, data) == value
    prefix, body = data[:5], data[5:]
    guid: uuid.UUID = client.guid(encoder.schema_id)
    for header in (prefix, b"\x01" + guid.bytes):
        assert decoded(registry_url, form, body, [("__value_schema_id", header)]) == value


def test_many_records_are_decoded_at_once(registry_url: str, topic: str) -> None:
    encoder = encoder_of(registry_url, SchemaChoice(topic, is_key=False, format="avro", text=ORDER))
    records = [(encoder.encode({"id": number}), ()) for number in range(3)]

    async def scenario(formats: Formats) -> bytes:
        return orjson.dumps(await formats.decode_all("avro", [*records, (None, ())]))

    shown = json.loads(with_formats(registry_url, scenario))
    assert shown == [{"id": 0, "note": None}, {"id": 1, "note": None}, {"id": 2, "note": None}, None]


@pytest.mark.parametrize(
    ("form", "data", "reason"),
    [
        ("avro", b"plain", "no schema id"),
        ("protobuf", id_prefix(2**31 - 1) + b"\0", "schemaId = 2147483647\n.*40403"),
        ("jsonschema", b"AVRO\x02\x00", "the data is avro, not jsonschema"),
        ("avro", b"AVRO\xff", "ends too early"),
    ],
)
def test_bytes_that_cannot_be_shown_say_why(registry_url: str, topic: str, form: str, data: bytes, reason: str) -> None:
    encoder = encoder_of(registry_url, SchemaChoice(topic, is_key=False, format="avro", text=ORDER))
    assert encoder.schema_id is not None
    with pytest.raises(Undecodable, match=f"(?s){reason}"):
        decoded(registry_url, form, data.replace(b"AVRO", id_prefix(encoder.schema_id)))


def test_a_registry_that_is_not_there_is_named() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(RegistryUnavailable, match=f"cannot reach the schema registry at {url}"):
        encoder_of(url, SchemaChoice("t", is_key=False, id=1))
    with pytest.raises(RegistryUnavailable, match="cannot reach"):
        decoded(url, "avro", id_prefix(1) + b"\x02")
