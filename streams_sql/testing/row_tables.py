"""Rows below each other, as statements would write their values, with marks below what differs."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from streams_sql.evaluation.time_texts import date_text, time_text, timestamp_text
from streams_sql.sources import Column
from streams_sql.sql_types import Array, Base, Map, SqlType, Struct

CELL_CHARACTERS_MAX: Final = 60
QUOTE: Final = "'"
_TIMES: Final[Mapping[SqlType, Callable[[int], str]]] = {
    Base.TIME: time_text,
    Base.DATE: date_text,
    Base.TIMESTAMP: timestamp_text,
}


def row_table(
    columns: Sequence[Column], rows: Sequence[tuple[str, Mapping[str, Any]]], different: Sequence[str] = ()
) -> str:
    """Each row has a word before it. A value that a row does not have is left out."""
    lines = [["", *(column.name for column in columns)]]
    for word, row in rows:
        lines.append([word, *(_cell(row, column) for column in columns)])
    if different:
        lines.append(["", *("^" * len(column.name) if column.name in different else "" for column in columns)])
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns) + 1)]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _cell(row: Mapping[str, Any], column: Column) -> str:
    if column.name not in row:
        return ""
    text = value_text(row[column.name], column.type)
    return text if len(text) <= CELL_CHARACTERS_MAX else f"{text[: CELL_CHARACTERS_MAX - 1]}…"


def value_text(value: Any, type_: SqlType) -> str:
    if value is None:
        return "NULL"
    if type_ in _TIMES:
        return f"'{_TIMES[type_](value)}'"
    match type_, value:
        case Base.STRING, _:
            return f"'{str(value).replace(QUOTE, QUOTE * 2)}'"
        case Base.BYTES, _:
            return f"TO_BYTES('{b64encode(value).decode()}', 'base64')"
        case Array(element), _:
            return f"ARRAY[{', '.join(value_text(item, element) for item in value)}]"
        case Map(key, entry), _:
            return f"MAP({', '.join(f'{value_text(k, key)} := {value_text(v, entry)}' for k, v in value.items())})"
        case Struct(fields), _:
            parts = [f"{field.name} := {value_text(value.get(field.name), field.type)}" for field in fields]
            return f"STRUCT({', '.join(parts)})"
        case _, bool():
            return str(value).upper()
    return str(value)
