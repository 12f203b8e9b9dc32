"""What SQLAlchemy leaves to the drivers: cursors that do not read all rows at once, and values as text."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import Connection

from connect.connectors.jdbc.capabilities import Capabilities, StreamingRead


@contextmanager
def streaming_cursor(connection: Connection, capabilities: Capabilities) -> Iterator[Any]:
    """A cursor of the driver that keeps few rows in memory, whatever the answer's length.

    When the block is left before the answer's end, the connection is of no more use and must be invalidated.
    """
    cursor = _cursor(connection, capabilities)
    try:
        yield cursor
    except BaseException:
        _abandon(connection, cursor, capabilities)
        raise
    cursor.close()


def _cursor(connection: Connection, capabilities: Capabilities) -> Any:
    driver_connection = _driver_connection(connection)
    if capabilities.streaming_read is StreamingRead.NAMED_CURSOR:
        return driver_connection.cursor(name=f"connect_{secrets.token_hex(8)}")
    if capabilities.streaming_read is StreamingRead.UNBUFFERED_CURSOR:
        return driver_connection.cursor(connection.dialect.loaded_dbapi.cursors.SSCursor)
    return connection.connection.cursor()


def _abandon(connection: Connection, cursor: Any, capabilities: Capabilities) -> None:
    if capabilities.streaming_read is StreamingRead.UNBUFFERED_CURSOR:
        # Closed or collected, it would first read whatever the server has still to send, and no method tells it not to.
        cursor.connection = None
        if cursor._result is not None:
            cursor._result.unbuffered_active = False
        return
    with suppress(connection.dialect.loaded_dbapi.Error):
        cursor.close()


def read_as_text(connection: Connection, capabilities: Capabilities) -> None:
    """Let the driver give the types that Connect knows as text, such as JSON, as the database writes them."""
    if not capabilities.text_types:
        return
    adapters = _driver_connection(connection).adapters
    loader = adapters.get_loader(adapters.types["text"].oid, 0)
    for name in capabilities.text_types:
        adapters.register_loader(name, loader)


def read_bounded_times(connection: Connection) -> None:
    """Let the driver give the first or the last moment that Python knows for times outside of the years 1 to 9999, such as infinity.

    It costs time for each value, so it is for tables alone that have been found to hold such.
    """
    # Loaded by those alone who have such a database.
    from connect.connectors.jdbc.bounded_times import LOADERS

    adapters = _driver_connection(connection).adapters
    for name, loader in LOADERS.items():
        adapters.register_loader(name, loader)


def _driver_connection(connection: Connection) -> Any:
    found = connection.connection.driver_connection
    assert found is not None, "the connection is closed"
    return found
