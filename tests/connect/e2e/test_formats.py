"""The formats of the Schema Registry from end to end: a table, a topic, and another table that is the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

from tests.broker import BarnabasBroker
from tests.connect.connectors.jdbc.sample_database import SampleDatabase
from tests.connect.e2e.pipelines import table_sink, table_source
from tests.connect.tasks.topics import create, read
from tests.connect_service import ConnectProcess
from tests.registry import RegistryProcess
from tests.waiting import wait_for

ROWS = 60
COLUMNS = "id, name, price, at, day, ok, raw, weight"
READ_BY_CONFLUENT: dict[str, Callable[[SchemaRegistryClient], Any] | None] = {
    "avro.Avro": AvroDeserializer,
    "json.JsonSchema": lambda client: JSONDeserializer(None, schema_registry_client=client),
    # Confluent's needs a class that was generated for the message.
    "protobuf.Protobuf": None,
}


@pytest.mark.parametrize("format_name", READ_BY_CONFLUENT)
def test_a_table_is_the_same_behind_the_topic(
    connect_service: ConnectProcess,
    barnabas: BarnabasBroker,
    registry: RegistryProcess,
    database: SampleDatabase,
    topic: str,
    format_name: str,
) -> None:
    database.execute(
        "CREATE TABLE things (id BIGINT PRIMARY KEY, name TEXT, price NUMERIC(10, 2), at TIMESTAMP, day DATE, ok BOOLEAN, raw BYTEA, "
        "weight DOUBLE PRECISION)",
        "INSERT INTO things SELECT n, CASE mod(n, 3) WHEN 0 THEN NULL ELSE 'näme ' || n END, n / 7.0, "
        "timestamp '2024-02-29 23:59:59.123' + n * interval '1 hour', date '2024-02-29' + n, mod(n, 2) = 0, "
        f"decode(lpad(to_hex(n), 4, '0'), 'hex'), n * 1.5 FROM generate_series(1, {ROWS}) n",
    )
    create(barnabas.address, f"{topic}-things")
    converter = f"io.confluent.connect.{format_name}Converter"
    converters = {
        "key.converter": converter,
        "value.converter": converter,
        # Nulls stay nulls in Protobuf, too; the others pass it over.
        "value.converter.optional.for.nullables": "true",
    }
    keys = {"transforms": "key", "transforms.key.type": "ValueToKey", "transforms.key.fields": "id"}
    connect_service.create(f"{topic}-source", table_source(database.url, "things", f"{topic}-", **converters, **keys))
    upsert = {"auto.create": "true", "insert.mode": "upsert", "pk.mode": "record_key", "delete.enabled": "true"}
    connect_service.create(
        f"{topic}-sink", table_sink(database.url, f"{topic}-things", "copies", **converters, **upsert)
    )
    connect_service.wait_for_tasks(f"{topic}-source", ["RUNNING"])
    connect_service.wait_for_tasks(f"{topic}-sink", ["RUNNING"])

    def copied() -> list[tuple[Any, ...]]:
        is_there = database.rows("SELECT to_regclass('copies') IS NOT NULL") == [(True,)]
        found = database.rows(f"SELECT {COLUMNS} FROM copies ORDER BY id") if is_there else []
        return found if len(found) == ROWS else []

    assert wait_for(copied, "all rows") == database.rows(f"SELECT {COLUMNS} FROM things ORDER BY id")
    _read_by_confluent(format_name, barnabas.address, f"{topic}-things", registry.url)
    for end in ("source", "sink"):
        assert connect_service.call("DELETE", f"/connectors/{topic}-{end}").status_code == 204


def _read_by_confluent(format_name: str, bootstrap: str, topic: str, registry_url: str) -> None:
    made = READ_BY_CONFLUENT[format_name]
    if made is None:
        return
    with SchemaRegistryClient({"url": registry_url}) as client:
        deserializer, place = made(client), SerializationContext(topic, MessageField.VALUE)
        values = [deserializer(message.value(), place) for message in read(bootstrap, topic)]
    assert sorted(value["id"] for value in values) == list(range(1, ROWS + 1))
    assert {value["name"] for value in values if value["id"] < 4} == {"näme 1", "näme 2", None}
