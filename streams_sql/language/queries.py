"""SELECT: its clauses have one order."""

from __future__ import annotations

from typing import Final

from streams_sql.language.durations import read_window, read_within
from streams_sql.language.reader import Reader
from streams_sql.language.statements import Emit, Join, JoinKind, Query, Relation

_JOINS: Final = {"INNER": JoinKind.INNER, "LEFT": JoinKind.LEFT, "RIGHT": JoinKind.RIGHT, "FULL": JoinKind.OUTER}


def read_query(reader: Reader) -> Query:
    if reader.word() == "WITH":
        raise reader.not_supported("WITH before a query")
    reader.expect("SELECT")
    reader.refuse("SELECT", "DISTINCT")
    select = tuple(reader.listed(reader.select_item))
    reader.expect("FROM")
    return Query(
        select=select,
        source=_read_relation(reader),
        joins=_read_joins(reader),
        window=read_window(reader) if reader.accept("WINDOW") else None,
        where=reader.condition() if reader.accept("WHERE") else None,
        group_by=reader.values() if reader.accept("GROUP", "BY") else (),
        partition_by=reader.values() if reader.accept("PARTITION", "BY") else (),
        having=reader.condition() if reader.accept("HAVING") else None,
        emit=Emit(reader.expect_one_of(*Emit.__members__)) if reader.accept("EMIT") else None,
        limit=reader.integer("LIMIT") if reader.accept("LIMIT") else None,
    )


def _read_relation(reader: Reader) -> Relation:
    if reader.word() == "(":
        raise reader.not_supported("A query inside of another one")
    position = reader.position
    name = reader.source_name()
    return Relation(name, reader.source_alias() or name, position)


def _read_joins(reader: Reader) -> tuple[Join, ...]:
    joins: list[Join] = []
    while True:
        position = reader.position
        kind = _read_join_kind(reader)
        if kind is None:
            return tuple(joins)
        right = _read_relation(reader)
        within = read_within(reader) if reader.accept("WITHIN") else None
        reader.expect("ON")
        joins.append(Join(kind, right, reader.condition(), within, position))


def _read_join_kind(reader: Reader) -> JoinKind | None:
    word = reader.accept_one_of(*_JOINS)
    if word is None:
        return JoinKind.INNER if reader.accept("JOIN") else None
    if word != "INNER":
        reader.accept("OUTER")
    reader.expect("JOIN")
    return _JOINS[word]
