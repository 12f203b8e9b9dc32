"""MySQL's LOAD DATA LOCAL: rows in a file that the driver sends along, where server and URL allow that."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from tempfile import NamedTemporaryFile
from typing import Final

from sqlalchemy import Connection

from connect.connectors.jdbc.writing.literal_rows import LiteralWriter
from connect.connectors.jdbc.writing.rows import Rows, Target
from connect.connectors.jdbc.writing.statements import Statements, sentence
from connect.connectors.jdbc.writing.texts import TEXTS, Text, copy_lines, finite_text

LOAD_MIN_ROWS: Final = 256
"""Fewer rows are as quick in a statement."""
_ALLOWED: Final = "connect.local_infile"
_SAVEPOINT: Final = "connect_load"
_BINARY: Final = frozenset({bytes, bytearray, memoryview})
_TEXTS: Final[Mapping[type, Text]] = {
    **TEXTS,
    float: finite_text,
    bool: lambda value: "1" if value else "0",
    **dict.fromkeys(_BINARY, lambda value: value.hex()),
}


def mysql_writer(connection: Connection, statements: Statements) -> LiteralWriter:
    if _ALLOWED not in connection.info:
        connection.info[_ALLOWED] = _is_allowed(connection)
    writer = LoadingWriter if connection.info[_ALLOWED] else LiteralWriter
    return writer(connection, statements)


def _is_allowed(connection: Connection) -> bool:
    """The driver sends any file that a server asks for once it may send one, so the URL must say that it may."""
    if str(connection.engine.url.query.get("local_infile", "")).lower() not in ("1", "true"):
        return False
    with closing(connection.connection.cursor()) as cursor:
        cursor.execute("SELECT @@local_infile")
        row = cursor.fetchone()
        return row is not None and bool(row[0])


class LoadingWriter(LiteralWriter):
    def insert(self, target: Target, rows: Rows) -> None:
        if len(rows) < LOAD_MIN_ROWS or not self._load(target, rows):
            super().insert(target, rows)

    def _load(self, target: Target, rows: Rows) -> bool:
        """Whether all went in as it is. A file from a client never fails: what does not fit is bent or left out, with a warning."""
        self.execute(f"SAVEPOINT {_SAVEPOINT}")
        with NamedTemporaryFile("w", encoding="utf-8", newline="") as file, closing(self.cursor()) as cursor:
            file.write(copy_lines(rows.columns, _TEXTS))
            file.flush()
            cursor.execute(self._statement(file.name, target, rows))
            if cursor.rowcount == len(rows) and not cursor.warning_count:
                return True
        self.execute(f"ROLLBACK TO SAVEPOINT {_SAVEPOINT}")
        return False

    def _statement(self, path: str, target: Target, rows: Rows) -> str:
        column = self.statements.identifiers.column
        places: list[str] = []
        changes: list[str] = []
        for number, (name, values) in enumerate(zip(target.columns, rows.columns, strict=True)):
            if _BINARY.isdisjoint(map(type, values)):
                places.append(column(name))
            else:
                places.append(f"@value_{number}")
                changes.append(f"{column(name)} = UNHEX(@value_{number})")
        return sentence(
            f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE",
            self.statements.table(target.table),
            f"CHARACTER SET utf8mb4 ({', '.join(places)})",
            f"SET {', '.join(changes)}" if changes else "",
        )
