"""MySQL's way: many rows in one statement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Final

from connect.connectors.jdbc.writing.executions import ExecutingWriter
from connect.connectors.jdbc.writing.rows import Rows, Target
from connect.connectors.jdbc.writing.statements import sentence
from connect.connectors.jdbc.writing.texts import Literals

STATEMENT_MAX_CHARACTERS: Final = 1_000_000
"""Servers take four megabytes and more, and a character may have four bytes."""

STAGE_MIN_ROWS: Final = 32
"""Fewer rows are updated one by one: to make a stage takes longer."""
_STAGE: Final = "connect_stage"


class LiteralWriter(ExecutingWriter):
    def insert(self, target: Target, rows: Rows) -> None:
        self._insert(target, rows, "")

    def upsert(self, target: Target, rows: Rows) -> None:
        self._insert(target, rows, self.statements.conflict_clause(target))

    def update(self, target: Target, rows: Rows) -> None:
        rows = rows.last_of_each_key(target.key_count)
        if len(rows) < STAGE_MIN_ROWS:
            super().update(target, rows)
            return
        # It has the collations of the table's columns, which literals have not. Neither statement ends the transaction.
        empty = sentence("SELECT", self.statements.columns(target.columns), "FROM", self.statements.table(target.table))
        self.execute(sentence("DROP TEMPORARY TABLE IF EXISTS", _STAGE))
        self.execute(sentence("CREATE TEMPORARY TABLE", _STAGE, "AS", empty, "LIMIT 0"))
        for values in _chunks(self._literals(rows)):
            self.execute(sentence("INSERT INTO", _STAGE, "VALUES", values))
        self.execute(self.statements.update_join(target, _STAGE))
        self.execute(sentence("DROP TEMPORARY TABLE", _STAGE))

    def delete(self, target: Target, keys: Rows) -> None:
        table, columns = self.statements.table(target.table), self.statements.columns(target.keys)
        for found in _chunks(self._literals(keys)):
            self.execute(sentence("DELETE FROM", table, "WHERE", f"({columns}) IN ({found})"))

    def _insert(self, target: Target, rows: Rows, clause: str) -> None:
        into = self.statements.into(target)
        for values in _chunks(self._literals(rows)):
            self.execute(sentence("INSERT INTO", into, "VALUES", values, clause))

    def _literals(self, rows: Rows) -> list[str]:
        with closing(self.cursor()) as cursor:
            return Literals(cursor.connection.escape).rows(rows.columns)


def _chunks(rows: list[str]) -> Iterator[str]:
    """Rows behind one another, in as few texts as a statement may be long."""
    start = length = 0
    for place, row in enumerate(rows):
        length += len(row) + 1
        if length > STATEMENT_MAX_CHARACTERS and place > start:
            yield ",".join(rows[start:place])
            start, length = place, len(row) + 1
    yield ",".join(rows[start:])
