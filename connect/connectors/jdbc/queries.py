"""The statements by which tables and queries are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from connect.connectors.jdbc.capabilities import Capabilities
from connect.connectors.jdbc.identifiers import Identifiers, TableName
from connect.connectors.jdbc.increments import Increment
from connect.connectors.jdbc.positions import Position
from connect.connectors.jdbc.timestamps import TimestampColumn

_PLACEHOLDERS: Final = {"pyformat": "%s", "format": "%s", "named": ":{number}", "numeric_dollar": "${number}"}
_FORMATTING: Final = ("pyformat", "format")


@dataclass(frozen=True, slots=True)
class Target:
    """What is read: a table, or a query of the user's own."""

    table: TableName | None
    query: str = ""

    def __str__(self) -> str:
        return "the query" if self.table is None else f"table {self.table}"


class Statement:
    """Text that grows clause by clause, with its parameters."""

    def __init__(self, paramstyle: str) -> None:
        self._clauses: list[str] = []
        self._paramstyle = paramstyle
        self.parameters: list[Any] | None = []
        """None: the text is taken as it stands, with whatever looks like the mark of a parameter."""

    def add(self, *words: str) -> None:
        self._clauses.extend(words)

    def bind(self, value: Any) -> str:
        """The mark that stands for a value in the text."""
        assert self.parameters is not None
        self.parameters.append(value)
        return _PLACEHOLDERS.get(self._paramstyle, "?").format(number=len(self.parameters))

    @property
    def text(self) -> str:
        return " ".join(self._clauses)


@dataclass(frozen=True, slots=True)
class Selection:
    """Reads the rows of a target after a position and before a moment, in the order of their positions."""

    target: Target
    increment: Increment
    identifiers: Identifiers
    capabilities: Capabilities
    timestamps: TimestampColumn | None = None
    suffix: str = ""
    page_rows: int | None = None
    """How many rows at most; None: all of them."""

    def statement(self, after: Position, before: datetime | None) -> Statement:
        """The whole statement; rows without a value in the columns that order them are left out."""
        statement = Statement(self.identifiers.dialect.paramstyle)
        if not self.is_ordered:
            statement.parameters = None
        statement.add(*self._base())
        order = self._order()
        if order:
            conditions = self._conditions(statement, after, before) or [f"{name} IS NOT NULL" for name in order]
            statement.add("WHERE", " AND ".join(conditions), "ORDER BY", ", ".join(f"{name} ASC" for name in order))
        if self.suffix:
            statement.add(self._plain(self.suffix))
        if self.page_rows is not None:
            statement.add(self.capabilities.limit.format(rows=self.page_rows))
        return statement

    def sample(self) -> Statement:
        """One value of the timestamp column."""
        statement = Statement(self.identifiers.dialect.paramstyle)
        time = self._time()
        statement.add("SELECT", time, "FROM", self._from(), "WHERE", time, "IS NOT NULL")
        statement.add(self.capabilities.limit.format(rows=1))
        return statement

    def no_rows(self) -> Statement:
        """An answer without rows, which has the columns all the same."""
        statement = Statement(self.identifiers.dialect.paramstyle)
        statement.add("SELECT * FROM", self._from(), "WHERE 1 = 0")
        return statement

    @property
    def is_ordered(self) -> bool:
        return bool(self.increment.timestamps) or self.increment.incrementing is not None

    def _base(self) -> Sequence[str]:
        if self.is_ordered or self.target.table is not None:
            return "SELECT * FROM", self._from()
        return (self.target.query,)

    def _from(self) -> str:
        if self.target.table is not None:
            return self._plain(self.identifiers.table(self.target.table))
        return f"({self._plain(self.target.query)}) {self.capabilities.subquery_alias}rows_of_query"

    def _plain(self, text: str) -> str:
        """Text in which nothing is taken for the mark of a parameter."""
        takes_marks = self.is_ordered and self.identifiers.dialect.paramstyle in _FORMATTING
        return text.replace("%", "%%") if takes_marks else text

    def _column(self, name: str) -> str:
        return self._plain(self.identifiers.column(name))

    def _time(self) -> str:
        names = [self._column(name) for name in self.increment.timestamps]
        return names[0] if len(names) == 1 else f"COALESCE({', '.join(names)})"

    def _order(self) -> list[str]:
        found = [self._time()] if self.increment.timestamps else []
        if self.increment.incrementing is not None:
            found.append(self._column(self.increment.incrementing))
        return found

    def _conditions(self, statement: Statement, after: Position, before: datetime | None) -> Sequence[str]:
        if self.timestamps is None:
            return self._number_conditions(statement, after)
        found, time = [], self._time()
        if after.timestamp is not None:
            at_least, more_than = self.timestamps.bounds(after.timestamp)
            if after.incrementing is not None and self.increment.incrementing is not None:
                # The first condition says nothing new, but an index on the time serves it.
                found.append(f"{time} >= {statement.bind(at_least)}")
                later = f"{time} > {statement.bind(more_than)}"
                (greater,) = self._number_conditions(statement, after)
                found.append(f"({later} OR {greater})")
            else:
                found.append(f"{time} > {statement.bind(more_than)}")
        if before is not None:
            found.append(f"{time} < {statement.bind(self.timestamps.bounds(before)[0])}")
        return found

    def _number_conditions(self, statement: Statement, after: Position) -> Sequence[str]:
        if self.increment.incrementing is None or after.incrementing is None:
            return ()
        return (f"{self._column(self.increment.incrementing)} > {statement.bind(after.incrementing)}",)
