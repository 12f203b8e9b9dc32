"""Our codecs beside confluent-kafka's serializers: what one writes, the other reads, in both framings."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import message_factory
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from barnabas.kernel.serdes.codecs import Codecs
from barnabas.kernel.serdes.framing import id_prefix, read_frame
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.schema_text import JSON, PROTOBUF, Reference, SchemaText

Headers = list[tuple[str, str | bytes | None]]

ITEM = '{"type":"record","name":"shop.Item","fields":[{"name":"name","type":"string"}]}'
ORDER = (
    '{"type":"record","name":"shop.Order","fields":[{"name":"id","type":"long"},'
    '{"name":"item","type":"shop.Item"},{"name":"note","type":["null","string"],"default":null}]}'
)
JSON_ORDER = '{"title":"Order","type":"object","properties":{"item":{"$ref":"item.json"}}}'


@pytest.fixture
def client(registry_url: str) -> Iterator[RegistryClient]:
    with RegistryClient(registry_url) as client:
        yield client


@pytest.fixture
def theirs(registry_url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": registry_url}) as client:
        yield client


def context(topic: str, headers: Headers | None = None) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE, headers)


def read(client: RegistryClient, data: bytes, headers: Headers) -> Any:
    frame = read_frame(data, [(name, value) for name, value in headers if isinstance(value, bytes)])
    assert frame is not None
    return Codecs(client).codec(frame.key).decode(frame.body)


def framings() -> pytest.MarkDecorator:
    by_header = {"schema.id.serializer": header_schema_id_serializer}
    return pytest.mark.parametrize("framing", [{}, by_header], ids=["prefix", "header"])


@framings()
def test_avro(client: RegistryClient, theirs: SchemaRegistryClient, topic: str, framing: dict[str, Any]) -> None:
    client.register(f"{topic}-item", SchemaText(ITEM))
    schema = Schema(ORDER, "AVRO", [SchemaReference("shop.Item", f"{topic}-item", 1)])
    headers: Headers = []
    value = {"id": 5, "item": {"name": "x"}, "note": "y"}
    data = AvroSerializer(theirs, schema, conf=framing)(value, context(topic, headers))
    assert bool(headers) == bool(framing)
    assert read(client, data, headers) == value
    schema_id = client.version(f"{topic}-value").id
    ours = id_prefix(schema_id) + Codecs(client).codec(schema_id).encode(value)
    assert AvroDeserializer(theirs)(ours, context(topic)) == value


@framings()
def test_json(client: RegistryClient, theirs: SchemaRegistryClient, topic: str, framing: dict[str, Any]) -> None:
    client.register(f"{topic}-item", SchemaText('{"type":"string"}', JSON))
    schema = Schema(JSON_ORDER, "JSON", [SchemaReference("item.json", f"{topic}-item", 1)])
    headers: Headers = []
    data = JSONSerializer(schema, theirs, conf=framing)({"item": "x"}, context(topic, headers))
    assert read(client, data, headers) == {"item": "x"}
    schema_id = client.version(f"{topic}-value").id
    ours = id_prefix(schema_id) + Codecs(client).codec(schema_id).encode({"item": "y"})
    assert JSONDeserializer(schema, schema_registry_client=theirs)(ours, context(topic)) == {"item": "y"}


def proto_files() -> tuple[FileDescriptorProto, FileDescriptorProto]:
    item = FileDescriptorProto(name="item.proto", syntax="proto3", package="shop")
    item.message_type.add(name="Item").field.add(
        name="name", number=1, type=FieldDescriptorProto.TYPE_STRING, label=FieldDescriptorProto.LABEL_OPTIONAL
    )
    order = FileDescriptorProto(name="order.proto", syntax="proto3", package="shop", dependency=["item.proto"])
    order.message_type.add(name="Other")
    order.message_type.add(name="Order").field.add(
        name="the_item",
        number=1,
        type=FieldDescriptorProto.TYPE_MESSAGE,
        type_name=".shop.Item",
        label=FieldDescriptorProto.LABEL_OPTIONAL,
    )
    return item, order


@framings()
def test_protobuf(
    registry_url: str, client: RegistryClient, theirs: SchemaRegistryClient, topic: str, framing: dict[str, Any]
) -> None:
    pool = DescriptorPool()
    for file in proto_files():
        pool.Add(file)
    order = message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Order"))
    headers: Headers = []
    subjects = {"reference.subject.name.strategy": lambda _, reference: f"{topic}-{reference.name}"}
    serializer = ProtobufSerializer(order, theirs, conf={"use.deprecated.format": False, **subjects, **framing})
    data = serializer(order(the_item={"name": "x"}), context(topic, headers))
    assert read(client, data, headers) == {"theItem": {"name": "x"}}
    schema_id = client.version(f"{topic}-value").id
    codec = Codecs(client).codec(schema_id)
    ours = id_prefix(schema_id) + b"\x02\x02" + codec.encode({})
    # A client of its own: theirs keeps the text that was sent and would not ask for the serialized one.
    with SchemaRegistryClient({"url": registry_url}) as fresh:
        reader = ProtobufDeserializer(order, {"use.deprecated.format": False}, fresh)
        assert reader(ours, context(topic)) == order()


def test_protobuf_from_text_with_references_two_levels_deep(client: RegistryClient, topic: str) -> None:
    """A registry serializes texts, and whoever reads needs no parser of them."""
    texts = {
        "a.proto": 'syntax = "proto3"; package a; message A { string s = 1; }',
        "b.proto": 'syntax = "proto3"; package b; import "a.proto"; message B { a.A a = 1; }',
    }
    head = 'syntax = "proto3"; import "b.proto"; import "google/protobuf/timestamp.proto";'
    main = f"{head} message M {{ b.B b = 1; google.protobuf.Timestamp t = 2; map<string, int32> m = 3; }}"
    client.register(f"{topic}-a", SchemaText(texts["a.proto"], PROTOBUF))
    client.register(f"{topic}-b", SchemaText(texts["b.proto"], PROTOBUF, (Reference("a.proto", f"{topic}-a", 1),)))
    schema = SchemaText(main, PROTOBUF, (Reference("b.proto", f"{topic}-b", 1),))
    codec = Codecs(client).codec(client.register(topic, schema))
    value = {"b": {"a": {"s": "x"}}, "t": "2026-01-31T12:00:00Z", "m": {"k": 1}}
    assert codec.decode(codec.preamble + codec.encode(value)) == value


def test_a_codec_is_made_once(client: RegistryClient, topic: str) -> None:
    codecs = Codecs(client)
    schema_id = client.register(topic, SchemaText(json.dumps("string")))
    assert codecs.codec(schema_id) is codecs.codec(schema_id)
    assert codecs.schema_type(schema_id) == "AVRO"


def test_a_serialized_file_is_registered_and_read(client: RegistryClient, topic: str) -> None:
    text = base64.b64encode(proto_files()[0].SerializeToString()).decode()
    codec = Codecs(client).codec(client.register(topic, SchemaText(text, PROTOBUF)))
    assert codec.decode(codec.preamble + codec.encode({"name": "x"})) == {"name": "x"}
