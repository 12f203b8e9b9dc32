"""What is known about a table: its columns, its key, its indexes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy.types import TypeEngine

from connect.connectors.jdbc.identifiers import TableName


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: TypeEngine[Any]
    nullable: bool = True
    has_default: bool = False
    is_autoincrement: bool = False


@dataclass(frozen=True)
class Table:
    """`indexed` are the columns by which an index of the table begins, so that rows can be had in their order without sorting."""

    name: TableName
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    indexed: frozenset[str] = frozenset()

    @cached_property
    def _columns_by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    def column(self, name: str) -> Column | None:
        """The column of this name; upper and lower case count only where two names differ in nothing else."""
        found = self._columns_by_name.get(name)
        if found is not None:
            return found
        near = [column for column in self.columns if column.name.lower() == name.lower()]
        return near[0] if len(near) == 1 else None
