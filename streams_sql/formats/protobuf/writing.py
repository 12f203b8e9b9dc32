"""Values of columns in Protobuf's JSON mapping, from which the kernel's codec makes the bytes. NULL is what is not there."""

from __future__ import annotations

import base64
import decimal
from collections.abc import Mapping, Sequence
from typing import Any, Final

from barnabas.kernel.serdes.json_numbers import double_number
from streams_sql.evaluation.time_texts import (
    MS_PER_HOUR,
    MS_PER_MINUTE,
    MS_PER_SECOND,
    civil_from_days,
    timestamp_text,
)
from streams_sql.formats.mismatch import Mismatch
from streams_sql.formats.serde import Values
from streams_sql.formats.written import Convert, unscaled_bytes
from streams_sql.sql_types import BYTES, DATE, DOUBLE, TIME, TIMESTAMP, Array, Decimal, Map, SqlType, Struct

_NS_PER_MS: Final = 1_000_000


def protobuf_row_writer(names: Sequence[str], types: Sequence[SqlType]) -> Convert:
    writers = [(name, _writer(type_)) for name, type_ in zip(names, types, strict=True)]

    def write(row: Values) -> dict[str, Any]:
        return {
            name: value if convert is None else convert(value)
            for (name, convert), value in zip(writers, row, strict=True)
            if value is not None
        }

    return write


def _writer(type_: SqlType) -> Convert | None:
    match type_:
        case Decimal(_, scale):
            return _decimal(scale)
        case Array(element):
            return _array(_writer(element))
        case Map(key, value):
            write = protobuf_row_writer(("key", "value"), (key, value))
            return lambda entries: [write(entry) for entry in entries.items()]
        case Struct(fields):
            write = protobuf_row_writer([field.name for field in fields], [field.type for field in fields])
            return lambda value: write(tuple(value.values()))
    return _WRITERS.get(type_)


def _array(convert: Convert | None) -> Convert:
    def write(items: list[Any]) -> list[Any]:
        if None in items:
            raise Mismatch("An array holds NULL, which PROTOBUF cannot say", f"[{items.index(None)}]")
        return items if convert is None else [convert(item) for item in items]

    return write


def _decimal(scale: int) -> Convert:
    def write(value: decimal.Decimal) -> dict[str, Any]:
        digits = len(value.as_tuple().digits)
        return {"value": _text(unscaled_bytes(value, scale)), "precision": digits, "scale": scale}

    return write


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _date(days: int) -> dict[str, int]:
    year, month, day = civil_from_days(days)
    return {"year": year, "month": month, "day": day}


def _time(ms: int) -> dict[str, int]:
    return {
        "hours": ms // MS_PER_HOUR,
        "minutes": ms // MS_PER_MINUTE % 60,
        "seconds": ms // MS_PER_SECOND % 60,
        "nanos": ms % MS_PER_SECOND * _NS_PER_MS,
    }


_WRITERS: Final[Mapping[SqlType, Convert]] = {
    DOUBLE: double_number,
    BYTES: _text,
    DATE: _date,
    TIME: _time,
    TIMESTAMP: lambda ms: f"{timestamp_text(ms)}Z",
}
