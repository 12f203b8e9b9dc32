"""Any schemas, and any values of them."""

from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import Any

from hypothesis import strategies as st

from barnabas.kernel.serdes.json_numbers import float_number
from connect.data.logical import scaled
from connect.data.schema import (
    BOOLEAN,
    BYTES,
    DATE,
    DATE_SCHEMA,
    DECIMAL,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    TIME,
    TIME_SCHEMA,
    TIMESTAMP,
    TIMESTAMP_SCHEMA,
    Schema,
    Type,
    array_of,
    decimal,
    map_of,
    struct,
)

WHOLE = (INT8, INT16, INT32, INT64)
SCALARS = (*WHOLE, BOOLEAN, FLOAT32, FLOAT64, BYTES, STRING, DATE_SCHEMA, TIME_SCHEMA, TIMESTAMP_SCHEMA, decimal(3))
TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
NAMES = st.text("abcdefgh", min_size=1, max_size=4)


def _structs(inside: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    fields = st.dictionaries(NAMES, inside, min_size=1, max_size=4)
    return fields.map(lambda given: struct(*given.items()))


def schemas(*, keys: tuple[Schema, ...] = (STRING, *WHOLE)) -> st.SearchStrategy[Schema]:
    """Structs of anything. Their keys are of the given types."""

    def larger(inside: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
        maps = st.builds(map_of, st.sampled_from(keys), inside)
        return _optionally(st.one_of(st.builds(array_of, inside), maps, _structs(inside)))

    return _structs(st.recursive(_optionally(st.sampled_from(SCALARS)), larger, max_leaves=6))


def _optionally(inside: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    return st.builds(lambda schema, optional: replace(schema, optional=optional), inside, st.booleans())


def values(schema: Schema) -> st.SearchStrategy[Any]:
    found = _present(schema)
    return st.none() | found if schema.optional else found


def _present(schema: Schema) -> st.SearchStrategy[Any]:
    if schema.type is Type.STRUCT:
        return st.fixed_dictionaries({each.name: values(each.schema) for each in schema.fields})
    if schema.type is Type.ARRAY and schema.values is not None:
        return st.lists(values(schema.values), max_size=3)
    if schema.type is Type.MAP and schema.keys is not None and schema.values is not None:
        return st.dictionaries(values(schema.keys), values(schema.values), max_size=3)
    if schema.name is not None:
        return _LOGICAL[schema.name]
    if schema.type.bits is not None:
        return st.integers(-(1 << schema.type.bits - 1), (1 << schema.type.bits - 1) - 1)
    return _SCALAR[schema.type]


def _milliseconds(value: datetime) -> datetime:
    return value.replace(microsecond=value.microsecond // 1000 * 1000)


_LOGICAL: dict[str, st.SearchStrategy[Any]] = {
    DECIMAL: st.integers().map(lambda number: scaled(number, 3)),
    DATE: st.dates(date(1, 1, 1)),
    TIME: st.times().map(lambda value: time(value.hour, value.minute, value.second, value.microsecond // 1000 * 1000)),
    TIMESTAMP: st.datetimes(timezones=st.just(UTC)).map(_milliseconds),
}
_SCALAR: dict[Type, st.SearchStrategy[Any]] = {
    Type.BOOLEAN: st.booleans(),
    # The shortest number that stands for it, as everything that reads 32 bits gives it.
    Type.FLOAT32: st.floats(width=32, allow_nan=False).map(lambda number: float(float_number(number))),
    Type.FLOAT64: st.floats(allow_nan=False),
    Type.BYTES: st.binary(max_size=6),
    Type.STRING: TEXT,
}


def schemas_and_values(*, keys: tuple[Schema, ...] = (STRING, *WHOLE)) -> st.SearchStrategy[tuple[Schema, Any]]:
    return schemas(keys=keys).flatmap(lambda schema: st.tuples(st.just(schema), values(schema)))
