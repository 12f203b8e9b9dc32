"""Writers that change their schemas while a query runs."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from tests.broker import BarnabasBroker
from tests.registry import RegistryProcess
from tests.sql_service import SqlProcess
from tests.streams_sql.e2e.deadlines import TEST_S

pytestmark = pytest.mark.timeout(TEST_S)

Row = dict[str, Any]
Encode = Callable[[Row, SerializationContext], bytes | None]

OLD: Mapping[str, str] = {"ID": "long", "NAME": "string"}
NEW: Mapping[str, str] = {**OLD, "AGE": "long"}
_FRAMED_ID = struct.Struct(">xI")
_PROTOBUF_TYPES = {
    "long": descriptor_pb2.FieldDescriptorProto.TYPE_INT64,
    "string": descriptor_pb2.FieldDescriptorProto.TYPE_STRING,
}
_JSON_TYPES = {"long": "integer", "string": "string"}


def avro_writer(client: SchemaRegistryClient, fields: Mapping[str, str]) -> Encode:
    declared = [{"name": name, "type": ["null", kind], "default": None} for name, kind in fields.items()]
    schema = {"type": "record", "name": "Person", "fields": declared}
    encode: Encode = AvroSerializer(client, json.dumps(schema))
    return encode


def json_writer(client: SchemaRegistryClient, fields: Mapping[str, str]) -> Encode:
    properties = {name: {"type": _JSON_TYPES[kind]} for name, kind in fields.items()}
    # Closed, so that a further field is no surprise to those who read with the older one.
    schema = {"type": "object", "title": "Person", "properties": properties, "additionalProperties": False}
    encode: Encode = JSONSerializer(json.dumps(schema), client)
    return encode


def protobuf_writer(client: SchemaRegistryClient, fields: Mapping[str, str]) -> Encode:
    file = descriptor_pb2.FileDescriptorProto(name="person.proto", package="people", syntax="proto3")
    message = file.message_type.add(name="Person")
    for number, (name, kind) in enumerate(fields.items(), 1):
        message.field.add(
            name=name,
            number=number,
            type=_PROTOBUF_TYPES[kind],
            label=descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL,
        )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    made = message_factory.GetMessageClass(pool.FindMessageTypeByName("people.Person"))
    serializer = ProtobufSerializer(made, client, {"use.deprecated.format": False})
    return lambda row, context: serializer(made(**row), context)


WRITERS: Mapping[str, Callable[[SchemaRegistryClient, Mapping[str, str]], Encode]] = {
    "AVRO": avro_writer,
    "JSON_SR": json_writer,
    "PROTOBUF": protobuf_writer,
}


@pytest.fixture
def client(registry: RegistryProcess) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": registry.url}) as opened:
        yield opened


@pytest.mark.parametrize("format_name", WRITERS)
def test_rows_are_right_before_and_after_a_field_is_added(
    sql_service: SqlProcess, barnabas: BarnabasBroker, client: SchemaRegistryClient, topic: str, format_name: str
) -> None:
    name = f"{format_name}_PEOPLE"
    producer = Producer({"bootstrap.servers": barnabas.address})

    def write(fields: Mapping[str, str], *rows: Row) -> int:
        """The id of the schema that the rows were written with."""
        encode, written = WRITERS[format_name](client, fields), b""
        for row in rows:
            written = encode(row, SerializationContext(topic, MessageField.VALUE)) or b""
            producer.produce(topic, written)
        assert producer.flush() == 0
        (schema_id,) = _FRAMED_ID.unpack_from(written)
        return int(schema_id)

    old = write(OLD, {"ID": 1, "NAME": "ann"}, {"ID": 2, "NAME": "bob"})
    sql_service.execute(
        f"CREATE STREAM {name} (ID BIGINT, NAME VARCHAR, AGE BIGINT) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='{format_name}');"
        f"CREATE STREAM {name}_OUT WITH (KAFKA_TOPIC='{topic}-out') AS SELECT ID, UCASE(NAME) AS NAME, AGE FROM {name};"
    )
    missing = 0 if format_name == "PROTOBUF" else None
    before = [[1, "ANN", missing], [2, "BOB", missing]]
    assert _written(sql_service, name, 2) == before
    new = write(NEW, {"ID": 3, "NAME": "cid", "AGE": 33}, {"ID": 4, "NAME": "dan", "AGE": 44})
    write(OLD, {"ID": 5, "NAME": "eve"})
    assert new != old
    after = [[3, "CID", 33], [4, "DAN", 44], [5, "EVE", missing]]
    assert _written(sql_service, name, 5) == [*before, *after]
    written = client.get_latest_version(f"{topic}-out-value").schema
    assert written is not None
    assert all(column in (written.schema_str or "") for column in ("ID", "NAME", "AGE"))


def _written(sql: SqlProcess, name: str, count: int) -> list[list[Any]]:
    """The first rows of a query's results, as soon as there are so many. The topic has one partition: they keep their order."""
    return sql.rows(f"SELECT ID, NAME, AGE FROM {name}_OUT EMIT CHANGES LIMIT {count};")
