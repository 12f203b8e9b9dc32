"""Rows as a client sees them: named tuples with Python's own types."""

from __future__ import annotations

import datetime
import decimal
import json
import math
from base64 import b64decode, b64encode
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import orjson

from streams_sql.clients.failures import Refused, ServerUnreachable
from streams_sql.clients.types import parse_type
from streams_sql.evaluation.time_texts import parse_date, parse_timestamp
from streams_sql.sql_types import Array, Base, Decimal, Map, SqlType, Struct

Decode: TypeAlias = Callable[[Any], Any]

_FIGURES: Final = b'{"figures":'
_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


class RowReader:
    """Made from the first line of an answer; `row` reads each of the others.

    TIMESTAMP becomes a datetime in UTC, DATE a date, TIME a time, DECIMAL a Decimal, BYTES bytes; structs are dicts. Moments
    in years that Python's calendar does not know are numbers: milliseconds, or days, since 1970. A row's values have the names of the columns as attributes, where these are names in Python.
    """

    def __init__(self, line: bytes) -> None:
        """Refused, ServerUnreachable."""
        head = _head(line)
        self.query_id: str | None = head.get("queryId")
        self.notes: Sequence[str] = head.get("notes", ())
        self.columns: tuple[str, ...] = tuple(head["columnNames"])
        self.types: tuple[str, ...] = tuple(head["columnTypes"])
        self._row: Any = namedtuple("Row", [name.lower() for name in self.columns], rename=True)  # type: ignore[misc]
        types = [parse_type(text) for text in self.types]
        self._decodes = [(place, decode) for place, type_ in enumerate(types) if (decode := _decode(type_)) is not None]
        self._has_decimals = any(map(_has_decimals, types))
        self.figures: Mapping[str, int] | None = None

    def is_row(self, line: bytes) -> bool:
        """Whether the line is one; the last one may be the figures of the query, which are kept."""
        if not line.startswith(_FIGURES):
            return True
        self.figures = orjson.loads(line)["figures"]
        return False

    def row(self, line: bytes) -> Any:
        """A named tuple. Refused when the query has failed."""
        values = self.raw(line) if self._has_decimals else _checked(orjson.loads(line))
        for place, decode in self._decodes:
            if values[place] is not None:
                values[place] = decode(values[place])
        return self._row._make(values)

    def raw(self, line: bytes) -> list[Any]:
        """The values as JSON has them. Only Python's own reader keeps all digits of a number, and it takes several times as long."""
        return _checked(json.loads(line, parse_float=decimal.Decimal))


def _head(line: bytes) -> Mapping[str, Any]:
    try:
        head = orjson.loads(line)
    except orjson.JSONDecodeError:
        head = None
    if isinstance(head, dict) and "columnNames" in head:
        return head
    if isinstance(head, dict) and "@type" in head:
        raise Refused.of(head)
    raise ServerUnreachable("what answers there does not begin with columns, as a SQL server does")


def _checked(values: Any) -> list[Any]:
    if isinstance(values, dict):
        raise Refused.of(values)
    found: list[Any] = values
    return found


def as_dict(columns: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(columns, row, strict=True))


def insertable(row: Mapping[str, Any]) -> bytes:
    """A row as the server takes it."""
    values = {name: _finite(value) for name, value in row.items()}
    return orjson.dumps(values, default=_written, option=orjson.OPT_PASSTHROUGH_DATETIME)


def _finite(value: Any) -> Any:
    """JSON has no numbers for some floats, and orjson would make them NULL."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    return value


def _written(value: Any) -> str:
    """What orjson has no form of its own for. Decimals are texts, which no reader of JSON takes for floats."""
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return b64encode(value).decode()
    if isinstance(value, datetime.datetime):
        at = value.replace(tzinfo=datetime.UTC) if value.tzinfo is None else value.astimezone(datetime.UTC)
        return at.replace(tzinfo=None).isoformat(timespec="milliseconds")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is no type of a column")


def _decode(type_: SqlType, *, in_struct: bool = False) -> Decode | None:
    """None where the value is right as JSON has it."""
    match type_:
        case Base.BYTES:
            return b64decode
        case Base.DOUBLE:
            return float
        case Base.TIMESTAMP | Base.DATE | Base.TIME:
            return (_MOMENTS_OF_NUMBERS if in_struct else _MOMENTS)[type_]
        case Decimal():
            return _decimal
        case Array(element):
            return _each_item(_decode(element, in_struct=in_struct))
        case Map(_, value):
            return _each_entry(_decode(value, in_struct=in_struct))
        case Struct(fields):
            return _each_field(
                {field.name: decode for field in fields if (decode := _decode(field.type, in_struct=True)) is not None}
            )
    return None


def _each_item(decode: Decode | None) -> Decode | None:
    return None if decode is None else lambda items: [None if item is None else decode(item) for item in items]


def _each_entry(decode: Decode | None) -> Decode | None:
    if decode is None:
        return None
    return lambda entries: {name: None if value is None else decode(value) for name, value in entries.items()}


def _each_field(decodes: Mapping[str, Decode]) -> Decode | None:
    def decoded(struct: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: decodes[name](value) if value is not None and name in decodes else value
            for name, value in struct.items()
        }

    return decoded if decodes else None


def _decimal(value: int | decimal.Decimal) -> decimal.Decimal:
    return value if isinstance(value, decimal.Decimal) else decimal.Decimal(value)


def _or_number_of(parse: Callable[[str], Any], number: Callable[[str], int]) -> Decode:
    def parsed(text: str) -> Any:
        try:
            return parse(text)
        except ValueError:
            return number(text)

    return parsed


def _timestamp(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC)


def _or_number(moment: Callable[[int], Any]) -> Decode:
    def found(number: int) -> Any:
        try:
            return moment(number)
        except OverflowError:
            return number

    return found


_MOMENTS: Final[dict[SqlType, Decode]] = {
    Base.TIMESTAMP: _or_number_of(_timestamp, parse_timestamp),
    Base.DATE: _or_number_of(datetime.date.fromisoformat, parse_date),
    Base.TIME: datetime.time.fromisoformat,
}
_MOMENTS_OF_NUMBERS: Final[dict[SqlType, Decode]] = {
    Base.TIMESTAMP: _or_number(lambda ms: _EPOCH + datetime.timedelta(milliseconds=ms)),
    Base.DATE: _or_number(lambda days: _EPOCH.date() + datetime.timedelta(days=days)),
    Base.TIME: _or_number(lambda ms: (_EPOCH + datetime.timedelta(milliseconds=ms)).time()),
}


def _has_decimals(type_: SqlType) -> bool:
    match type_:
        case Decimal():
            return True
        case Array(element):
            return _has_decimals(element)
        case Map(_, value):
            return _has_decimals(value)
        case Struct(fields):
            return any(_has_decimals(field.type) for field in fields)
    return False
