"""Confluent's own serializers against our registry: three formats, both framings, references, contexts and rules."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.schema_registry import (
    Metadata,
    MetadataProperties,
    Rule,
    RuleKind,
    RuleMode,
    RuleSet,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryError,
    header_schema_id_serializer,
    prefix_schema_id_serializer,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.schema_registry.rules.cel.cel_executor import CelExecutor
from confluent_kafka.serialization import MessageField, SerializationContext, SerializationError
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

from tests.registry import RegistryProcess

FRAMINGS = {"prefix": prefix_schema_id_serializer, "header": header_schema_id_serializer}
Connect = Callable[..., SchemaRegistryClient]
USER = {
    "type": "record",
    "name": "User",
    "namespace": "shop",
    "fields": [{"name": "name", "type": "string"}, {"name": "age", "type": ["null", "int"], "default": None}],
}
ORDER = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Order",
    "type": "object",
    "properties": {"id": {"type": "integer"}, "items": {"type": "array", "items": {"type": "string"}}},
    "required": ["id"],
}


@pytest.fixture(scope="session", params=["registry", "registry_on_kafka"])
def service(request: pytest.FixtureRequest) -> RegistryProcess:
    """Our registry, on our broker and on Apache Kafka."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, RegistryProcess)
    return found


@pytest.fixture
def connect(service: RegistryProcess) -> Iterator[Connect]:
    """Clients that have nothing cached, as other programs would, at a path below the service's address."""
    with ExitStack() as opened:
        yield lambda path="": opened.enter_context(SchemaRegistryClient({"url": service.url + path}))


@pytest.fixture
def client(connect: Connect) -> SchemaRegistryClient:
    return connect()


@pytest.fixture
def name() -> str:
    """A topic, and so a subject, of the test's own."""
    return f"t{secrets.token_hex(6)}"


def context(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE, headers=[])


@pytest.mark.parametrize("framing", FRAMINGS)
def test_avro(connect: Connect, client: SchemaRegistryClient, name: str, framing: str) -> None:
    user = {"name": "Ada", "age": 36}
    serializer = AvroSerializer(client, json.dumps(USER), conf={"schema.id.serializer": FRAMINGS[framing]})
    where = context(name)
    payload = serializer(user, where)
    assert AvroDeserializer(connect())(payload, where) == user
    assert connect().get_latest_version(f"{name}-value").schema.schema_type == "AVRO"


def test_the_latest_version_by_its_guid(connect: Connect, client: SchemaRegistryClient, name: str) -> None:
    client.register_schema(f"{name}-value", Schema(json.dumps(USER), "AVRO"))
    conf = {
        "auto.register.schemas": False,
        "use.latest.version": True,
        "schema.id.serializer": header_schema_id_serializer,
    }
    where = context(name)
    payload = AvroSerializer(connect(), None, conf=conf)({"name": "Ada", "age": 1}, where)
    assert AvroDeserializer(connect())(payload, where) == {"name": "Ada", "age": 1}


@pytest.mark.parametrize("framing", FRAMINGS)
def test_json(connect: Connect, client: SchemaRegistryClient, name: str, framing: str) -> None:
    order = {"id": 7, "items": ["nail", "hammer"]}
    serializer = JSONSerializer(json.dumps(ORDER), client, conf={"schema.id.serializer": FRAMINGS[framing]})
    where = context(name)
    payload = serializer(order, where)
    assert JSONDeserializer(None, schema_registry_client=connect())(payload, where) == order
    with pytest.raises(SerializationError):
        serializer({"id": "seven"}, where)


def point_class(name: str) -> type[Message]:
    """A message with one of another file and a well-known one in it, in files that no other test has."""
    pool = descriptor_pool.DescriptorPool()
    timestamp = descriptor_pb2.FileDescriptorProto()
    descriptor_pool.Default().FindFileByName("google/protobuf/timestamp.proto").CopyToProto(timestamp)
    pool.Add(timestamp)
    colour = descriptor_pb2.FileDescriptorProto(name=f"{name}/colour.proto", package=name, syntax="proto3")
    colour.message_type.add(name="Colour").field.add(name="rgb", number=1, type=13, label=1)
    pool.Add(colour)
    point = descriptor_pb2.FileDescriptorProto(name=f"{name}/point.proto", package=name, syntax="proto3")
    point.dependency.extend([f"{name}/colour.proto", "google/protobuf/timestamp.proto"])
    message = point.message_type.add(name="Point")
    message.field.add(name="x", number=1, type=5, label=1)
    message.field.add(name="colour", number=2, type=11, label=1, type_name=f".{name}.Colour")
    message.field.add(name="at", number=3, type=11, label=1, type_name=".google.protobuf.Timestamp")
    pool.Add(point)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{name}.Point"))


@pytest.mark.parametrize("framing", FRAMINGS)
def test_protobuf_with_references(connect: Connect, client: SchemaRegistryClient, name: str, framing: str) -> None:
    point = point_class(name)
    message: Any = point(x=3)
    message.colour.rgb = 255
    message.at.seconds = 1_700_000_000
    conf = {"use.deprecated.format": False, "schema.id.serializer": FRAMINGS[framing]}
    where = context(name)
    payload = ProtobufSerializer(point, client, conf=conf)(message, where)
    read = ProtobufDeserializer(point, {"use.deprecated.format": False}, connect())(payload, where)
    assert read == message
    registered = connect().get_latest_version(f"{name}-value").schema
    assert registered.references is not None
    assert f"{name}/colour.proto" in [reference.name for reference in registered.references]
    assert registered.schema_str is not None
    assert registered.schema_str.startswith('syntax = "proto3";\npackage ')


def test_avro_references(connect: Connect, client: SchemaRegistryClient, name: str) -> None:
    client.register_schema(f"{name}-user", Schema(json.dumps(USER), "AVRO"))
    team = {
        "type": "record",
        "name": "Team",
        "fields": [
            {"name": "lead", "type": "shop.User"},
            {"name": "others", "type": {"type": "array", "items": "shop.User"}},
        ],
    }
    schema = Schema(json.dumps(team), "AVRO", [SchemaReference("shop.User", f"{name}-user", 1)])
    value = {"lead": {"name": "Ada", "age": None}, "others": [{"name": "Bob", "age": 4}]}
    where = context(name)
    payload = AvroSerializer(client, schema)(value, where)
    assert AvroDeserializer(connect())(payload, where) == value
    assert connect().get_latest_version(f"{name}-value").schema.references == schema.references


def test_contexts(connect: Connect, client: SchemaRegistryClient, name: str) -> None:
    inside = connect(f"/contexts/.{name}")
    assert inside.register_schema("s", Schema(json.dumps(USER), "AVRO")) == 1
    assert inside.get_subjects() == [f":.{name}:s"]
    assert client.get_latest_version(f":.{name}:s").schema_id == 1
    where = context(name)
    payload = AvroSerializer(inside, json.dumps(USER))({"name": "Ada", "age": None}, where)
    reader = AvroDeserializer(connect(f"/contexts/.{name}"))
    assert reader(payload, where) == {"name": "Ada", "age": None}


def test_rules(client: SchemaRegistryClient, name: str) -> None:
    CelExecutor.register()  # type: ignore[no-untyped-call]
    adult = Rule(
        "adult", None, RuleKind.CONDITION, RuleMode.WRITE, "CEL", None, None, "message.age >= 18", None, None, False
    )
    client.register_schema(f"{name}-value", Schema(json.dumps(USER), "AVRO", [], None, RuleSet(None, [adult])))
    serializer = AvroSerializer(client, None, conf={"auto.register.schemas": False, "use.latest.version": True})
    assert serializer({"name": "Ada", "age": 36}, context(name))
    with pytest.raises(SerializationError):
        serializer({"name": "Kid", "age": 6}, context(name))


def test_the_latest_with_metadata(client: SchemaRegistryClient, name: str) -> None:
    for major in ("1", "2"):
        metadata = Metadata(None, MetadataProperties({"major": major}), None)
        client.register_schema(f"{name}-value", Schema(json.dumps(USER), "AVRO", [], metadata, None))
    conf = {"auto.register.schemas": False, "use.latest.with.metadata": {"major": "1"}}
    payload = AvroSerializer(client, None, conf=conf)({"name": "Ada", "age": None}, context(name))
    assert payload is not None
    first = client.get_version(f"{name}-value", 1)
    assert int.from_bytes(payload[1:5], "big") == first.schema_id


def test_the_whole_client(connect: Connect, client: SchemaRegistryClient, name: str) -> None:
    schema = Schema(json.dumps(USER), "AVRO")
    assert client.get_compatibility() == "BACKWARD"
    client.set_compatibility(subject_name=name, level="FULL")
    assert client.get_compatibility(name) == "FULL"
    schema_id = client.register_schema(name, schema)
    assert client.lookup_schema(name, schema).version == 1
    assert name in client.get_subjects()
    assert client.get_versions(name) == [1]
    assert connect().get_schema(schema_id, name).schema_str == json.dumps(USER, separators=(",", ":"))
    narrower = {**USER, "fields": [{"name": "other", "type": "string"}]}
    assert not client.test_compatibility(name, Schema(json.dumps(narrower), "AVRO"))
    with pytest.raises(SchemaRegistryError) as refusal:
        client.register_schema(name, Schema(json.dumps(narrower), "AVRO"))
    assert (refusal.value.http_status_code, refusal.value.error_code) == (409, 409)
    assert client.delete_subject(name) == [1]
    assert client.delete_subject(name, permanent=True) == [1]


def test_through_a_topic(registry: RegistryProcess, broker_address: str, topic: str) -> None:
    """Produce and consume for real, the id in the header of the record."""
    users = [{"name": f"user {number}", "age": number} for number in range(5)]
    with SchemaRegistryClient({"url": registry.url}) as client:
        serializer = AvroSerializer(
            client, json.dumps(USER), conf={"schema.id.serializer": header_schema_id_serializer}
        )
        producer = Producer({"bootstrap.servers": broker_address})
        for user in users:
            headers: list[tuple[str, str | bytes | None]] = []
            payload = serializer(user, SerializationContext(topic, MessageField.VALUE, headers))
            producer.produce(topic, payload, headers=headers)
        producer.flush()
        read = consume(client, broker_address, topic, len(users))
    assert read == users


def consume(client: SchemaRegistryClient, bootstrap: str, topic: str, count: int) -> list[object]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    read: list[object] = []
    deserializer = AvroDeserializer(client)
    while len(read) < count:
        for message in consumer.consume(count, 10):
            where = SerializationContext(topic, MessageField.VALUE, message.headers())
            read.append(deserializer(message.value(), where))
    consumer.close()
    return read
