"""The sink's connection, and transactions on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import Connection, Transaction

from connect.connectors.jdbc.database import Database


class Transactions:
    """Connects when a transaction is wanted and there is no connection. Errors of the driver come out of a block as they are, and what was
    done in it is undone.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Connection | None = None

    @property
    def connection(self) -> Connection:
        if self._connection is None:
            self._connection = self._database.connect()
        return self._connection

    @property
    def is_connected(self) -> bool:
        return self._connection is not None

    @property
    def has_savepoints(self) -> bool:
        """Whether part of a transaction can be undone."""
        return self._database.capabilities.has_savepoints

    def close(self) -> None:
        """Close without another word to the server, which may be gone."""
        connection, self._connection = self._connection, None
        if connection is not None and not connection.closed:
            connection.invalidate()
            connection.close()

    @contextmanager
    def looking(self) -> Iterator[Connection]:
        """For looks at tables, and statements that define some, which commit themselves."""
        connection = self.connection
        try:
            yield connection
        finally:
            if connection.in_transaction():
                with suppress(*self._database.errors):
                    connection.rollback()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        connection = self.connection
        begin = self._database.capabilities.begin
        with self._ended(connection.begin()):
            if begin:
                connection.exec_driver_sql(begin)
            yield connection

    @contextmanager
    def of_attempts(self) -> Iterator[None]:
        """A transaction in which some attempts may fail, if the database has such; else each attempt is a transaction."""
        if self.has_savepoints:
            with self.transaction():
                yield
        else:
            yield

    @contextmanager
    def attempt(self) -> Iterator[Connection]:
        if not self.has_savepoints:
            with self.transaction() as connection:
                yield connection
            return
        with self._ended(self.connection.begin_nested()):
            yield self.connection

    @contextmanager
    def _ended(self, transaction: Transaction) -> Iterator[None]:
        try:
            yield
            transaction.commit()
        except BaseException:
            # That this fails, too, when the server is gone must not hide why.
            with suppress(*self._database.errors):
                transaction.rollback()
            raise
