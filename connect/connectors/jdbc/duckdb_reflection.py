"""The tables and columns of DuckDB, from its own views: SQLAlchemy's inspector asks it what PostgreSQL alone can answer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import Connection, types
from sqlalchemy.types import TypeEngine

from connect.connectors.jdbc.identifiers import TableName
from connect.connectors.jdbc.tables import Column, Table

_DECIMAL: Final = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")
_KINDS: Final = {"TABLE": "BASE TABLE", "VIEW": "VIEW"}
_TYPES: Final[dict[str, TypeEngine[Any]]] = {
    "TINYINT": types.SmallInteger(),
    "SMALLINT": types.SmallInteger(),
    "UTINYINT": types.SmallInteger(),
    "USMALLINT": types.Integer(),
    "INTEGER": types.Integer(),
    "UINTEGER": types.BigInteger(),
    "BIGINT": types.BigInteger(),
    "UBIGINT": types.Numeric(20, 0),
    "HUGEINT": types.Numeric(39, 0),
    "UHUGEINT": types.Numeric(39, 0),
    "FLOAT": types.REAL(),
    "DOUBLE": types.Double(),
    "BOOLEAN": types.Boolean(),
    "VARCHAR": types.Text(),
    "JSON": types.JSON(),
    "UUID": types.Uuid(),
    "BLOB": types.LargeBinary(),
    "DATE": types.Date(),
    "TIME": types.Time(),
    "TIMESTAMP": types.DateTime(),
    "TIMESTAMP_S": types.DateTime(),
    "TIMESTAMP_MS": types.DateTime(),
    "TIMESTAMP_NS": types.DateTime(),
    "TIMESTAMP WITH TIME ZONE": types.DateTime(timezone=True),
}


def duckdb_type(text: str) -> TypeEngine[Any]:
    """The type of a column by DuckDB's word for it; NullType for those that are told as text."""
    if text.endswith("[]"):
        return types.ARRAY(duckdb_type(text.removesuffix("[]")))
    decimal = _DECIMAL.fullmatch(text)
    if decimal is not None:
        return types.Numeric(int(decimal[1]), int(decimal[2]))
    return _TYPES.get(text, types.NullType())


class DuckDbReflection:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def schemas(self) -> list[str | None]:
        rows = self._rows(
            "SELECT DISTINCT table_schema FROM information_schema.tables WHERE table_catalog = current_database()"
        )
        return [schema for (schema,) in rows]

    def own_schema(self) -> str | None:
        return "main"

    def tables(self, schema: str | None, kinds: Iterable[str]) -> list[TableName]:
        rows = self._rows(
            "SELECT table_schema, table_name, table_type FROM information_schema.tables "
            "WHERE table_catalog = current_database() AND table_schema = ? ORDER BY table_name",
            schema,
        )
        wanted = {_KINDS[kind] for kind in kinds if kind in _KINDS}
        return [TableName(None if at == "main" else at, name) for at, name, kind in rows if kind in wanted]

    def describe(self, table: TableName) -> Table | None:
        columns = self._rows(
            "SELECT column_name, data_type, is_nullable, column_default FROM information_schema.columns "
            "WHERE table_catalog = current_database() AND table_schema = ? AND table_name = ? ORDER BY ordinal_position",
            table.schema or "main",
            table.name,
        )
        if not columns:
            return None
        keys = self._rows(
            "SELECT constraint_column_names FROM duckdb_constraints() "
            "WHERE database_name = current_database() AND schema_name = ? AND table_name = ? AND constraint_type = 'PRIMARY KEY'",
            table.schema or "main",
            table.name,
        )
        primary_key = tuple(keys[0][0]) if keys else ()
        return Table(
            table,
            tuple(
                Column(name, duckdb_type(kind), nullable == "YES", default is not None, "nextval" in (default or ""))
                for name, kind, nullable, default in columns
            ),
            primary_key,
            frozenset(primary_key[:1]),
        )

    def _rows(self, statement: str, *parameters: object) -> list[Any]:
        return list(self._connection.exec_driver_sql(statement, parameters).all())
