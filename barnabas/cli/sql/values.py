"""Values of rows as texts: in a table, in CSV, in JSON."""

from __future__ import annotations

import decimal
from typing import Any, Final

import orjson

from barnabas.cli.output import printable

NULL: Final = "null"
_INTEGER_BITS_MAX: Final = 63


def cell_text(value: Any) -> str:
    """In a table: NULL is distinguished from an empty text, and what has parts is JSON."""
    return printable(NULL if value is None else plain_text(value))


def plain_text(value: Any) -> str:
    """As people and spreadsheets read it; NULL is nothing."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json_text(value) if isinstance(value, (list, dict)) else str(value)


def json_text(value: Any) -> str:
    """With all digits of each number."""
    try:
        return orjson.dumps(value, default=_number).decode()
    except TypeError:
        return orjson.dumps(_with_large_numbers(value), default=_number).decode()


def _number(value: Any) -> orjson.Fragment:
    if isinstance(value, decimal.Decimal):
        return orjson.Fragment(str(value))
    raise TypeError(f"{type(value).__name__} is no value of JSON")


def _with_large_numbers(value: Any) -> Any:
    """orjson knows integers of 64 bits alone, and a DECIMAL may have more."""
    if isinstance(value, int) and value.bit_length() > _INTEGER_BITS_MAX:
        return orjson.Fragment(str(value))
    if isinstance(value, list):
        return [_with_large_numbers(item) for item in value]
    if isinstance(value, dict):
        return {name: _with_large_numbers(item) for name, item in value.items()}
    return value
