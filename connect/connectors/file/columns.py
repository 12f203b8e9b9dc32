"""Columns as a setting declares them, and the values that their texts stand for."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from connect.data import schema
from connect.data.schema import Schema, Type


class ColumnError(ValueError):
    """A declaration, or a text, that is not what the column should be."""


_DECLARATION: Final = re.compile(
    r"\s*(?P<name>[^:?]+?)\s*:\s*(?P<type>[a-z0-9]+)(?:\((?P<scale>\d{1,4})\))?(?P<optional>\??)\s*"
)
_TYPES: Final = {
    "boolean": schema.BOOLEAN, "int8": schema.INT8, "int16": schema.INT16, "int32": schema.INT32, "int64": schema.INT64,
    "float": schema.FLOAT32, "float32": schema.FLOAT32, "double": schema.FLOAT64, "float64": schema.FLOAT64,
    "string": schema.STRING, "date": schema.DATE_SCHEMA, "time": schema.TIME_SCHEMA, "timestamp": schema.TIMESTAMP_SCHEMA,
}  # fmt: skip
_TRUTHS: Final = {"true": True, "1": True, "false": False, "0": False}


class Column:
    """A name and a type, and the way from a text to a value of it."""

    __slots__ = ("_parse", "name", "schema")

    def __init__(self, name: str, schema: Schema) -> None:
        self.name = name
        self.schema = schema
        self._parse = _parser(schema)

    def parse(self, text: str) -> Any:
        """The value of a text; an empty one is null where that is allowed."""
        if not text and self.schema.optional:
            return None
        try:
            return self._parse(text)
        except (ValueError, KeyError, InvalidOperation, OverflowError):
            raise ColumnError(f"column {self.name}: {text[:80]!r} is no {_word(self.schema)}") from None


def parse_columns(declaration: str) -> tuple[Column, ...]:
    """The columns of a declaration such as `id:int64, name:string?, price:decimal(2)`."""
    columns = tuple(_column(part) for part in declaration.split(","))
    names = [column.name for column in columns]
    for name in names:
        if names.count(name) > 1:
            raise ColumnError(f"column {name} is declared twice")
    return columns


def _column(part: str) -> Column:
    found = _DECLARATION.fullmatch(part)
    if found is None:
        raise ColumnError(f"{part.strip()!r} is no column: expected a name and a type, such as id:int64")
    word, scale = found["type"], found["scale"]
    if (word == "decimal") != (scale is not None):
        raise ColumnError(f"{part.strip()!r}: a decimal, and only a decimal, has a scale, such as decimal(2)")
    declared = schema.decimal(int(scale)) if scale is not None else _TYPES.get(word)
    if declared is None:
        raise ColumnError(f"{word} is no type: expected one of {', '.join([*_TYPES, 'decimal(SCALE)'])}")
    return Column(found["name"], declared.as_optional() if found["optional"] else declared)


def _parser(declared: Schema) -> Callable[[str], Any]:
    if declared.name is not None:
        return {
            schema.DATE: date.fromisoformat,
            schema.TIME: time.fromisoformat,
            schema.TIMESTAMP: _timestamp,
            schema.DECIMAL: lambda text: _decimal(text, declared.scale),
        }[declared.name]
    if declared.type is Type.BOOLEAN:
        return lambda text: _TRUTHS[text.strip().lower()]
    if declared.type.bits is not None:
        return lambda text: _whole(text, declared.type.bits or 0)
    return float if declared.type in (Type.FLOAT32, Type.FLOAT64) else str


def _timestamp(text: str) -> datetime:
    parsed = datetime.fromisoformat(text)
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)


def _decimal(text: str, scale: int) -> Decimal:
    number = Decimal(text)
    scaled = number.quantize(Decimal(1).scaleb(-scale))
    if scaled != number:
        raise ValueError(text)
    return scaled


def _whole(text: str, bits: int) -> int:
    number = int(text)
    if not -(1 << (bits - 1)) <= number < 1 << (bits - 1):
        raise ValueError(text)
    return number


def _word(declared: Schema) -> str:
    return declared.name.rpartition(".")[2].lower() if declared.name else declared.type.value
