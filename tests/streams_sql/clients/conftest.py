from __future__ import annotations

from collections.abc import Iterator

import pytest

from barnabas.sql import Client
from tests.sql_service import SqlProcess

EVERY_TYPE = (
    "K STRING KEY, I INTEGER, B BIGINT, D DOUBLE, N DECIMAL(30, 2), O BOOLEAN, Y BYTES, T TIMESTAMP, DA DATE, TI TIME, "
    "L ARRAY<TIMESTAMP>, M MAP<STRING, BIGINT>, S STRUCT<A INTEGER, SEEN TIMESTAMP, DEEP ARRAY<DECIMAL(4, 1)>>"
)


@pytest.fixture
def client(sql_service: SqlProcess) -> Iterator[Client]:
    """It reads topics from their beginnings."""
    with Client(sql_service.url, properties={"auto.offset.reset": "earliest"}) as own:
        yield own


@pytest.fixture
def stream(client: Client, topic: str) -> str:
    """An empty stream with a column of each type."""
    name = topic.replace("-", "_").upper()
    client.execute(
        f"CREATE STREAM {name} ({EVERY_TYPE}) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1);"
    )
    return name


@pytest.fixture
def table(client: Client, topic: str) -> str:
    """A table that can be asked by key, and a stream to the same topic to write to it."""
    name = topic.replace("-", "_").upper()
    columns, place = "N BIGINT, NOTE STRING", f"WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1);"
    client.execute(
        f"CREATE STREAM {name}_IN (K STRING KEY, {columns}) {place}"
        f"CREATE SOURCE TABLE {name} (K STRING PRIMARY KEY, {columns}) {place}"
    )
    return name
