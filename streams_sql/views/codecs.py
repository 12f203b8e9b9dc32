"""How values are kept in SQLite: numbers, texts and blobs whose order is that of the values; all else as JSON."""

from __future__ import annotations

import base64
import decimal
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import orjson

from streams_sql.sql_types import BOOLEAN, BYTES, DOUBLE, STRING, Array, Decimal, Map, SqlType, Struct

Convert: TypeAlias = Callable[[Any], Any]

NOT_A_NUMBER: Final = "NaN"
"""SQLite would make NULL of it. A text is more than every number there, and equal to none."""

_INTEGER_DIGITS: Final = 18
"""Decimals of so many digits are kept as whole numbers of 64 bits, others as blobs."""
_WIDE_BYTES: Final = 16
_WIDE_ZERO: Final = 1 << (8 * _WIDE_BYTES - 1)
_EXACT: Final = decimal.Context(prec=100, traps=[decimal.InvalidOperation, decimal.Overflow])


class Unstorable(ValueError):
    """A value that has no exact equal among those of a column."""


@dataclass(frozen=True, slots=True)
class Codec:
    """Both ways; None where values are kept as they are. Neither is asked for NULL."""

    encode: Convert | None = None
    decode: Convert | None = None


def codec_of(type_: SqlType) -> Codec:
    match type_:
        case Decimal(precision, scale):
            return _decimal_codec(scale, is_wide=precision > _INTEGER_DIGITS)
        case Array() | Map() | Struct():
            to_json, from_json = _to_json(type_), _from_json(type_)
            return Codec(_dumping(to_json), _loading(from_json))
    return _CODECS.get(type_, Codec())


def converted(values: Any, convert: Convert) -> list[Any]:
    """All values of a column; NULL stays NULL."""
    return [None if value is None else convert(value) for value in values]


def _encode_double(value: float) -> float | str:
    return NOT_A_NUMBER if math.isnan(value) else value


def _decode_double(value: float | str) -> float:
    return math.nan if value == NOT_A_NUMBER else float(value)


_CODECS: Final[Mapping[SqlType, Codec]] = {
    BOOLEAN: Codec(int, bool),
    DOUBLE: Codec(_encode_double, _decode_double),
}


def _decimal_codec(scale: int, *, is_wide: bool) -> Codec:
    def digits(value: decimal.Decimal) -> int:
        shifted = value.scaleb(scale, _EXACT)
        whole = int(shifted)
        if whole != shifted or abs(whole) >= _WIDE_ZERO:
            raise Unstorable(f"{value} has more digits than its column")
        return whole

    def encode(value: decimal.Decimal) -> int:
        whole = digits(value)
        if not -(2**63) <= whole < 2**63:
            raise Unstorable(f"{value} has more digits than its column")
        return whole

    def decode(whole: int) -> decimal.Decimal:
        return decimal.Decimal(whole).scaleb(-scale, _EXACT)

    def encode_wide(value: decimal.Decimal) -> bytes:
        return (digits(value) + _WIDE_ZERO).to_bytes(_WIDE_BYTES, "big")

    def decode_wide(kept: bytes) -> decimal.Decimal:
        return decode(int.from_bytes(kept, "big") - _WIDE_ZERO)

    return Codec(encode_wide, decode_wide) if is_wide else Codec(encode, decode)


# --- arrays, maps and structs ---


def _dumping(to_json: Convert | None) -> Convert:
    if to_json is None:
        return lambda value: orjson.dumps(value).decode()
    return lambda value: orjson.dumps(to_json(value)).decode()


def _loading(from_json: Convert | None) -> Convert:
    if from_json is None:
        return orjson.loads
    return lambda text: from_json(orjson.loads(text))


def _to_json(type_: SqlType) -> Convert | None:
    """What makes of a value one that JSON has; None where it is one already."""
    if type_ == BYTES:
        return lambda value: base64.b64encode(value).decode()
    if type_ == DOUBLE:
        return lambda value: value if math.isfinite(value) else str(value)
    if isinstance(type_, Decimal):
        return str
    return _nested(type_, _to_json, is_writing=True)


def _from_json(type_: SqlType) -> Convert | None:
    if type_ == BYTES:
        return base64.b64decode
    if type_ == DOUBLE:
        return float
    if isinstance(type_, Decimal):
        return decimal.Decimal
    return _nested(type_, _from_json, is_writing=False)


def _nested(type_: SqlType, of: Callable[[SqlType], Convert | None], *, is_writing: bool) -> Convert | None:
    match type_:
        case Array(element):
            convert = of(element)
            return None if convert is None else lambda values: converted(values, convert)
        case Map(key, value):
            return _map(key, of(key), of(value), is_writing=is_writing)
        case Struct(fields):
            converts = {field.name: found for field in fields if (found := of(field.type)) is not None}
            return _struct(converts) if converts else None
    return None


def _struct(converts: Mapping[str, Convert]) -> Convert:
    def convert(values: dict[str, Any]) -> dict[str, Any]:
        changed = {name: made(value) for name, made in converts.items() if (value := values[name]) is not None}
        return {**values, **changed}

    return convert


def _map(key_type: SqlType, key: Convert | None, value: Convert | None, *, is_writing: bool) -> Convert | None:
    """JSON has texts for keys alone, so that maps with others are lists of pairs."""
    if key_type == STRING:
        return None if value is None else lambda pairs: _with_values(pairs, value)

    def pairs_of(pairs: Any) -> Any:
        found = pairs.items() if is_writing else pairs
        made = [(_made(key, name), _made(value, item)) for name, item in found]
        return made if is_writing else dict(made)

    return pairs_of


def _with_values(pairs: dict[str, Any], value: Convert) -> dict[str, Any]:
    return {name: _made(value, item) for name, item in pairs.items()}


def _made(convert: Convert | None, value: Any) -> Any:
    return value if convert is None or value is None else convert(value)
