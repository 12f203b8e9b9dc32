"""Which tables a source reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import re2  # type: ignore[import-untyped]

from connect.connectors.jdbc.capabilities import Capabilities
from connect.connectors.jdbc.identifiers import TableName
from connect.connectors.jdbc.reflection import Reflection

_WILDCARDS: Final = {"%": ".*", "_": "."}


@dataclass(frozen=True, slots=True)
class TableFilter:
    """`only` and `without` are names, full or not; `included` and `excluded` are patterns of full names."""

    kinds: Sequence[str] = ("TABLE",)
    schema_pattern: str | None = None
    only: Sequence[str] = ()
    without: Sequence[str] = ()
    included: Sequence[str] = ()
    excluded: Sequence[str] = ()

    def tables(self, reflection: Reflection, capabilities: Capabilities) -> list[TableName]:
        """The tables that are there and are wanted, in the order of their names."""
        found = {
            table
            for schema in self._schemas(reflection, capabilities)
            for table in reflection.tables(schema, self.kinds)
            if self._wants(table)
        }
        return sorted(found, key=str)

    def _schemas(self, reflection: Reflection, capabilities: Capabilities) -> Sequence[str | None]:
        if self.schema_pattern is None and capabilities.own_schema_only:
            return [reflection.own_schema()]
        schemas = reflection.schemas()
        if self.schema_pattern is None:
            return schemas
        pattern = "".join(_WILDCARDS.get(character, re.escape(character)) for character in self.schema_pattern)
        return [schema for schema in schemas if re2.fullmatch(f"(?i){pattern}", schema or "")]

    def _wants(self, table: TableName) -> bool:
        names = (table.name, str(table))
        if self.only:
            return any(name in self.only for name in names)
        if self.without:
            return not any(name in self.without for name in names)
        if self.included and not _matches(self.included, table):
            return False
        return not _matches(self.excluded, table)


def _matches(patterns: Sequence[str], table: TableName) -> bool:
    return any(re2.fullmatch(pattern, str(table)) for pattern in patterns)
