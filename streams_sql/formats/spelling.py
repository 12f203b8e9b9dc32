"""Records whose fields have the names that statements have written, where a source keeps their case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from streams_sql.formats.serde import Encode, Layout, Values
from streams_sql.sources import Column
from streams_sql.sql_types import Array, Field, Map, SqlType, Struct

Rename: TypeAlias = Callable[[Any], Any]


def written_layout(layout: Layout) -> Layout:
    """The layout as it is written: reading does not ask for the case of names."""
    if not layout.format.keeps_case:
        return layout
    columns = tuple(Column(column.written or column.name, _written_type(column.type)) for column in layout.columns)
    return replace(layout, columns=columns)


def renaming(encode: Encode, layout: Layout) -> Encode:
    """An encoder of the layout as it is written, for rows of this one."""
    renames = [_rename(column.type) for column in layout.columns]
    if not layout.format.keeps_case or not any(renames):
        return encode

    def renamed(row: Values) -> Values:
        return tuple(value if rename is None else rename(value) for rename, value in zip(renames, row, strict=True))

    def encode_renamed(rows: Sequence[Values | None]) -> list[bytes | None]:
        return encode([None if row is None else renamed(row) for row in rows])

    return encode_renamed


def _written_type(type_: SqlType) -> SqlType:
    match type_:
        case Array(element):
            return Array(_written_type(element))
        case Map(key, value):
            return Map(_written_type(key), _written_type(value))
        case Struct(fields):
            return Struct(tuple(Field(field.written or field.name, _written_type(field.type)) for field in fields))
    return type_


def _rename(type_: SqlType) -> Rename | None:
    """What gives the structs of a value the names of their fields; None where there are none."""
    match type_:
        case Array(element):
            return _renamed_items(_rename(element))
        case Map(_, value):
            return _renamed_entries(_rename(value))
        case Struct(fields):
            return _renamed_struct(fields)
    return None


def _renamed_items(rename: Rename | None) -> Rename | None:
    if rename is None:
        return None
    return lambda items: None if items is None else [rename(item) for item in items]


def _renamed_entries(rename: Rename | None) -> Rename | None:
    if rename is None:
        return None
    return lambda items: None if items is None else {key: rename(item) for key, item in items.items()}


def _renamed_struct(fields: Sequence[Field]) -> Rename:
    parts = [(field.name, field.written or field.name, _rename(field.type)) for field in fields]

    def renamed(value: Any) -> Any:
        if value is None:
            return None
        return {word: value[name] if rename is None else rename(value[name]) for name, word, rename in parts}

    return renamed
