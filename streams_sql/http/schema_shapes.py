"""Columns and types as ksqlDB's clients read them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from barnabas.kernel.http.schema import INTEGER, STRING, Shape, enum, list_of, nullable, open_object, ref
from streams_sql.sources import Column, Schema
from streams_sql.sql_types import Array, Decimal, Map, SqlType, Struct

KEY = "KEY"
HEADER = "HEADER"

_TYPE_NAME: Final = "SqlType"
_MEMBERS: Final = list_of(open_object({"name": STRING, "schema": ref(_TYPE_NAME)}))
TYPE: Final = Shape(
    _TYPE_NAME,
    open_object(
        {"type": STRING, "fields": nullable(_MEMBERS), "memberSchema": nullable(ref(_TYPE_NAME))},
        {"parameters": open_object({"precision": INTEGER, "scale": INTEGER})},
    ),
)
FIELD: Final = Shape(
    "Field",
    open_object({"name": STRING, "schema": TYPE}, {"type": enum(KEY, HEADER), "headerKey": STRING}),
)


def type_shape(type_: SqlType) -> dict[str, Any]:
    match type_:
        case Array(element):
            return {"type": "ARRAY", "fields": None, "memberSchema": type_shape(element)}
        case Map(_, value):
            return {"type": "MAP", "fields": None, "memberSchema": type_shape(value)}
        case Struct(fields):
            members = [{"name": field.name, "schema": type_shape(field.type)} for field in fields]
            return {"type": "STRUCT", "fields": members, "memberSchema": None}
        case Decimal(precision, scale):
            parameters = {"precision": precision, "scale": scale}
            return {"type": "DECIMAL", "fields": None, "memberSchema": None, "parameters": parameters}
    return {"type": str(type_), "fields": None, "memberSchema": None}


def source_fields(schema: Schema) -> list[dict[str, Any]]:
    """The columns of a source, with what they are of its records."""
    headers = []
    for column in schema.headers:
        field = {**_field(column.name, column.type), "type": HEADER}
        headers.append(field if column.header is None else {**field, "headerKey": column.header})
    keys = [{**_field(column.name, column.type), "type": KEY} for column in schema.key]
    return [*keys, *(_field(column.name, column.type) for column in schema.value), *headers]


def query_fields(columns: Iterable[Column], keys: frozenset[str]) -> list[dict[str, Any]]:
    fields = []
    for column in columns:
        field = _field(column.name, column.type)
        fields.append({**field, "type": KEY} if column.name in keys else field)
    return fields


def _field(name: str, type_: SqlType) -> dict[str, Any]:
    return {"name": name, "schema": type_shape(type_)}
