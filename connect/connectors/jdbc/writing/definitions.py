"""The statements that make tables and columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any

from connect.connectors.jdbc.capabilities import Capabilities
from connect.connectors.jdbc.column_types import column_type
from connect.connectors.jdbc.identifiers import Identifiers, TableName
from connect.data.schema import TIMESTAMP_SCHEMA, Schema, Type
from connect.errors import ConnectError


@dataclass(frozen=True, slots=True)
class NewColumn:
    name: str
    schema: Schema
    is_key: bool = False

    @property
    def may_be_added(self) -> bool:
        """Rows that are there already have no value for it."""
        return self.schema.optional or self.schema.default_value is not None

    def as_time(self) -> NewColumn:
        """The same for numbers that are written as times."""
        return NewColumn(self.name, Schema(Type.INT64, self.schema.optional, TIMESTAMP_SCHEMA.name, 1), self.is_key)


@dataclass(frozen=True, slots=True)
class Definitions:
    capabilities: Capabilities
    identifiers: Identifiers

    def create_table(self, table: TableName, columns: Sequence[NewColumn]) -> str:
        parts = [self._column(column) for column in columns]
        keys = tuple(column.name for column in columns if column.is_key)
        if keys:
            parts.append(f"PRIMARY KEY ({self.identifiers.columns(keys)})")
        return f"CREATE TABLE {self.identifiers.table(table)} ({', '.join(parts)})"

    def add_column(self, table: TableName, column: NewColumn) -> str:
        word = self.capabilities.add_column
        return f"ALTER TABLE {self.identifiers.table(table)} {word} {self._column(column)}"

    def _column(self, column: NewColumn) -> str:
        try:
            kind = column_type(column.schema, self.capabilities, is_key=column.is_key)
        except ConnectError as error:
            raise ConnectError(f"there can be no column for the field {column.name}: {error}") from None
        default = self._default(column)
        is_required = column.is_key or not column.schema.optional
        # Without a default that the database knows, rows that are there already could have no value.
        if column.schema.default_value is not None and not default and not column.is_key:
            is_required = False
        return f"{self.identifiers.column(column.name)} {kind}{default} {'NOT NULL' if is_required else 'NULL'}"

    def _default(self, column: NewColumn) -> str:
        text = _literal(column.schema.default_value, self.capabilities)
        is_long_text = column.schema.type is Type.STRING and self.capabilities.key_text_type is not None
        return "" if text is None or column.is_key or is_long_text else f" DEFAULT {text}"


def _literal(value: Any, capabilities: Capabilities) -> str | None:
    """None: it cannot be written so that every database reads it as the same."""
    if isinstance(value, bool):
        return str(value).upper() if capabilities.has_native_boolean else str(int(value))
    if isinstance(value, int | Decimal) or (isinstance(value, float) and isfinite(value)):
        return f"{value:f}" if isinstance(value, Decimal) else repr(value)
    if isinstance(value, str) and "\\" not in value and "%" not in value:
        quoted = value.replace("'", "''")
        return f"'{quoted}'"
    return None
