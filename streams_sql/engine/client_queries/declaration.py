"""The statement that declares a stream over a topic as it was found."""

from __future__ import annotations

import re
from typing import Final

from streams_sql.analysis.catalogue_view import CatalogueView
from streams_sql.language.formatting import format_name
from streams_sql.sources import Column, Source
from streams_sql.sql_types import Array, Field, Map, SqlType, Struct

_NO_WORD: Final = re.compile(r"[^A-Z0-9_]")


def declaration(source: Source, catalogue: CatalogueView) -> str:
    columns = [f"{_column(column)} KEY" for column in source.schema.key]
    columns += [_column(column) for column in source.schema.value]
    quote, doubled = "'", "''"
    properties = [f"KAFKA_TOPIC='{source.topic.replace(quote, doubled)}'"]
    properties.append(f"KEY_FORMAT='{source.key_format.name}'")
    properties.append(f"VALUE_FORMAT='{source.value_format.name}'")
    if source.value_format.is_wrapped is False:
        properties.append("WRAP_SINGLE_VALUE=false")
    return f"CREATE STREAM {_name(source.topic, catalogue)} ({', '.join(columns)}) WITH ({', '.join(properties)});"


def _name(topic: str, catalogue: CatalogueView) -> str:
    stem = _NO_WORD.sub("_", topic.upper())
    name, number = stem, 1
    while catalogue.source(name) is not None:
        number += 1
        name = f"{stem}_{number}"
    return format_name(name)


def _column(column: Column) -> str:
    return f"{format_name(column.name)} {_type(column.type)}"


def _type(type_: SqlType) -> str:
    match type_:
        case Array(element):
            return f"ARRAY<{_type(element)}>"
        case Map(key, value):
            return f"MAP<{_type(key)}, {_type(value)}>"
        case Struct(fields):
            return f"STRUCT<{', '.join(map(_field, fields))}>"
    return str(type_)


def _field(field: Field) -> str:
    return f"{format_name(field.name)} {_type(field.type)}"
