"""DuckDB's way: each column is one parameter, a list that a SELECT takes apart."""

from __future__ import annotations

from contextlib import closing

from connect.connectors.jdbc.writing.row_writer import RowWriter
from connect.connectors.jdbc.writing.rows import Rows, Target
from connect.connectors.jdbc.writing.statements import sentence


class UnnestingWriter(RowWriter):
    def insert(self, target: Target, rows: Rows) -> None:
        self._execute(sentence("INSERT INTO", self.statements.into(target), self._select(target)), rows)

    def upsert(self, target: Target, rows: Rows) -> None:
        clause = self.statements.conflict_clause(target)
        statement = sentence("INSERT INTO", self.statements.into(target), self._select(target), clause)
        self._execute(statement, rows.last_of_each_key(target.key_count))

    def update(self, target: Target, rows: Rows) -> None:
        statement = self.statements.update_from(target, f"({self._select(target)})")
        self._execute(statement, rows.last_of_each_key(target.key_count))

    def delete(self, target: Target, keys: Rows) -> None:
        self._execute(self.statements.delete_from(target, f"({self._select(target)})"), keys)

    def _select(self, target: Target) -> str:
        column = self.statements.identifiers.column
        return "SELECT " + ", ".join(f"unnest(?) AS {column(name)}" for name in target.columns)

    def _execute(self, statement: str, rows: Rows) -> None:
        with closing(self.cursor()) as cursor:
            cursor.execute(statement, tuple(map(list, rows.columns)))
