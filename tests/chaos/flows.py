"""What is set up before the first kill: a stream and queries of every kind, and connectors on both sides."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.chaos.loads import EVENTS, LINES
from tests.chaos.stage import Addresses, http_client

STATEMENTS: Final = f"""
CREATE STREAM events (id STRING, who STRING, amount BIGINT)
  WITH (KAFKA_TOPIC='{EVENTS}', VALUE_FORMAT='JSON', PARTITIONS=4);
CREATE STREAM even AS SELECT id, who, amount FROM events WHERE amount % 2 = 0;
CREATE TABLE per_who AS SELECT who, COUNT(*) AS n, SUM(amount) AS total FROM events GROUP BY who;
CREATE TABLE often AS SELECT who, COUNT(*) AS n FROM events GROUP BY who HAVING COUNT(*) > 10;
"""
ONCE: Final = "CREATE STREAM even_once AS SELECT id, who, amount FROM events WHERE amount % 2 = 0;"
EARLIEST: Final = {"auto.offset.reset": "earliest"}
EXACTLY_ONCE: Final = {**EARLIEST, "processing.guarantee": "exactly_once_v2"}
JSON_WITH_SCHEMA: Final = {
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "true",
}
TEXT: Final = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}


def set_up(addresses: Addresses, folder: Path) -> None:
    with http_client() as client:
        for text, properties in ((STATEMENTS, EARLIEST), (ONCE, EXACTLY_ONCE)):
            body = {"ksql": text, "streamsProperties": properties}
            client.post(f"{addresses.sql}/ksql", json=body, timeout=120).raise_for_status()
        for name, config in connectors(folder).items():
            client.put(f"{addresses.connect}/connectors/{name}/config", json=config).raise_for_status()


def connectors(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    return {
        "orders-in": {
            "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
            "connection.url": f"jdbc:sqlite:{folder / 'source.db'}",
            "table.whitelist": "orders",
            "mode": "incrementing",
            "incrementing.column.name": "id",
            "topic.prefix": "chaos-",
            "poll.interval.ms": "500",
            **JSON_WITH_SCHEMA,
        },
        "orders-out": {
            "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
            "connection.url": f"jdbc:sqlite:{folder / 'target.db'}",
            "topics": "chaos-orders",
            "table.name.format": "orders",
            "insert.mode": "upsert",
            "pk.mode": "record_value",
            "pk.fields": "id",
            "auto.create": "true",
            **JSON_WITH_SCHEMA,
        },
        "lines-in": {
            "connector.class": "FileStreamSource",
            "file": str(folder / "lines.txt"),
            "topic": LINES,
            **TEXT,
        },
        "lines-out": {"connector.class": "FileStreamSink", "topics": LINES, "file": str(folder / "copy.txt"), **TEXT},
    }
