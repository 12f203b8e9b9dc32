"""Rows as JSON, in the forms that ksqlDB's clients know.

Decimals are exact numbers, bytes are Base64, points in time are ISO 8601 texts, and doubles that JSON has no numbers for are words.
Inside of a struct points in time are numbers, as in ksqlDB.
"""

from __future__ import annotations

import decimal
import math
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

import orjson

from streams_sql.evaluation.time_texts import date_text, time_text, timestamp_text
from streams_sql.sources import Column
from streams_sql.sql_types import Array, Base, Decimal, Map, SqlType, Struct

Encode: TypeAlias = Callable[[Any], Any]
"""From a value that is not NULL to what JSON has for it."""
EncodeRows: TypeAlias = Callable[[Sequence[tuple[Any, ...]]], list[bytes]]
"""Each row as the text of a JSON array."""

_OPTIONS: Final = orjson.OPT_NON_STR_KEYS
_TIMES: Final[dict[SqlType, Encode]] = {Base.TIME: time_text, Base.DATE: date_text, Base.TIMESTAMP: timestamp_text}


def rows_encoder(columns: Sequence[Column]) -> EncodeRows:
    """Made once for a result: columns whose values are JSON's own already cost nothing."""
    encodes = [(place, encode) for place, column in enumerate(columns) if (encode := _encode(column.type)) is not None]
    if not encodes:
        return _dumped

    def encoded(rows: Sequence[tuple[Any, ...]]) -> list[bytes]:
        return _dumped([_changed(row, encodes) for row in rows])

    return encoded


def _changed(row: tuple[Any, ...], encodes: list[tuple[int, Encode]]) -> list[Any]:
    values = list(row)
    for place, encode in encodes:
        if values[place] is not None:
            values[place] = encode(values[place])
    return values


def _dumped(rows: Iterable[Sequence[Any]]) -> list[bytes]:
    return [_dump(row) for row in rows]


def _dump(row: Sequence[Any]) -> bytes:
    try:
        return orjson.dumps(row, option=_OPTIONS)
    except TypeError:
        # A text with half of a character (CHR and SUBSTRING of UTF-16 can make one), which UTF-8 cannot hold.
        return orjson.dumps(_whole(row), option=_OPTIONS)


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, (list, tuple)):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(item) for name, item in value.items()}
    return value


def _encode(type_: SqlType, *, in_struct: bool = False) -> Encode | None:
    """None where values are JSON's own."""
    match type_:
        case Base.BYTES:
            return _base64
        case Base.DOUBLE:
            return _double
        case Base.TIME | Base.DATE | Base.TIMESTAMP:
            return None if in_struct else _TIMES[type_]
        case Decimal():
            return _decimal
        case Array(element):
            return _each_item(_encode(element, in_struct=in_struct))
        case Map(key, value):
            return _each_entry(_key(key), _encode(value, in_struct=in_struct))
        case Struct(fields):
            encodes = {field.name: encode for field in fields if (encode := _encode(field.type, in_struct=True))}
            return _fields(encodes) if encodes else None
    return None


def _base64(value: bytes) -> str:
    return b64encode(value).decode()


def _double(value: float) -> Any:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _decimal(value: decimal.Decimal) -> orjson.Fragment:
    return orjson.Fragment(format(value, "f"))


def _key(type_: SqlType) -> Encode | None:
    """Names in JSON are texts."""
    return str if isinstance(type_, Decimal) else _encode(type_)


def _each_item(encode: Encode | None) -> Encode | None:
    if encode is None:
        return None
    return lambda items: [None if item is None else encode(item) for item in items]


def _each_entry(key: Encode | None, value: Encode | None) -> Encode | None:
    if key is None and value is None:
        return None
    encode_key, encode_value = key or _same, value or _same

    def encoded(entries: dict[Any, Any]) -> dict[Any, Any]:
        return {encode_key(name): None if entry is None else encode_value(entry) for name, entry in entries.items()}

    return encoded


def _fields(encodes: dict[str, Encode]) -> Encode:
    def encoded(struct: dict[str, Any]) -> dict[str, Any]:
        return {
            name: encodes[name](value) if value is not None and name in encodes else value
            for name, value in struct.items()
        }

    return encoded


def _same(value: Any) -> Any:
    return value
