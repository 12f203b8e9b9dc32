"""The connection over which a task reads, from poll to poll."""

from __future__ import annotations

from sqlalchemy import Connection

from connect.connectors.jdbc.database import Database
from connect.connectors.jdbc.drivers import read_as_text, read_bounded_times


class Session:
    """Always has a connection. An answer that was not read to its end spoils one, so it can be renewed."""

    def __init__(self, database: Database, isolation: str | None = None) -> None:
        """Connects: Retry or ConnectError when that fails."""
        self._database = database
        self._isolation = isolation
        self._bounds_times = False
        self.connection = self._connected()

    def begin(self) -> Connection:
        """Begin a transaction in so many words: what cursors of the driver do is not seen by SQLAlchemy."""
        self.connection.begin()
        return self.connection

    def end(self) -> None:
        """End the transaction: the next one sees what others have committed since."""
        self.connection.rollback()

    def renew(self) -> None:
        self.close()
        self.connection = self._connected()

    def bound_times(self) -> bool:
        """Renew the connection so that times outside of Python's range are read as its ends; False if that was done before."""
        if self._bounds_times or not self._database.capabilities.has_infinite_times:
            return False
        self._bounds_times = True
        self.renew()
        return True

    def close(self) -> None:
        """Close without another word to the server, which may be gone or still sending."""
        if not self.connection.closed:
            self.connection.invalidate()
            self.connection.close()

    def _connected(self) -> Connection:
        connection = self._database.connect(self._isolation)
        read_as_text(connection, self._database.capabilities)
        if self._bounds_times:
            read_bounded_times(connection)
        return connection
