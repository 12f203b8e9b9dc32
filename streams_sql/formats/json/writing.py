"""Columns to JSON."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

import msgspec
import orjson

from barnabas.kernel.java.numbers import double_text
from streams_sql.evaluation import decimals
from streams_sql.evaluation.straight_line import made
from streams_sql.formats.serde import Encode, Layout, Values
from streams_sql.formats.wrapping import is_wrapped
from streams_sql.sql_types import BYTES, DOUBLE, Array, Decimal, Map, SqlType, Struct

Convert: TypeAlias = Callable[[Any], Any]
Raw: TypeAlias = Callable[[str], Any]
# Between these bounds Java writes a float as everyone does.
_PLAIN_MIN: Final = 1e-3
_PLAIN_END: Final = 1e7


def json_encoder(layout: Layout) -> Encode:
    """Rows of plain columns are written many at once, which takes a third of the time; what that does not take is written one by one."""
    encode_singly, encode_lines = single_encoder(layout), _line_encoder(layout)
    if encode_lines is None:
        return encode_singly

    def encode(rows: Sequence[Values | None]) -> list[bytes | None]:
        try:
            return encode_lines(rows)
        except (msgspec.MsgspecError, TypeError, ValueError):
            return encode_singly(rows)

    return encode


def _line_encoder(layout: Layout) -> Callable[[Sequence[Values | None]], list[bytes | None]] | None:
    """TypeError where a row is None, or has a value that JSON cannot have. JSON holds no end of line, so that each ends one record."""
    has_parts = any(isinstance(column.type, Array | Map | Struct) for column in layout.columns)
    if has_parts or not layout.columns or not is_wrapped(layout):
        return None
    converters = [_converter(column.type, as_entries=False, raw=msgspec.Raw) for column in layout.columns]
    display, constants = _object_display([column.name for column in layout.columns], converters)
    objects = made(f"def write(rows):\n    return [{display} for row in rows]\n", "write", constants)
    encode = msgspec.json.Encoder().encode_lines
    return lambda rows: encode(objects(rows)).split(b"\n")[:-1]  # type: ignore[return-value]


def single_encoder(layout: Layout) -> Encode:
    """The reference of `json_encoder`."""
    write, is_alone = json_writer(layout), not is_wrapped(layout)

    def encode(rows: Sequence[Values | None]) -> list[bytes | None]:
        try:
            return encode_with(orjson.dumps, rows)
        except orjson.JSONEncodeError:
            # A map may have NULL for a key, which JSON writes as the text null. It is rare, and to look for it costs time.
            return encode_with(_dumps_any_key, rows)

    def encode_with(dumps: Callable[[Any], bytes], rows: Sequence[Values | None]) -> list[bytes | None]:
        if is_alone:
            return [None if row is None or row[0] is None else dumps(write(row)) for row in rows]
        return [None if row is None else dumps(write(row)) for row in rows]

    return encode


def _dumps_any_key(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)


def json_writer(layout: Layout, *, maps_as_entries: bool = False) -> Callable[[Values], Any]:
    """From a row to what is written as its JSON. Maps are objects, or arrays of objects with a key and a value."""
    converters = [_converter(column.type, maps_as_entries) for column in layout.columns]
    if not is_wrapped(layout):
        convert_row = _row_converter(converters)
        return (lambda row: row[0]) if convert_row is None else lambda row: convert_row(row)[0]
    names = [column.name for column in layout.columns]
    return _object_maker(names, converters)


def _object_maker(names: Sequence[str], converters: Sequence[Convert | None]) -> Callable[[Values], dict[str, Any]]:
    display, constants = _object_display(names, converters)
    return made(f"def write(row):\n    return {display}\n", "write", constants)


def _object_display(names: Sequence[str], converters: Sequence[Convert | None]) -> tuple[str, dict[str, Any]]:
    """The display of a dict, and what it names. Most floats are written as they are, which is seen without a call."""
    constants: dict[str, Any] = {}
    items = []
    for place, (name, convert) in enumerate(zip(names, converters, strict=True)):
        constants[f"n{place}"], constants[f"c{place}"] = name, convert
        value = f"row[{place}]"
        if convert is not None:
            plain = f" or {_PLAIN_MIN} <= value < {_PLAIN_END}" if convert in _DOUBLES.values() else ""
            value = f"(value if (value := {value}) is None{plain} else c{place}(value))"
        items.append(f"n{place}: {value}")
    return f"{{{', '.join(items)}}}", constants


def _row_converter(converters: Sequence[Convert | None]) -> Convert | None:
    places = [(place, convert) for place, convert in enumerate(converters) if convert is not None]
    if not places:
        return None

    def convert_row(row: Values) -> list[Any]:
        values = list(row)
        for place, convert in places:
            if values[place] is not None:
                values[place] = convert(values[place])
        return values

    return convert_row


def _converter(type_: SqlType, as_entries: bool, raw: Raw = orjson.Fragment) -> Convert | None:
    """What makes of a value one that is written as ksqlDB writes it; None where that is the value itself. `raw` stands for a text that is
    JSON already."""
    match type_:
        case Decimal():
            return lambda value: raw(decimals.plain_text(value))
        case Array(element):
            return _array(_converter(element, as_entries))
        case Map(_, value):
            return _entries(_converter(value, as_entries)) if as_entries else _map(_converter(value, as_entries))
        case Struct(fields):
            return _struct([field.name for field in fields], [_converter(field.type, as_entries) for field in fields])
    return _DOUBLES[raw] if type_ == DOUBLE else _CONVERTERS.get(type_)


def _array(convert: Convert | None) -> Convert | None:
    if convert is None:
        return None
    return lambda items: [None if item is None else convert(item) for item in items]


def _map(convert: Convert | None) -> Convert | None:
    if convert is None:
        return None
    return lambda items: {key: None if item is None else convert(item) for key, item in items.items()}


def _entries(convert: Convert | None) -> Convert:
    if convert is None:
        return lambda items: [{"key": key, "value": item} for key, item in items.items()]
    return lambda items: [{"key": key, "value": None if item is None else convert(item)} for key, item in items.items()]


def _struct(names: Sequence[str], converters: Sequence[Convert | None]) -> Convert | None:
    convert_row = _row_converter(converters)
    if convert_row is None:
        return None
    return lambda value: dict(zip(names, convert_row(tuple(value.values())), strict=True))


def _double(raw: Raw, value: float) -> Any:
    size = abs(value)
    if _PLAIN_MIN <= size < _PLAIN_END or size == 0:
        return value
    text = double_text(value)
    return text if size == math.inf or value != value else raw(text)


_DOUBLES: Final[Mapping[Raw, Convert]] = {raw: partial(_double, raw) for raw in (orjson.Fragment, msgspec.Raw)}
_CONVERTERS: Final[Mapping[SqlType, Convert]] = {
    BYTES: lambda value: base64.b64encode(value).decode(),
}
