"""Which columns tell new rows from old ones, table by table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import re2  # type: ignore[import-untyped]
from sqlalchemy import types

from connect.api.pattern import InvalidPattern, compiled
from connect.connectors.jdbc.identifiers import TableName
from connect.connectors.jdbc.tables import Column, Table
from connect.errors import ConnectError


class Mode(Enum):
    """The words of the setting `mode`."""

    BULK = "bulk"
    INCREMENTING = "incrementing"
    TIMESTAMP = "timestamp"
    TIMESTAMP_INCREMENTING = "timestamp+incrementing"

    @property
    def has_incrementing(self) -> bool:
        return self in (Mode.INCREMENTING, Mode.TIMESTAMP_INCREMENTING)

    @property
    def has_timestamps(self) -> bool:
        return self in (Mode.TIMESTAMP, Mode.TIMESTAMP_INCREMENTING)


class Increment(NamedTuple):
    """The columns of a table by which its new rows are found; of several timestamps the first that is not NULL counts."""

    incrementing: str | None = None
    timestamps: tuple[str, ...] = ()


class ColumnMapping(NamedTuple):
    """Columns for the tables whose full names match a pattern."""

    pattern: str
    columns: tuple[str, ...]

    def fits(self, table: TableName) -> bool:
        return re2.fullmatch(self.pattern, str(table)) is not None


class MappingError(ValueError):
    """A mapping of tables to columns that cannot be read."""


def parse_mappings(texts: Sequence[str]) -> list[ColumnMapping]:
    """Read `pattern:column` and `pattern:[column|column]`."""
    return list(map(_parsed, texts))


def _parsed(text: str) -> ColumnMapping:
    pattern, colon, columns = text.rpartition(":")
    names = tuple(name.strip() for name in columns.strip().removeprefix("[").removesuffix("]").split("|"))
    if not colon or not pattern or not all(names):
        raise MappingError(f"{text!r} must have the form pattern:column or pattern:[column|column]")
    try:
        compiled(pattern)
    except InvalidPattern as error:
        raise MappingError(f"{pattern!r} is no pattern: {error}") from None
    return ColumnMapping(pattern, names)


@dataclass(frozen=True, slots=True)
class IncrementRules:
    """What settings say about the columns of all tables. No name of an incrementing column: the one that counts up by itself."""

    mode: Mode
    incrementing: str = ""
    timestamps: tuple[str, ...] = ()
    incrementing_mappings: Sequence[ColumnMapping] = ()
    timestamp_mappings: Sequence[ColumnMapping] = ()
    refuses_null: bool = True

    def of(self, table: Table) -> Increment:
        """The columns of a table; ConnectError if it has them not, or they cannot serve."""
        incrementing = self._incrementing(table) if self.mode.has_incrementing else None
        timestamps = tuple(self._timestamps(table)) if self.mode.has_timestamps else ()
        if self.refuses_null:
            self._check_null(table, incrementing, timestamps)
        return Increment(incrementing.name if incrementing else None, tuple(column.name for column in timestamps))

    def of_query(self) -> Increment:
        return Increment(
            self.incrementing if self.mode.has_incrementing else None,
            self.timestamps if self.mode.has_timestamps else (),
        )

    def _incrementing(self, table: Table) -> Column:
        name = self.incrementing
        if self.incrementing_mappings:
            (name,) = _mapped(self.incrementing_mappings, table.name, "incrementing.column.mapping")
        found = _required(table, name) if name else _counting(table)
        if not isinstance(found.type, (types.Integer, types.Numeric)) or isinstance(found.type, types.Float):
            raise ConnectError(
                f"column {found.name} of table {table.name} is {found.type!r} and cannot be the incrementing column: "
                "name a column of whole numbers in incrementing.column.name"
            )
        return found

    def _timestamps(self, table: Table) -> Iterator[Column]:
        names = self.timestamps
        if self.timestamp_mappings:
            names = _mapped(self.timestamp_mappings, table.name, "timestamp.columns.mapping")
        return (_required(table, name) for name in names)

    def _check_null(self, table: Table, incrementing: Column | None, timestamps: Sequence[Column]) -> None:
        nullable = [incrementing] if incrementing is not None and incrementing.nullable else []
        if timestamps and all(column.nullable for column in timestamps):
            nullable += timestamps
        if nullable:
            names = ", ".join(column.name for column in nullable)
            raise ConnectError(
                f"table {table.name} allows NULL in {names}, and rows with NULL there would never be read: "
                "make the column NOT NULL, or set validate.non.null=false if there are none"
            )


def _mapped(mappings: Sequence[ColumnMapping], table: TableName, setting: str) -> tuple[str, ...]:
    fitting = [mapping for mapping in mappings if mapping.fits(table)]
    if len(fitting) != 1:
        raise ConnectError(f"{len(fitting)} patterns of {setting} match table {table}: exactly one must")
    return fitting[0].columns


def _required(table: Table, name: str) -> Column:
    found = table.column(name)
    if found is None:
        names = ", ".join(column.name for column in table.columns)
        raise ConnectError(f"table {table.name} has no column {name}: it has {names}")
    return found


def _counting(table: Table) -> Column:
    counting = [column for column in table.columns if column.is_autoincrement]
    if len(counting) != 1:
        raise ConnectError(
            f"table {table.name} has {len(counting)} columns that count up by themselves: name one in incrementing.column.name"
        )
    return counting[0]
