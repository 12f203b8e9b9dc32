"""CREATE INDEX, DROP INDEX and DELETE."""

from __future__ import annotations

from streams_sql.language.reader import Reader
from streams_sql.language.table_statements import CreateIndex, DeleteRows, DropIndex


def read_create_index(reader: Reader) -> CreateIndex:
    """What follows CREATE INDEX."""
    if_not_exists = reader.accept("IF", "NOT", "EXISTS")
    name = reader.name()
    reader.expect("ON")
    position = reader.position
    table = reader.source_name()
    return CreateIndex(name, table, tuple(reader.in_parentheses(reader.name)), if_not_exists, position)


def read_drop_index(reader: Reader) -> DropIndex:
    """What follows DROP INDEX."""
    if_exists = reader.accept("IF", "EXISTS")
    position = reader.position
    return DropIndex(reader.name(), if_exists, position)


def read_delete(reader: Reader) -> DeleteRows:
    reader.expect("DELETE", "FROM")
    position = reader.position
    target = reader.source_name()
    reader.expect("WHERE")
    return DeleteRows(target, reader.condition(), position)
