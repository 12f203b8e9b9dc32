"""Schemas found out from values that came without one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from connect.data.mismatch import Mismatch, not_a
from connect.data.schema import (
    BOOLEAN,
    BYTES,
    DATE_SCHEMA,
    DECIMAL,
    FLOAT64,
    INT64,
    STRING,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Field,
    Schema,
    Type,
    array_of,
    decimal,
)

# Stands for what nothing is known about, as long as all that was seen is null or empty.
_UNKNOWN: Final = Schema(Type.STRING, optional=True, name="unknown")
_INT64_BITS: Final = 63
# A datetime is a date, too, and a boolean an integer, so that the order counts.
_BY_CLASS: Final[Sequence[tuple[type | tuple[type, ...], Schema]]] = (
    (str, STRING),
    (bool, BOOLEAN),
    (float, FLOAT64),
    ((bytes, bytearray, memoryview), BYTES),
    (datetime, TIMESTAMP_SCHEMA),
    (date, DATE_SCHEMA),
    (time, TIME_SCHEMA),
)
_WIDTHS: Final = {
    Type.INT8: 1,
    Type.INT16: 2,
    Type.INT32: 3,
    Type.INT64: 4,
    Type.FLOAT32: 5,
    Type.FLOAT64: 6,
}


def infer(value: Any) -> Schema:
    """The schema of one value; a dict is a struct. What is null alone may hold a string."""
    return _known(_inferred(value))


def infer_rows(rows: Iterable[Mapping[str, Any]], *, name: str | None = None) -> Schema:
    """The struct that holds all rows: a field that some row does not have, or has as null, is optional; numbers widen.

    Mismatch when a field has values of types that do not go together.
    """
    found: Schema | None = None
    for row in rows:
        inferred = _inferred(dict(row))
        found = inferred if found is None else merged(found, inferred)
    return replace(_known(found or Schema(Type.STRUCT)), name=name)


def merged(first: Schema, second: Schema) -> Schema:
    """The narrowest schema that holds the values of both; Mismatch when there is none."""
    if first == second:
        return first
    optional = first.optional or second.optional
    if _UNKNOWN in (first, second):
        return (second if first == _UNKNOWN else first).as_optional()
    found = _wider(first, second)
    return replace(found, optional=optional)


def _inferred(value: Any) -> Schema:
    if value is None:
        return _UNKNOWN
    for kind, schema in _BY_CLASS:
        if isinstance(value, kind):
            return schema
    if isinstance(value, int):
        return INT64 if value.bit_length() <= _INT64_BITS else decimal(0)
    if isinstance(value, Decimal):
        return _decimal_of(value)
    if isinstance(value, Mapping):
        return Schema(Type.STRUCT, fields=tuple(Field(_name(name), _inferred(item)) for name, item in value.items()))
    if isinstance(value, list | tuple):
        return array_of(_items(value))
    raise not_a("a value whose schema can be found out", value)


def _decimal_of(value: Decimal) -> Schema:
    exponent = value.as_tuple().exponent
    return decimal(max(-exponent, 0)) if isinstance(exponent, int) else FLOAT64


def _items(values: Sequence[Any]) -> Schema:
    found: Schema | None = None
    for place, item in enumerate(values):
        try:
            found = _inferred(item) if found is None else merged(found, _inferred(item))
        except Mismatch as error:
            raise error.inside(f"[{place}]") from None
    return _UNKNOWN if found is None else found


def _name(name: Any) -> str:
    if isinstance(name, str):
        return name
    raise not_a("the name of a field", name)


def _wider(first: Schema, second: Schema) -> Schema:
    if first.as_required() == second.as_required():
        return first
    if first.type is Type.STRUCT and second.type is Type.STRUCT:
        return _merged_structs(first, second)
    if first.type is Type.ARRAY and second.type is Type.ARRAY and first.values and second.values:
        return replace(first, values=merged(first.values, second.values))
    if first.name is None and second.name is None and {first.type, second.type} <= _WIDTHS.keys():
        return max(first, second, key=lambda each: _WIDTHS[each.type])
    return _wider_decimal(first, second)


def _wider_decimal(first: Schema, second: Schema) -> Schema:
    decimals = [each for each in (first, second) if each.name == DECIMAL]
    others = [each for each in (first, second) if each.name is None and each.type in _WIDTHS]
    if len(decimals) == 2:
        return max(decimals, key=lambda each: each.scale)
    if decimals and others:
        return FLOAT64 if others[0].type.bits is None else decimals[0]
    kinds = [each.name or each.type.value for each in (first, second)]
    raise Mismatch(f"values of the types {kinds[0]} and {kinds[1]} do not go together")


def _merged_structs(first: Schema, second: Schema) -> Schema:
    fields: list[Field] = []
    for each in first.fields:
        other = second.field_of(each.name)
        try:
            schema = each.schema.as_optional() if other is None else merged(each.schema, other.schema)
        except Mismatch as error:
            raise error.inside(each.name) from None
        fields.append(Field(each.name, schema))
    fields += [
        Field(each.name, each.schema.as_optional()) for each in second.fields if first.field_of(each.name) is None
    ]
    return replace(first, fields=tuple(fields))


def _known(schema: Schema) -> Schema:
    """With a string, which may be null, wherever nothing is known."""
    if schema == _UNKNOWN:
        return STRING.as_optional()
    if schema.fields:
        schema = replace(schema, fields=tuple(Field(each.name, _known(each.schema)) for each in schema.fields))
    return schema if schema.values is None else replace(schema, values=_known(schema.values))
