"""Our types as Arrow knows them, and values on their way between Arrow and Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import pyarrow as pa  # type: ignore[import-untyped]

from streams_sql.sql_types import Array, Base, Decimal, Map, SqlType, Struct

_ARROW: Final = {
    Base.BOOLEAN: pa.bool_(),
    Base.INTEGER: pa.int32(),
    Base.BIGINT: pa.int64(),
    Base.DOUBLE: pa.float64(),
    Base.STRING: pa.string(),
    Base.BYTES: pa.binary(),
    Base.TIME: pa.int32(),
    Base.DATE: pa.int32(),
    Base.TIMESTAMP: pa.int64(),
}

# The last is for texts with half of a character.
_UNFIT: Final = (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError)

Convert: TypeAlias = Callable[[Any], Any]


def arrow_type(type_: SqlType) -> pa.DataType:
    match type_:
        case Base():
            return _ARROW[type_]
        case Decimal(precision, scale):
            return pa.decimal128(precision, scale)
        case Array(element):
            return pa.list_(arrow_type(element))
        case Map(key, value):
            return pa.map_(arrow_type(key), arrow_type(value))
        case Struct(fields):
            return pa.struct([(field.name, arrow_type(field.type)) for field in fields])


def from_arrow(array: pa.Array | pa.ChunkedArray, type_: SqlType) -> list[Any]:
    """The values of a column as the rest of the program knows them."""
    values: list[Any] = array.to_pylist()
    convert = _from_pairs(type_)
    return values if convert is None else [convert(value) for value in values]


def to_arrow(values: Sequence[Any], type_: SqlType, target: pa.DataType | None = None) -> pa.Array:
    """A column of these values, of a type of Arrow's that goes with theirs (None: the one that Spark gets). One that it cannot hold becomes
    NULL, as an error in an expression does."""
    convert = _to_pairs(type_)
    if convert is not None:
        values = [convert(value) for value in values]
    target = target or arrow_type(type_)
    try:
        return pa.array(values, target)
    except _UNFIT:
        return pa.array([value if _fits(value, target) else None for value in values], target)


def _fits(value: Any, target: pa.DataType) -> bool:
    try:
        pa.scalar(value, target)
    except _UNFIT:
        return False
    return True


def _from_pairs(type_: SqlType) -> Convert | None:
    """What turns the pairs that Arrow gives for a map into a dict; None where there is no map inside."""
    return _converter(type_, dict)


def _to_pairs(type_: SqlType) -> Convert | None:
    return _converter(type_, lambda value: list(value.items()))


def _converter(type_: SqlType, convert_map: Convert) -> Convert | None:
    match type_:
        case Array(element):
            inner = _converter(element, convert_map)
            return None if inner is None else _present(lambda value: [inner(item) for item in value])
        case Map(_, value_type):
            return _present(_map_converter(_converter(value_type, convert_map), convert_map))
        case Struct(fields):
            inners = {field.name: _converter(field.type, convert_map) for field in fields}
            if not any(inners.values()):
                return None
            return _present(
                lambda value: {
                    name: item if (inner := inners[name]) is None else inner(item) for name, item in value.items()
                }
            )
        case _:
            return None


def _map_converter(inner: Convert | None, convert_map: Convert) -> Convert:
    if inner is None:
        return convert_map
    if convert_map is dict:
        return lambda pairs: {key: inner(item) for key, item in pairs}
    return lambda value: [(key, inner(item)) for key, item in value.items()]


def _present(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)
