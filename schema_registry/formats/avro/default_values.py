"""What a default becomes when Avro for Java turns it into a value of the field's type, as it does to normalise a schema."""

from __future__ import annotations

import ctypes
import math
from typing import Final

from schema_registry.formats.avro.complaint import excerpt
from schema_registry.formats.avro.defaults import LONG_RANGE
from schema_registry.formats.avro.types import ArrayType, AvroType, Kind, MapType, RecordType, UnionType
from schema_registry.formats.json_text import JsonValue
from schema_registry.formats.parsed_schema import InvalidSchema

FLOAT_MAX_DIGITS = 9
"""As many tell each float of 32 bits from all others."""

_TEXTS: Final = (None, Kind.STRING, Kind.ENUM)
_BYTES: Final = (Kind.BYTES, Kind.FIXED)


class NoValue(Exception):
    """The type has no such value: Avro takes the default for one that is not there."""


def value_of(default: JsonValue, a_type: AvroType | None) -> JsonValue:
    """The value, with the members of objects sorted; NoValue if the type, a union's first one, has none such.

    Where there is no type any value is taken as it is. InvalidSchema if it is a value inside of this one that has no place.
    """
    try:
        return _value(default, a_type)
    except NoValue:
        if isinstance(default, (dict, list)):
            complaint = f"the schema cannot be normalised: {excerpt(default)} is no value of its type"
            raise InvalidSchema(f"{complaint}; correct the default, or register without normalize") from None
        raise


def java_order(text: str) -> bytes:
    """The key by which Java sorts texts: by units of UTF-16."""
    return text.encode("utf-16-be")


def _value(default: JsonValue, a_type: AvroType | None) -> JsonValue:
    if isinstance(a_type, UnionType):
        if not a_type.branches:
            raise NoValue
        a_type = a_type.branches[0]
    kind = a_type.kind if a_type else None
    match default:
        case None | bool():
            return default
        case int():
            return _whole_number(default, kind)
        case float():
            return _number(default, kind)
        case str():
            return _text(default, kind)
        case list():
            return _elements(default, a_type)
        case dict():
            return _members(default, a_type)
        case _:
            raise NoValue


def _whole_number(number: int, kind: Kind | None) -> JsonValue:
    if number not in LONG_RANGE:
        raise NoValue
    return number if kind in (None, Kind.INT, Kind.LONG) else _number(float(number), kind)


def _number(number: float, kind: Kind | None) -> JsonValue:
    if kind is Kind.FLOAT:
        return _as_float(number)
    if kind in (None, Kind.DOUBLE):
        return number
    raise NoValue


def _as_float(number: float) -> float:
    """The number that is left when 32 bits hold it, in the digits in which Java prints it."""
    single = ctypes.c_float(number).value
    if not math.isfinite(single):
        return single
    for digits in range(1, FLOAT_MAX_DIGITS):
        shorter = float(f"{single:.{digits}e}")
        if ctypes.c_float(shorter).value == single:
            return shorter
    return single


def _text(text: str, kind: Kind | None) -> str:
    if kind in _TEXTS:
        return text
    if kind in _BYTES:
        return text.encode("latin-1", "replace").decode("latin-1")
    raise NoValue


def _elements(elements: list[JsonValue], a_type: AvroType | None) -> list[JsonValue]:
    if elements and a_type and not isinstance(a_type, ArrayType):
        raise NoValue
    return [_value(element, a_type.items if isinstance(a_type, ArrayType) else None) for element in elements]


def _members(members: dict[str, JsonValue], a_type: AvroType | None) -> dict[str, JsonValue]:
    if isinstance(a_type, RecordType) and not members.keys() <= a_type.fields.keys():
        raise NoValue
    found: dict[str, JsonValue] = {}
    for name in sorted(members, key=java_order):
        its_type = None
        if isinstance(a_type, MapType):
            its_type = a_type.values
        elif isinstance(a_type, RecordType):
            its_type = a_type.fields[name].type
        found[name] = _value(members[name], its_type)
    return found
