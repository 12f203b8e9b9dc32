"""A database: its connections, what it can do, and what its errors mean."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, create_engine
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from barnabas.kernel.settings import MASK
from connect.connectors.jdbc import failures
from connect.connectors.jdbc.capabilities import Capabilities, capabilities_of
from connect.connectors.jdbc.connection_settings import ConnectionSettings
from connect.connectors.jdbc.failures import FailureKind
from connect.connectors.jdbc.identifiers import Identifiers, TableName
from connect.connectors.jdbc.reflection import Reflection, reflection_of
from connect.connectors.jdbc.tables import Table
from connect.errors import ConnectError, DataError, Retry

log = logging.getLogger(__name__)

MILLISECONDS_PER_SECOND: Final = 1000
_PACKAGES: Final = {"psycopg": "psycopg[binary]", "pysqlite": "pysqlite3", "duckdb_engine": "duckdb-engine"}


class MissingTableError(ConnectError):
    """A table that is not there, or not any more."""

    def __init__(self, table: TableName | str) -> None:
        super().__init__(f"there is no table {table}: it was dropped or renamed, or the user may not see it")


@dataclass(frozen=True, slots=True)
class Database:
    """Makes connections that are ready for use. It holds none itself, so that nothing is left open when a task ends."""

    engine: Engine
    capabilities: Capabilities
    identifiers: Identifiers
    timezone: tzinfo
    retry_after_s: float

    @classmethod
    def of(cls, settings: ConnectionSettings) -> Database:
        found = settings.database_url()
        if found.passed_over:
            log.warning(
                "the driver has no counterpart for these parameters, which change nothing: %s",
                ", ".join(found.passed_over),
            )
        engine = _engine(found.url)
        return cls(
            engine,
            capabilities_of(engine.dialect.name, settings.dialect_name),
            Identifiers(engine.dialect, settings.quote_mode()),
            settings.timezone(),
            settings.connection_backoff_ms / MILLISECONDS_PER_SECOND,
        )

    @property
    def name(self) -> str:
        """Where it is, for messages: never with the password."""
        url = self.engine.url
        place = f"{url.host}:{url.port}" if url.port else url.host
        return f"{url.get_backend_name()} {url.database or ''}" + (f" at {place}" if place else "")

    def connect(self, isolation: str | None = None) -> Connection:
        """A new connection; Retry while the database is away, ConnectError when it refuses us."""
        try:
            connection = self.engine.connect()
            if isolation is not None:
                connection = connection.execution_options(isolation_level=isolation)
            for statement in self.capabilities.session:
                connection.exec_driver_sql(statement)
            connection.commit()
        except self.errors as error:
            raise self.failure(error, f"cannot connect to {self.name}") from None
        return connection

    def connect_patiently(self, attempts: int) -> Connection:
        """The same, with several attempts."""
        for attempt in range(1, attempts):
            try:
                return self.connect()
            except Retry as error:
                log.warning("attempt %d of %d: %s", attempt, attempts, error)
                time.sleep(self.retry_after_s)
        return self.connect()

    def reflection(self, connection: Connection) -> Reflection:
        return reflection_of(connection, self.capabilities)

    def describe(self, connection: Connection, table: TableName) -> Table | None:
        """What is known about a table; None: there is no such table."""
        with self.explained(f"cannot look at table {table}"):
            return self.reflection(connection).describe(table)

    @property
    def errors(self) -> tuple[type[BaseException], ...]:
        """What the driver raises, by itself and inside of SQLAlchemy."""
        return (self.engine.dialect.loaded_dbapi.Error, SQLAlchemyError, OSError)

    def kind_of(self, error: BaseException) -> FailureKind:
        return failures.kind_of(error, self.engine.dialect)

    def failure(self, error: BaseException, doing: str) -> ConnectError:
        """What to raise for an error of the driver: the cause first, then what could not be done, without passwords."""
        text = f"{self.without_password(failures.text_of(error))}: {doing}"
        kind = self.kind_of(error)
        if kind is FailureKind.OUTAGE:
            return Retry(text, self.retry_after_s)
        return DataError(text) if kind is FailureKind.DATA else ConnectError(text)

    @contextmanager
    def explained(self, doing: str) -> Iterator[None]:
        """Errors of the driver in the block become failures that say what could not be done."""
        try:
            yield
        except self.errors as error:
            raise self.failure(error, doing) from None

    def without_password(self, text: str) -> str:
        password = self.engine.url.password
        return text.replace(str(password), MASK) if password else text


def _engine(url: URL) -> Engine:
    """An engine without a pool: each task has few connections and keeps them."""
    try:
        return create_engine(url, poolclass=NullPool, **_engine_options(url))
    except NoSuchModuleError:
        raise ConnectError(
            f"there is no driver {url.drivername} for SQLAlchemy here: install the package that brings it, or correct connection.url"
        ) from None
    except ModuleNotFoundError as error:
        package = _PACKAGES.get(url.get_driver_name(), error.name)
        raise ConnectError(f"the driver of {url.get_backend_name()} is not installed: pip install {package}") from None


def _engine_options(url: URL) -> dict[str, Any]:
    # A task may hand its connection from the thread that starts to the one that reads.
    return {"connect_args": {"check_same_thread": False}} if url.get_backend_name() == "sqlite" else {}
