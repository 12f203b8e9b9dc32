"""Rows that clients send as JSON objects: each value must fit the type of its column, and nothing is guessed."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from streams_sql.evaluation.casts import decode_base64
from streams_sql.evaluation.decimals import fit
from streams_sql.evaluation.integers import ranged
from streams_sql.evaluation.time_texts import parse_date, parse_time, parse_timestamp
from streams_sql.formats.number_texts import time_of_day
from streams_sql.problem import SqlProblem
from streams_sql.sources import Column
from streams_sql.sql_types import Array, Base, Decimal, Map, SqlType, Struct

Take: TypeAlias = Callable[[Any], Any]
"""From what JSON has to a value, neither of which is NULL. ValueError, TypeError."""

_KINDS: Final = {
    str: "a text",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
}


class JsonRows:
    """Names are those of columns in any case, or exact ones in backticks."""

    def __init__(self, source: str, columns: Sequence[Column]) -> None:
        self._source = source
        self._takes = {column.name: (column.type, _take(column.type)) for column in columns}

    def row(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """A value for each column, NULL for those that are not there. SqlProblem."""
        named = {self._name(name): value for name, value in values.items()}
        return tuple(None if (value := named.get(name)) is None else self._value(name, value) for name in self._takes)

    def _name(self, name: str) -> str:
        found = name[1:-1] if name[:1] == name[-1:] == "`" and len(name) > 1 else name.upper()
        if found not in self._takes:
            raise SqlProblem(f"{self._source} has no column {name}. It has {', '.join(self._takes)}.")
        return found

    def _value(self, name: str, value: Any) -> Any:
        type_, take = self._takes[name]
        try:
            return take(value)
        except (ValueError, TypeError, OverflowError, decimal.InvalidOperation) as problem:
            raise SqlProblem(f"Column {name} of {self._source} takes {type_}: {problem}") from None


def _take(type_: SqlType) -> Take:
    match type_:
        case Decimal():
            return lambda value: fit(_decimal(value), type_)
        case Array(element):
            return _array(_take(element))
        case Map(key, value):
            return _map(_take(key), _take(value))
        case Struct(fields):
            return _struct({field.name: _take(field.type) for field in fields})
        case Base():
            return _TAKES[type_]


def _array(element: Take) -> Take:
    return lambda items: [None if item is None else element(item) for item in _of(items, list)]


def _map(key: Take, value: Take) -> Take:
    def taken(entries: Any) -> dict[Any, Any]:
        return {key(name): None if item is None else value(item) for name, item in _of(entries, dict).items()}

    return taken


def _struct(takes: Mapping[str, Take]) -> Take:
    def taken(fields: Any) -> dict[str, Any]:
        found = {name if name in takes else name.upper(): value for name, value in _of(fields, dict).items()}
        unknown = [name for name in found if name not in takes]
        if unknown:
            raise ValueError(f"there is no field {unknown[0]}")
        return {name: None if found.get(name) is None else take(found[name]) for name, take in takes.items()}

    return taken


def _of(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{_shown(value)} is {_KINDS[type(value)]}, and {_KINDS[kind]} is wanted")
    return value


def _whole(type_: Base) -> Take:
    def taken(value: Any) -> int:
        if type(value) is not int:
            raise TypeError(f"{_shown(value)} is no whole number")
        return ranged(value, type_)

    return taken


def _double(value: Any) -> float:
    """Words too, where JSON has no number: as the server itself gives them."""
    if type(value) not in (int, float) and value not in _DOUBLE_WORDS:
        raise TypeError(f"{_shown(value)} is no number")
    found = float(value)
    if math.isinf(found) and value not in _DOUBLE_WORDS:
        raise ValueError(f"{_shown(value)} is too large")
    return found


def _decimal(value: Any) -> decimal.Decimal:
    """Texts too: JSON's numbers are doubles to many clients."""
    if type(value) not in (int, float, str):
        raise TypeError(f"{_shown(value)} is no number")
    try:
        return decimal.Decimal(str(value))
    except decimal.InvalidOperation:
        raise ValueError(f"{_shown(value)} is no number") from None


def _moment(parse: Callable[[str], int], take_number: Take) -> Take:
    """An ISO 8601 text, or the number that the server itself gives for those in structs."""

    def taken(value: Any) -> int:
        found: int = parse(value) if type(value) is str else take_number(value)
        return found

    return taken


def _time_of_day(value: Any) -> int:
    return time_of_day(_BIGINT(value))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


_DOUBLE_WORDS: Final = ("NaN", "Infinity", "-Infinity")
_INTEGER: Final = _whole(Base.INTEGER)
_BIGINT: Final = _whole(Base.BIGINT)
_TAKES: Final[Mapping[Base, Take]] = {
    Base.BOOLEAN: lambda value: _of(value, bool),
    Base.INTEGER: _INTEGER,
    Base.BIGINT: _BIGINT,
    Base.DOUBLE: _double,
    Base.STRING: lambda value: _of(value, str),
    Base.BYTES: lambda value: decode_base64(_of(value, str)),
    Base.TIME: _moment(parse_time, _time_of_day),
    Base.DATE: _moment(parse_date, _INTEGER),
    Base.TIMESTAMP: _moment(parse_timestamp, _BIGINT),
}
