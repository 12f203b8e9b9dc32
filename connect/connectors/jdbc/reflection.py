"""Which tables a database has, and what is in them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Protocol

from sqlalchemy import Connection, inspect
from sqlalchemy.engine import Inspector
from sqlalchemy.exc import NoSuchTableError, SAWarning
from sqlalchemy.types import Integer

from connect.connectors.jdbc.capabilities import Capabilities, ColumnSource
from connect.connectors.jdbc.duckdb_reflection import DuckDbReflection
from connect.connectors.jdbc.identifiers import TableName
from connect.connectors.jdbc.tables import Column, Table


class Reflection(Protocol):
    def schemas(self) -> list[str | None]:
        """The schemas with tables of users."""
        ...

    def own_schema(self) -> str | None:
        """The schema of the connection."""
        ...

    def tables(self, schema: str | None, kinds: Iterable[str]) -> list[TableName]:
        """The tables of a schema that are of one of these kinds, in the words of the setting `table.types`."""
        ...

    def describe(self, table: TableName) -> Table | None:
        """None: there is no such table."""
        ...


def reflection_of(connection: Connection, capabilities: Capabilities) -> Reflection:
    if capabilities.column_source is ColumnSource.INFORMATION_SCHEMA:
        return DuckDbReflection(connection)
    return _Inspection(connection, capabilities)


_KINDS: Final[Mapping[str, Callable[[Inspector, str | None], list[str]]]] = {
    "TABLE": lambda inspector, schema: inspector.get_table_names(schema),
    "PARTITIONED TABLE": lambda inspector, schema: inspector.get_table_names(schema),
    "VIEW": lambda inspector, schema: inspector.get_view_names(schema),
    "MATERIALIZED VIEW": lambda inspector, schema: inspector.get_materialized_view_names(schema),
}


class _Inspection:
    """What SQLAlchemy's inspector tells."""

    def __init__(self, connection: Connection, capabilities: Capabilities) -> None:
        self._inspector: Inspector = inspect(connection)
        self._capabilities = capabilities

    def own_schema(self) -> str | None:
        return self._inspector.default_schema_name

    def schemas(self) -> list[str | None]:
        names = self._inspector.get_schema_names()
        return [name for name in names if name not in self._capabilities.system_schemas]

    def tables(self, schema: str | None, kinds: Iterable[str]) -> list[TableName]:
        lists = [_KINDS[kind](self._inspector, schema) for kind in kinds if kind in _KINDS]
        names = dict.fromkeys(name for names in lists for name in names)
        return [self._capabilities.full_name(TableName(schema, name)) for name in names]

    def describe(self, table: TableName) -> Table | None:
        schema = table.schema
        # The answer must not come from an earlier look.
        self._inspector.clear_cache()
        try:
            columns = self._columns(table)
            primary_key = tuple(self._inspector.get_pk_constraint(table.name, schema)["constrained_columns"])
            indexes = self._inspector.get_indexes(table.name, schema)
        except NoSuchTableError:
            return None
        if not columns:
            return None
        leading = {index["column_names"][0] for index in indexes if index["column_names"]} | set(primary_key[:1])
        return Table(
            table,
            tuple(_column(each, primary_key) for each in columns),
            primary_key,
            frozenset(name for name in leading if name is not None),
        )

    def _columns(self, table: TableName) -> list[Any]:
        with warnings.catch_warnings():
            # A type that SQLAlchemy does not know is read as text.
            warnings.filterwarnings("ignore", "Did not recognize type", SAWarning)
            return list(self._inspector.get_columns(table.name, table.schema))


def _column(found: Any, primary_key: tuple[str, ...]) -> Column:
    name = str(found["name"])
    counts = found.get("autoincrement") is True or bool(found.get("identity"))
    # A key of one whole number counts up by itself in SQLite, and is made to in most tables elsewhere.
    is_lone_key = primary_key == (name,) and isinstance(found["type"], Integer)
    has_default = found.get("default") is not None or counts
    # Databases take the columns of a primary key for NOT NULL, though SQLite's own table says otherwise.
    nullable = bool(found["nullable"]) and name not in primary_key
    return Column(name, found["type"], nullable, has_default, counts or is_lone_key)
