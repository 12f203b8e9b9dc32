"""Writing with the JDBC sink, as a task does it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from connect.api.record import Record
from connect.api.settings import read
from connect.connectors.jdbc.sink import JdbcSink
from connect.connectors.jdbc.sink_settings import JdbcSinkSettings
from connect.data.schema import FLOAT64, INT64, STRING, Schema, struct
from tests.connect.connectors.jdbc.sample_database import SampleDatabase

TOPIC = "orders"
ORDER = struct(("id", INT64), ("item", STRING.as_optional()), ("price", FLOAT64.as_optional()))
KEY = struct(("id", INT64))
BY_KEY = {"pk.mode": "record_key", "auto.create": "true"}
BIG = 300
"""So many rows that they are written in bulk everywhere."""


@contextmanager
def jdbc_sink(database: SampleDatabase | str, *configs: dict[str, str], **settings: object) -> Iterator[JdbcSink]:
    """A sink that has started. Underscores in the names of settings stand for dots."""
    url = database if isinstance(database, str) else database.url
    config = {"connection.url": url, "retry.backoff.ms": "10"}
    for each in configs:
        config |= each
    config |= {name.replace("_", "."): str(value) for name, value in settings.items()}
    sink = JdbcSink(read(JdbcSinkSettings, config))
    try:
        sink.start()
        yield sink
    finally:
        sink.stop()


def order(number: int, item: str | None = "x", price: float | None = 1.5, *, at: int | None = None) -> Record:
    value = {"id": number, "item": item, "price": price}
    return Record(TOPIC, value, ORDER, {"id": number}, KEY, 0, 0, (), number if at is None else at)


def tombstone(number: int, *, at: int = 0) -> Record:
    return Record(TOPIC, None, None, {"id": number}, KEY, 0, 0, (), at)


def plain(value: Any, key: Any = None, *, at: int = 0) -> Record:
    """A record without schemas."""
    return Record(TOPIC, value, None, key, None, 0, 0, (), at)


def record(schema: Schema, value: Any, *, at: int = 0) -> Record:
    return Record(TOPIC, value, schema, None, None, 0, 0, (), at)


def rows(database: SampleDatabase, columns: str = "id, item, price", table: str = TOPIC) -> list[tuple[Any, ...]]:
    return database.rows(f"SELECT {columns} FROM {table} ORDER BY 1")


def write(sink: JdbcSink, records: Sequence[Record]) -> None:
    assert list(sink.write(records)) == []
