"""PostgreSQL's COPY: rows as lines of text, straight into a table, or into a stage from which one statement changes the table."""

from __future__ import annotations

from contextlib import closing
from typing import Final

from connect.connectors.jdbc.writing.executions import ExecutingWriter
from connect.connectors.jdbc.writing.rows import Rows, Target
from connect.connectors.jdbc.writing.statements import sentence
from connect.connectors.jdbc.writing.texts import copy_lines, text_column

STAGE_MIN_ROWS: Final = 64
"""Fewer rows are written one by one: to make a stage takes longer."""
PIECE_ROWS: Final = 500
_STAGE: Final = "pg_temp.connect_stage"


class CopyWriter(ExecutingWriter):
    """Every value is sent as text without a type, so that the column alone decides what it is, on each way."""

    streams = True

    def insert(self, target: Target, rows: Rows) -> None:
        self._copy(self.statements.into(target), rows)

    def upsert(self, target: Target, rows: Rows) -> None:
        rows = rows.last_of_each_key(target.key_count)
        if len(rows) < STAGE_MIN_ROWS:
            super().upsert(target, _as_text(rows))
            return
        into, columns = self.statements.into(target), self.statements.columns(target.columns)
        clause = self.statements.conflict_clause(target)
        self._change(target, rows, sentence("INSERT INTO", into, "SELECT", columns, "FROM", _STAGE, clause))

    def update(self, target: Target, rows: Rows) -> None:
        rows = rows.last_of_each_key(target.key_count)
        if len(rows) < STAGE_MIN_ROWS:
            super().update(target, _as_text(rows))
            return
        self._change(target, rows, self.statements.update_from(target, _STAGE))

    def delete(self, target: Target, keys: Rows) -> None:
        if len(keys) < STAGE_MIN_ROWS:
            super().delete(target, _as_text(keys))
            return
        self._change(target, keys, self.statements.delete_from(target, _STAGE))

    def _change(self, target: Target, rows: Rows, statement: str) -> None:
        """Run a statement while the stage has the rows."""
        table, columns = self.statements.table(target.table), self.statements.columns(target.columns)
        empty = sentence("SELECT", columns, "FROM", table, "WITH NO DATA")
        self.execute(sentence("CREATE TEMPORARY TABLE", _STAGE, "ON COMMIT DROP AS", empty))
        self._copy(f"{_STAGE} ({columns})", rows)
        self.execute(statement)
        self.execute(sentence("DROP TABLE", _STAGE))

    def _copy(self, into: str, rows: Rows) -> None:
        """In pieces, so that the server works while the next is written."""
        with closing(self.cursor()) as cursor, cursor.copy(f"COPY {into} FROM STDIN") as copy:
            for start in range(0, len(rows), PIECE_ROWS):
                copy.write(copy_lines([column[start : start + PIECE_ROWS] for column in rows.columns]))


def _as_text(rows: Rows) -> Rows:
    return Rows([text_column(column) for column in rows.columns])
