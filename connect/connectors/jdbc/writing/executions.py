"""Rows as parameters of a statement that the driver repeats for each of them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing

from connect.connectors.jdbc.capabilities import Upsert
from connect.connectors.jdbc.writing.row_writer import RowWriter
from connect.connectors.jdbc.writing.rows import Row, Rows, Target


class ExecutingWriter(RowWriter):
    def insert(self, target: Target, rows: Rows) -> None:
        self.execute_many(self.statements.insert(target), rows.tuples())

    def upsert(self, target: Target, rows: Rows) -> None:
        if self.statements.capabilities.upsert is Upsert.EMULATED:
            self._update_or_insert(target, rows)
        else:
            self.execute_many(self.statements.upsert(target), rows.tuples())

    def update(self, target: Target, rows: Rows) -> None:
        self.execute_many(self.statements.update(target), _key_last(target, rows).tuples())

    def delete(self, target: Target, keys: Rows) -> None:
        self.execute_many(self.statements.delete(target), keys.tuples())

    def execute_many(self, statement: str, rows: Iterable[Row]) -> None:
        with closing(self.cursor()) as cursor:
            cursor.executemany(statement, list(rows))

    def _update_or_insert(self, target: Target, rows: Rows) -> None:
        insert = self.statements.insert(target)
        change = self.statements.update(target) if target.others else None
        find = self.statements.delete(target)
        with closing(self.cursor()) as cursor:
            for row, changed in zip(rows.tuples(), _key_last(target, rows).tuples(), strict=True):
                cursor.execute(change or find, changed)
                if change is None or cursor.rowcount == 0:
                    cursor.execute(insert, row)


def _key_last(target: Target, rows: Rows) -> Rows:
    count = target.key_count
    return Rows([*rows.columns[count:], *rows.columns[:count]])
