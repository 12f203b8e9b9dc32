"""Columns that the registry gave, as the command topic keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import CreateSource
from streams_sql.sources import Column, InferredSchema
from streams_sql.sql_types import SqlType

KEY: Final = "key"
VALUE: Final = "value"


def schema_texts(schema: InferredSchema) -> Mapping[str, str]:
    parts = ((KEY, schema.key), (VALUE, schema.value))
    return {name: ", ".join(map(str, columns)) for name, columns in parts if columns is not None}


def read_schema(texts: Mapping[str, str]) -> InferredSchema | None:
    """The reverse; None where nothing was looked up."""
    if not texts:
        return None
    return InferredSchema(_columns(texts.get(KEY)), _columns(texts.get(VALUE)))


def _columns(text: str | None) -> tuple[Column, ...] | None:
    if text is None:
        return None
    if not text:
        return ()
    statement = parse_statement(f"CREATE STREAM S ({text})")
    assert isinstance(statement, CreateSource)
    return tuple(Column(column.name, _known(column.type)) for column in statement.columns)


def _known(type_: object) -> SqlType:
    assert isinstance(type_, SqlType), f"{type_} is a type of its own"
    return type_
