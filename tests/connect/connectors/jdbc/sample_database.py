"""A database with the tables of a test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, create_engine

from connect.connectors.jdbc.urls import database_url

BEGINNING: Final = datetime(2024, 5, 31, 12, tzinfo=UTC)
_TIME_TYPES: Final = {"mariadb": "DATETIME(6)"}


class SampleDatabase:
    """Statements on their way past the connector. `kind` is the name of SQLAlchemy's dialect."""

    def __init__(self, kind: str, url: str) -> None:
        self.kind = kind
        self.url = url
        self._engine = create_engine(database_url(url).url, pool_pre_ping=True)

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        with self._engine.begin() as connection:
            yield connection

    def connect(self) -> Connection:
        return self._engine.connect()

    def execute(self, *statements: str) -> None:
        with self.transaction() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with self.transaction() as connection:
            return [tuple(row) for row in connection.exec_driver_sql(statement).all()]

    def quoted(self, name: str) -> str:
        return self._engine.dialect.identifier_preparer.quote_identifier(name)

    def create_events(self, name: str = "events") -> None:
        """A table with a number, a time and text, with an index on the time."""
        time_type = _TIME_TYPES.get(self.kind, "TIMESTAMP")
        at = self.quoted("at")
        self.execute(
            f"CREATE TABLE {name} (id BIGINT NOT NULL PRIMARY KEY, {at} {time_type} NOT NULL, note VARCHAR(100))",
            f"CREATE INDEX {name}_at ON {name} ({at})",
        )

    def insert_events(self, events: Sequence[tuple[int, int]], name: str = "events") -> None:
        """Events with their numbers and their seconds since the beginning."""
        with self.transaction() as connection:
            for number, seconds in events:
                insert_event(connection, number, seconds, name)


def insert_event(connection: Connection, number: int, seconds: float, name: str = "events") -> None:
    connection.exec_driver_sql(f"INSERT INTO {name} VALUES ({number}, '{written(seconds)}', 'note {number}')")


def written(seconds: float) -> str:
    """The time so many seconds after the beginning."""
    return (BEGINNING + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S.%f")
