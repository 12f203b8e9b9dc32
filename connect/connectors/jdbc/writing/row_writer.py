"""The way of rows into a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import closing
from typing import Any, ClassVar

from sqlalchemy import Connection

from connect.connectors.jdbc.capabilities import BulkPath
from connect.connectors.jdbc.writing.rows import Rows, Target
from connect.connectors.jdbc.writing.statements import Statements


class RowWriter(ABC):
    """Changes rows over a connection, in a transaction that somebody else has begun. Rows that touch the same key come in their order."""

    streams: ClassVar[bool] = False
    """Whether rows flow to the database while it works, so that it does not matter how many there are: to divide them would only cost answers
    that are waited for."""

    def __init__(self, connection: Connection, statements: Statements) -> None:
        self.connection = connection
        self.statements = statements

    def cursor(self) -> Any:
        """A cursor of the driver: SQLAlchemy's own calls would make a dict of each row."""
        return self.connection.connection.cursor()

    def execute(self, statement: str) -> None:
        with closing(self.cursor()) as cursor:
            cursor.execute(statement)

    @abstractmethod
    def insert(self, target: Target, rows: Rows) -> None: ...

    @abstractmethod
    def upsert(self, target: Target, rows: Rows) -> None: ...

    @abstractmethod
    def update(self, target: Target, rows: Rows) -> None:
        """Change the rows that exist. `target` has columns besides its key."""

    @abstractmethod
    def delete(self, target: Target, keys: Rows) -> None:
        """`target` has the columns of its key alone."""


def row_writer(connection: Connection, statements: Statements) -> RowWriter:
    """The quickest way that the database has."""
    # The modules of other drivers are none of this process's business.
    from connect.connectors.jdbc.writing.copying import CopyWriter
    from connect.connectors.jdbc.writing.executions import ExecutingWriter
    from connect.connectors.jdbc.writing.loading import mysql_writer
    from connect.connectors.jdbc.writing.unnested import UnnestingWriter

    writers: dict[BulkPath, Callable[[Connection, Statements], RowWriter]] = {
        BulkPath.COPY: CopyWriter,
        BulkPath.LOAD_DATA: mysql_writer,
        BulkPath.UNNEST: UnnestingWriter,
        BulkPath.EXECUTE_MANY: ExecutingWriter,
    }
    return writers[statements.capabilities.bulk_path](connection, statements)
