"""Protobuf messages as parts that are read from the JSON mapping that the kernel's codec gives."""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Mapping
from typing import Any, Final

from streams_sql.evaluation.integers import ranged
from streams_sql.evaluation.time_texts import (
    MS_PER_DAY,
    MS_PER_HOUR,
    MS_PER_MINUTE,
    MS_PER_SECOND,
    days_from_civil,
)
from streams_sql.formats.mismatch import Mismatch
from streams_sql.formats.protobuf.options import field_parameters
from streams_sql.formats.protobuf.schema import (
    DATE_MESSAGE,
    DECIMAL_MESSAGE,
    MAP_ENTRY_SUFFIX,
    TIME_MESSAGE,
    TIMESTAMP_MESSAGE,
)
from streams_sql.formats.written import Convert, Entries, Fields, Items, Part, Scalar, decimal_of
from streams_sql.sql_types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DECIMAL_PRECISION_MAX,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Decimal,
)

_NS_PER_MS: Final = 1_000_000
_FLOAT: Final = struct.Struct("f")
_MESSAGE: Final = 11
_TIMESTAMP: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?Z")


def _long(value: Any) -> int:
    """Numbers of 64 bits are texts in JSON; those without a sign may be out of range, where Java's would turn negative."""
    try:
        return ranged(int(value), BIGINT)
    except ValueError as error:
        raise Mismatch(str(error)) from None


def _integer(value: Any) -> int:
    """A number whose field has 64 bits where records are read."""
    try:
        return ranged(int(value), INTEGER)
    except ValueError as error:
        raise Mismatch(str(error)) from None


def _date(value: Mapping[str, int]) -> int:
    try:
        return days_from_civil(value["year"], value["month"], value["day"])
    except ValueError:
        raise Mismatch(f"{value['year']}-{value['month']}-{value['day']} is no date") from None


def _time(value: Mapping[str, int]) -> int:
    clock = value["hours"] * MS_PER_HOUR + value["minutes"] * MS_PER_MINUTE + value["seconds"] * MS_PER_SECOND
    return clock + value["nanos"] // _NS_PER_MS


def _timestamp(value: str) -> int:
    match = _TIMESTAMP.fullmatch(value)
    if match is None:
        raise Mismatch(f"{value!r} is no timestamp")
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    clock = hour * MS_PER_HOUR + minute * MS_PER_MINUTE + second * MS_PER_SECOND
    return days_from_civil(year, month, day) * MS_PER_DAY + clock + int((match[7] or "").ljust(3, "0")[:3])


def _float(value: Any) -> float:
    """JSON has the shortest digits that make the same 32 bits. A DOUBLE of these bits is another number: 1.1234 is 1.1233999729156494."""
    exact: float = _FLOAT.unpack(_FLOAT.pack(float(value)))[0]
    return exact


_DOUBLES: Final = Scalar(DOUBLE, float)
_FLOATS: Final = Scalar(DOUBLE, _float)
_INTEGERS: Final = Scalar(INTEGER)
_WIDENED: Final = Scalar(INTEGER, _integer)
_LONGS: Final = Scalar(BIGINT, _long)
_BINARY: Final = Scalar(BYTES, base64.b64decode)
# By the numbers that descriptors have for types of fields. A number of an enum that the schema does not know has no name.
_SCALARS: Final[Mapping[int, Scalar]] = {
    1: _DOUBLES,
    2: _FLOATS,
    **dict.fromkeys((3, 4, 6, 7, 13, 16, 18), _LONGS),
    **dict.fromkeys((5, 15, 17), _INTEGERS),
    8: Scalar(BOOLEAN),
    9: Scalar(STRING),
    12: _BINARY,
    14: Scalar(STRING, str),
}
_WRAPPERS: Final[Mapping[str, Scalar]] = {
    "google.protobuf.DoubleValue": _DOUBLES,
    "google.protobuf.FloatValue": _FLOATS,
    "google.protobuf.Int64Value": _LONGS,
    "google.protobuf.UInt64Value": _LONGS,
    "google.protobuf.Int32Value": _INTEGERS,
    "google.protobuf.UInt32Value": _LONGS,
    "google.protobuf.BoolValue": Scalar(BOOLEAN),
    "google.protobuf.StringValue": Scalar(STRING),
    "google.protobuf.BytesValue": _BINARY,
}
_LOGICAL: Final[Mapping[str, Scalar]] = {
    DATE_MESSAGE: Scalar(DATE, _date),
    TIME_MESSAGE: Scalar(TIME, _time),
    TIMESTAMP_MESSAGE: Scalar(TIMESTAMP, _timestamp),
}


def read_message(descriptor: Any, *, opens_wrappers: bool = True, is_widened: bool = False) -> Part | None:
    """What a message says of its records; None where no column can hold it. A wrapper such as google.protobuf.BoolValue is a scalar that
    may be NULL, or else a struct with the field `value`. `is_widened`: records are parsed with 64 bits where the message has 32 (see
    `protobuf_descriptor`)."""
    return _Reader(opens_wrappers, _WIDENED if is_widened else _INTEGERS).message(descriptor)


class _Reader:
    def __init__(self, opens_wrappers: bool, integers: Scalar) -> None:
        self._opens_wrappers = opens_wrappers
        self._integers = integers
        self._open: set[str] = set()

    def message(self, descriptor: Any) -> Part | None:
        full_name = descriptor.full_name
        if full_name in self._open or full_name.startswith("google.protobuf."):
            # A message that holds itself, or one of JSON's own making, has no type in SQL.
            return None
        self._open.add(full_name)
        unions = [each for each in descriptor.oneofs if _union_of(each.fields[0]) is not None]
        parts: list[tuple[str, Part | None]] = [(f"{each.name}_{each.index}", self._union(each)) for each in unions]
        parts += [(each.name, self._field(each)) for each in descriptor.fields if _union_of(each) is None]
        self._open.discard(full_name)
        members = {f"{each.name}_{each.index}": [field.name for field in each.fields] for each in unions}
        return Fields(tuple((name, part) for name, part in parts if part is not None), _unions_reader(members))

    def _union(self, one_of: Any) -> Part:
        parts = [(each.name, self._field(each)) for each in one_of.fields]
        return Fields(tuple((name, part) for name, part in parts if part is not None))

    def _field(self, field: Any) -> Part | None:
        if _is_map(field):
            return self._map(field.message_type)
        part = self._single(field)
        return Items(part) if field.is_repeated and part is not None else part

    def _single(self, field: Any) -> Part | None:
        if field.type != _MESSAGE:
            return self._scalar(_SCALARS.get(field.type))
        full_name = field.message_type.full_name
        if full_name == DECIMAL_MESSAGE:
            return _decimal(field)
        wrapped = self._scalar(_WRAPPERS.get(full_name))
        if wrapped is not None:
            return wrapped if self._opens_wrappers else Fields((("value", wrapped),), lambda value: {"value": value})
        return _LOGICAL.get(full_name) or self.message(field.message_type)

    def _scalar(self, found: Scalar | None) -> Scalar | None:
        return self._integers if found is _INTEGERS else found

    def _map(self, entry: Any) -> Part | None:
        value = self._field(entry.fields_by_name["value"])
        if value is None:
            return None
        # A map by its syntax is an object of JSON; Connect writes messages that are only called so.
        return Entries(value, None if entry.GetOptions().map_entry else _entries)


def _decimal(field: Any) -> Scalar:
    given = field_parameters(field)
    precision, scale = given.get("precision", str(DECIMAL_PRECISION_MAX)), given.get("scale", "0")
    return Scalar(
        Decimal(int(precision), int(scale)), lambda value: decimal_of(base64.b64decode(value["value"]), value["scale"])
    )


def _entries(entries: list[Mapping[str, Any]]) -> dict[Any, Any]:
    return {entry.get("key"): entry.get("value") for entry in entries}


def _unions_reader(unions: Mapping[str, list[str]]) -> Convert | None:
    """What puts the field that is set of a union into a struct of the union's name."""
    if not unions:
        return None

    def read(record: Mapping[str, Any]) -> dict[str, Any]:
        found = dict(record)
        for name, members in unions.items():
            found[name] = {member: record[member] for member in members if member in record} or None
        return found

    return read


def _union_of(field: Any) -> Any:
    one_of = field.containing_oneof
    # A field that is called optional has a union of its own behind the scenes.
    is_hidden = one_of is not None and len(one_of.fields) == 1 and one_of.name == f"_{field.name}"
    return None if is_hidden else one_of


def _is_map(field: Any) -> bool:
    entry = field.message_type
    if entry is None or not field.is_repeated or [each.name for each in entry.fields] != ["key", "value"]:
        return False
    return entry.name.endswith(MAP_ENTRY_SUFFIX) and not any(each.is_repeated for each in entry.fields)
