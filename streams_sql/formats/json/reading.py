"""JSON to columns."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal as PythonDecimal
from typing import Any, Final

import orjson

from streams_sql.formats.json.values import Convert, Inexact, Record, converter, refusal
from streams_sql.formats.mismatch import Mismatch
from streams_sql.formats.serde import Decode, Layout, Undecodable, Values
from streams_sql.formats.wrapping import is_wrapped
from streams_sql.sql_types import STRING, Array, Decimal, Field, Map, SqlType, Struct

# A float shows up to fifteen digits as they were written, and exponents of two digits.
_LONG_NUMBER: Final = re.compile(rb"[0-9][0-9.]{15}|[eE][+-]?[0-9]{3}")
_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")
_NOTHING: Final = object()

Read = Callable[[Any], Values]

RECORDS_TOGETHER: Final = 500
"""Read at once. Where one of them is unlike the others, all of these are read one by one."""


def json_decoder(layout: Layout) -> Decode:
    read, read_many = json_reader(layout), _many_reader(layout)

    def decode(payloads: Sequence[bytes | None]) -> list[Values | Undecodable | None]:
        rows: list[Values | Undecodable | None] = []
        for start in range(0, len(payloads), RECORDS_TOGETHER):
            some = payloads[start : start + RECORDS_TOGETHER]
            rows += read_many(some) or [_decoded(payload, read) for payload in some]
        return rows

    return decode


def _decoded(payload: bytes | None, read: Callable[[bytes], Values]) -> Values | Undecodable | None:
    if payload is None:
        return None
    try:
        return read(payload)
    except Mismatch as mismatch:
        return Undecodable(str(mismatch))


def _many_reader(layout: Layout) -> Callable[[Sequence[bytes | None]], list[Values | Undecodable | None]]:
    """What reads many records at once, in half the time; nothing where one of them has to be looked at by itself."""
    if not is_wrapped(layout) or not layout.columns or _needs_exactness(layout):
        return lambda payloads: []
    record = Record([column.name for column in layout.columns], [converter(column.type) for column in layout.columns])

    def read_many(payloads: Sequence[bytes | None]) -> list[Values | Undecodable | None]:
        present = [payload for payload in payloads if payload is not None]
        try:
            found = list(map(orjson.loads, present))
            rows: list[Any] = record.rows(found) if {dict}.issuperset(map(type, found)) else []
        except (Inexact, ValueError, RecursionError):
            return []
        if len(rows) in (0, len(payloads)):
            return rows
        following = iter(rows)
        return [None if payload is None else next(following) for payload in payloads]

    return read_many


def json_reader(layout: Layout, *, takes_entries: bool = False) -> Callable[[bytes], Values]:
    """What reads one record; Mismatch if it cannot."""
    read = _value_reader(layout, takes_entries)
    is_careful = _needs_exactness(layout)

    def read_record(payload: bytes) -> Values:
        if is_careful and _LONG_NUMBER.search(payload):
            return _read_exactly(payload, read)
        try:
            return read(orjson.loads(payload))
        except (Inexact, ValueError, RecursionError):
            return _read_exactly(payload, read)

    return read_record


def _value_reader(layout: Layout, takes_entries: bool) -> Read:
    converters = [converter(column.type, takes_entries=takes_entries) for column in layout.columns]
    if not is_wrapped(layout):
        return _single_reader(layout.columns[0].type, converters[0])
    record = Record([column.name for column in layout.columns], converters)
    whole = Struct(tuple(Field(column.name, column.type) for column in layout.columns))

    def read(value: Any) -> Values:
        if type(value) is not dict:
            raise refusal(value, whole)
        return record.values(value)

    return read


def _single_reader(type_: SqlType, convert: Convert) -> Read:
    def read(value: Any) -> Values:
        if value is _NOTHING and type_ is STRING:
            return ("",)
        return (convert(value),)

    return read


def _read_exactly(payload: bytes, read: Read) -> Values:
    try:
        return read(_parse_exactly(payload))
    except RecursionError:
        raise Mismatch("The record is nested too deeply") from None


def _parse_exactly(payload: bytes) -> Any:
    """As Jackson does it: fractions keep their digits, and what follows the first value does not count."""
    try:
        text = payload.decode().lstrip(" \t\r\n")
        if not text:
            return _NOTHING
        value, _ = _EXACT.raw_decode(text)
        if "\\u" in text and _HALF_PAIR.search(json.dumps(value, ensure_ascii=False, default=str)):
            raise ValueError("a text in it holds half of a surrogate pair")
    except ValueError as error:
        raise Mismatch(f"The record is not JSON: {error}") from None
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


_EXACT: Final = json.JSONDecoder(parse_float=PythonDecimal, parse_constant=_no_constant)


def _needs_exactness(layout: Layout) -> bool:
    return any(_has_decimals(column.type) for column in layout.columns)


def _has_decimals(type_: SqlType) -> bool:
    match type_:
        case Decimal():
            return True
        case Array(inner) | Map(_, inner):
            return _has_decimals(inner)
        case Struct(fields):
            return any(_has_decimals(field.type) for field in fields)
    return False
