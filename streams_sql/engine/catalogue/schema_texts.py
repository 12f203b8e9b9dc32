"""Columns that the registry gave, as the command topic keeps them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import CreateSource
from streams_sql.language.words import RESERVED_WORDS
from streams_sql.sources import Column, InferredSchema
from streams_sql.sql_types import Array, Map, SqlType, Struct, quoted

KEY: Final = "key"
VALUE: Final = "value"

_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def schema_texts(schema: InferredSchema) -> Mapping[str, str]:
    parts = ((KEY, schema.key), (VALUE, schema.value))
    return {name: ", ".join(map(_column_text, columns)) for name, columns in parts if columns is not None}


def _column_text(column: Column) -> str:
    return f"{_name_text(column.name, column.written)} {_type_text(column.type)}"


def _name_text(name: str, written: str | None) -> str:
    """A word that is not quoted keeps the case in which it was written beside its name."""
    is_word = written is not None and _WORD.fullmatch(written) and written.upper() == name
    return written if written and is_word and name not in RESERVED_WORDS else quoted(name)


def _type_text(type_: SqlType) -> str:
    match type_:
        case Array(element):
            return f"ARRAY<{_type_text(element)}>"
        case Map(key, value):
            return f"MAP<{_type_text(key)}, {_type_text(value)}>"
        case Struct(fields) if fields:
            inner = ", ".join(f"{_name_text(each.name, each.written)} {_type_text(each.type)}" for each in fields)
            return f"STRUCT<{inner}>"
    return str(type_)


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
    return tuple(Column(column.name, _known(column.type), column.written) for column in statement.columns)


def _known(type_: object) -> SqlType:
    assert isinstance(type_, SqlType), f"{type_} is a type of its own"
    return type_
