"""Statements that ask, steer queries, or set something for the session."""

from __future__ import annotations

from typing import Final

from streams_sql.language.connectors import read_show_connectors
from streams_sql.language.external_statements import (
    DescribeConnector,
    ShowConnectorPlugins,
    ShowConnectors,
)
from streams_sql.language.reader import Reader
from streams_sql.language.statements import (
    ChangeQuery,
    DefineVariable,
    DescribeFunction,
    DescribeSource,
    DescribeSources,
    Kind,
    Print,
    QueryAction,
    SetProperty,
    Show,
    ShowErrors,
    ShowTarget,
    UndefineVariable,
    UnsetProperty,
)

_EXTENDABLE: Final = frozenset(
    {ShowTarget.TOPICS, ShowTarget.ALL_TOPICS, ShowTarget.STREAMS, ShowTarget.TABLES, ShowTarget.QUERIES}
)


def read_show(reader: Reader) -> Show | ShowErrors | ShowConnectors | ShowConnectorPlugins:
    reader.expect_one_of("SHOW", "LIST")
    if (connectors := read_show_connectors(reader)) is not None:
        return connectors
    if reader.accept("ERRORS"):
        query_id = reader.written_word() if reader.accept_one_of("FOR", "OF") else None
        return ShowErrors(query_id, reader.integer("LIMIT") if reader.accept("LIMIT") else None)
    listed = next((listed for listed in ShowTarget if reader.accept(*listed.value.split())), None)
    if listed is None:
        raise reader.unexpected()
    return Show(listed, listed in _EXTENDABLE and reader.accept("EXTENDED"))


def read_describe(reader: Reader) -> DescribeSource | DescribeSources | DescribeFunction | DescribeConnector:
    reader.expect("DESCRIBE")
    if reader.accept("CONNECTOR"):
        return DescribeConnector(reader.name())
    for kind in Kind:
        if reader.accept(f"{kind.value}S"):
            return DescribeSources(kind, reader.accept("EXTENDED"))
    if not reader.is_last and reader.word(ahead=1) != "EXTENDED" and reader.accept("FUNCTION"):
        return DescribeFunction(reader.name())
    if reader.accept("EXTENDED"):
        return DescribeSource(reader.source_name(), is_extended=True)
    return DescribeSource(reader.source_name(), reader.accept("EXTENDED"))


def read_change(reader: Reader) -> ChangeQuery:
    action = QueryAction(reader.expect_one_of(*QueryAction.__members__))
    position = reader.position
    return ChangeQuery(action, None if reader.accept("ALL") else reader.name(), position)


def read_print(reader: Reader) -> Print:
    reader.expect("PRINT")
    topic = reader.accept_string() or reader.written_word()
    return Print(
        topic,
        from_beginning=reader.accept("FROM", "BEGINNING"),
        interval=reader.integer("INTERVAL") if reader.accept_one_of("INTERVAL", "SAMPLE") else None,
        limit=reader.integer("LIMIT") if reader.accept("LIMIT") else None,
    )


def read_set(reader: Reader) -> SetProperty:
    reader.expect("SET")
    name = reader.string()
    reader.expect("=")
    return SetProperty(name, reader.string())


def read_unset(reader: Reader) -> UnsetProperty:
    reader.expect("UNSET")
    return UnsetProperty(reader.string())


def read_define(reader: Reader) -> DefineVariable:
    reader.expect("DEFINE")
    name = reader.variable_name()
    reader.expect("=")
    return DefineVariable(name, reader.string())


def read_undefine(reader: Reader) -> UndefineVariable:
    reader.expect("UNDEFINE")
    return UndefineVariable(reader.variable_name())
