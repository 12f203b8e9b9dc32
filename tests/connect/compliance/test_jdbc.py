"""The JDBC connectors pass what all connectors must, on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import ClassVar

from connect.api.record import Record
from connect.compliance.sink import SinkCompliance
from connect.compliance.source import SourceCompliance
from connect.connectors.jdbc.plugins import PLUGINS
from connect.data.schema import INT64, STRING, struct

SOURCE, SINK = PLUGINS
ROW = struct(("id", INT64), ("name", STRING))


def database(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / "rows.db", isolation_level=None)


class TestSource(SourceCompliance):
    plugin = SOURCE
    config: ClassVar = {
        "mode": "incrementing", "incrementing.column.name": "id", "topic.prefix": "t-", "batch.max.rows": "7", "poll.interval.ms": "10"
    }  # fmt: skip

    def arrange(self, folder: Path, count: int) -> Mapping[str, str]:
        with closing(database(folder)) as own:
            own.execute("CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, name TEXT)")
            (there,) = own.execute("SELECT count(*) FROM rows").fetchone()
            own.executemany(
                "INSERT INTO rows VALUES (?, ?)", [(number, f"n{number}") for number in range(there, count)]
            )
        return {"connection.url": f"jdbc:sqlite:{folder / 'rows.db'}"}


class TestSink(SinkCompliance):
    plugin = SINK
    config: ClassVar = {"auto.create": "true", "insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id"}

    def arrange(self, folder: Path) -> Mapping[str, str]:
        return {"connection.url": f"jdbc:sqlite:{folder / 'rows.db'}?timeout=0.1"}

    def record(self, number: int) -> Record:
        return Record("compliance", {"id": number, "name": f"row {number}"}, ROW)

    def written(self, folder: Path) -> Sequence[int]:
        with closing(database(folder)) as own:
            if not own.execute("SELECT 1 FROM sqlite_master WHERE name = 'compliance'").fetchone():
                return []
            return [number for (number,) in own.execute("SELECT id FROM compliance ORDER BY rowid")]

    def bad_record(self, number: int) -> Record:
        return Record("compliance", None)

    @contextmanager
    def away(self, folder: Path) -> Iterator[None]:
        with closing(database(folder)) as other:
            other.execute("BEGIN EXCLUSIVE")
            yield


class TestExactSink(TestSink):
    config: ClassVar = {"auto.create": "true", "insert.mode": "insert", "exactly.once": "true"}
