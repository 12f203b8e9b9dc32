"""Names of tables and columns, as settings write them and as statements do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from sqlalchemy.engine import Dialect

SEPARATOR: Final = "."


class QuoteMode(Enum):
    """The words of the setting `quote.sql.identifiers`."""

    ALWAYS = "always"
    NEVER = "never"


class TableName(NamedTuple):
    """A table, in a schema or database if it is named."""

    schema: str | None
    name: str

    def __str__(self) -> str:
        """The full name without quotes, as offsets and messages have it."""
        return self.name if self.schema is None else f"{self.schema}{SEPARATOR}{self.name}"


def parse_table_name(text: str) -> TableName:
    """Read `table`, `schema.table` or `catalog.schema.table`; a part may stand in double quotes, backticks or brackets."""
    parts = _parts(text.strip())
    return TableName(SEPARATOR.join(parts[:-1]) or None, parts[-1])


_CLOSING: Final = {'"': '"', "`": "`", "[": "]"}


def _parts(text: str) -> list[str]:
    parts, start = [], 0
    while start <= len(text):
        closing = _CLOSING.get(text[start : start + 1])
        end = -1 if closing is None else text.find(closing, start + 1)
        if end > 0:
            parts.append(text[start + 1 : end])
            start = end + 2
            continue
        end = text.find(SEPARATOR, start)
        end = len(text) if end < 0 else end
        parts.append(text[start:end])
        start = end + 1
    return parts


@dataclass(frozen=True, slots=True)
class Identifiers:
    """Writes names into statements for a dialect. Unlike SQLAlchemy's, they are not written for statements with marks for
    parameters: where % is such a mark, whoever binds parameters doubles those of the names.
    """

    dialect: Dialect
    mode: QuoteMode = QuoteMode.ALWAYS

    def column(self, name: str) -> str:
        if self.mode is QuoteMode.NEVER:
            return name
        preparer = self.dialect.identifier_preparer
        escaped = name.replace(preparer.final_quote, preparer.final_quote * 2)
        return f"{preparer.initial_quote}{escaped}{preparer.final_quote}"

    def columns(self, names: list[str] | tuple[str, ...]) -> str:
        return ", ".join(map(self.column, names))

    def table(self, table: TableName) -> str:
        parts = [*table.schema.split(SEPARATOR), table.name] if table.schema else [table.name]
        return SEPARATOR.join(map(self.column, parts))
