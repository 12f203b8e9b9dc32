"""Statements that are handed on to Connect."""

from __future__ import annotations

from decimal import Decimal

from streams_sql.language.expressions import Literal
from streams_sql.language.external_statements import (
    ConnectorKind,
    CreateConnector,
    DropConnector,
    ShowConnectorPlugins,
    ShowConnectors,
)
from streams_sql.language.reader import Reader


def read_create_connector(reader: Reader) -> CreateConnector | None:
    """What follows CREATE, if that is about a connector."""
    for kind in ConnectorKind:
        if reader.accept(kind.value, "CONNECTOR"):
            if_not_exists = reader.accept("IF", "NOT", "EXISTS")
            name = reader.name()
            reader.expect("WITH")
            return CreateConnector(kind, name, _read_config(reader), if_not_exists)
    return None


def read_drop_connector(reader: Reader) -> DropConnector:
    is_lenient = reader.accept("IF", "EXISTS")
    return DropConnector(reader.name(), is_lenient)


def read_show_connectors(reader: Reader) -> ShowConnectors | ShowConnectorPlugins | None:
    """What follows SHOW, if that is about connectors."""
    if reader.accept("CONNECTOR", "PLUGINS"):
        return ShowConnectorPlugins()
    for kind in ConnectorKind:
        if reader.accept(kind.value, "CONNECTORS"):
            return ShowConnectors(kind)
    return ShowConnectors() if reader.accept("CONNECTORS") else None


def _read_config(reader: Reader) -> dict[str, str]:
    config: dict[str, str] = {}

    def read_setting() -> None:
        position = reader.position
        # `topics` and the like are reserved elsewhere.
        name = reader.accept_string() or (reader.variable_name() if reader.word() else reader.written_word())
        if name in config:
            raise reader.problem(f"The property {name} is given twice.", position)
        reader.expect("=")
        config[name] = _text(reader.literal())

    reader.in_parentheses(read_setting)
    return config


def _text(literal: Literal) -> str:
    value = literal.value
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return ""
    return f"{value:f}" if isinstance(value, Decimal) else str(value)
