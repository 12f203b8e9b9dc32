"""What flows through the workers: lines of text, and rows of a table, as JSON with its schema and in databases."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from confluent_kafka import Producer
from psycopg import sql

from benchmarks.connection import HOST
from benchmarks.job import LoadFailed

LINE_BYTES: Final = 100  # with its end
NOTE: Final = "x" * 60
# A row that was there before the load has it; no row of the load does.
OLD_QUANTITY: Final = -1
COLUMNS: Final = (
    ("id", "int64", "bigint"),
    ("name", "string", "text"),
    ("price", "double", "double precision"),
    ("quantity", "int32", "integer"),
    ("note", "string", "text"),
)
BATCH_RECORDS: Final = 10_000
# Well below what librdkafka takes by default, which is 100,000.
WAITING_RECORDS_MAX: Final = 50_000
FLUSH_LIMIT_SECONDS: Final = 120
Row = tuple[int, str, float, int, str]


def line(number: int) -> str:
    """The text of a line, without its end."""
    return f"{number:010d} ".ljust(LINE_BYTES - 1, "x")


def row(number: int, quantity: int | None = None) -> Row:
    return number, f"customer {number}", number / 7, number % 100 if quantity is None else quantity, NOTE


def envelope(number: int) -> bytes:
    """A row as JSON that brings its schema along."""
    payload = json.dumps(dict(zip((name for name, _, _ in COLUMNS), row(number), strict=True)), separators=(",", ":"))
    return _ENVELOPE % payload.encode()


def _schema() -> dict[str, Any]:
    fields = [{"field": name, "type": kind, "optional": name != "id"} for name, kind, _ in COLUMNS]
    return {"type": "struct", "name": "order", "optional": False, "fields": fields}


_ENVELOPE: Final = b'{"schema":' + json.dumps(_schema(), separators=(",", ":")).encode() + b',"payload":%s}'


def write_lines(path: Path, count: int) -> None:
    with path.open("w") as file:
        file.writelines(f"{line(number)}\n" for number in range(count))


def fill(port: int, topic: str, partition: int, values: Iterable[bytes]) -> None:
    """Writes the values to one partition, in their order."""
    producer = Producer({"bootstrap.servers": f"{HOST}:{port}", "acks": "all", "linger.ms": 20})
    for batch in _batches(values):
        while len(producer) > WAITING_RECORDS_MAX:
            producer.poll(0.01)
        if producer.produce_batch(topic, batch, partition=partition) < len(batch):
            raise LoadFailed(f"records could not be written to {topic}: {batch[-1].get('_error')}")
    if producer.flush(FLUSH_LIMIT_SECONDS):
        raise LoadFailed(f"{topic} could not be filled in {FLUSH_LIMIT_SECONDS} s")


def _batches(values: Iterable[bytes]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for value in values:
        batch.append({"value": value})
        if len(batch) == BATCH_RECORDS:
            yield batch
            batch = []
    if batch:
        yield batch


def create_table(table: str) -> sql.Composed:
    columns = ", ".join(f"{name} {kind}" for name, _, kind in COLUMNS)
    # The server's own upkeep would fall into the time of whoever comes next.
    text = f"CREATE TABLE {{}} ({columns}, PRIMARY KEY (id)) WITH (autovacuum_enabled = false)"
    return sql.SQL(text).format(sql.Identifier(table))


def fill_table(table: str, ids: range, quantity: int | None = None) -> sql.Composed:
    """Rows as those of the topic, made by the server."""
    made = sql.SQL(
        "SELECT i, 'customer ' || i, i / 7.0, coalesce({}, i % 100), {} FROM generate_series({}, {}, {}) AS i"
    )
    values = (quantity, NOTE, ids.start, ids.stop - 1, ids.step)
    return sql.SQL("INSERT INTO {} ").format(sql.Identifier(table)) + made.format(*map(sql.Literal, values))


def write_sqlite(path: Path, tables: Sequence[tuple[str, range]]) -> None:
    columns = ", ".join(f"{name} {kind}" for name, _, kind in COLUMNS).replace("id bigint", "id integer PRIMARY KEY")
    with sqlite3.connect(path) as connection:
        for table, ids in tables:
            connection.execute(f"CREATE TABLE {table} ({columns})")
            connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?)", map(row, ids))
    connection.close()
