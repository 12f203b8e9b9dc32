"""What a value looks like: Kafka Connect's schemas.

Values are plain Python. A struct is a dict of its fields by name, a map a dict, an array a list. Logical types are schemas with a
known name, and their values are Python's own: `decimal.Decimal`, `datetime.date`, `datetime.time`, and `datetime.datetime` in UTC.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Any, Final


class Type(Enum):
    """The value is the word of the JSON converter's schemas."""

    BOOLEAN = "boolean"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT32 = "float"
    FLOAT64 = "double"
    BYTES = "bytes"
    STRING = "string"
    ARRAY = "array"
    MAP = "map"
    STRUCT = "struct"

    @property
    def is_primitive(self) -> bool:
        return self not in _COMPOUND

    @property
    def bits(self) -> int | None:
        """The width of a whole number; None for other types."""
        return _BITS.get(self)


_COMPOUND: Final = frozenset({Type.ARRAY, Type.MAP, Type.STRUCT})
_BITS: Final = {Type.INT8: 8, Type.INT16: 16, Type.INT32: 32, Type.INT64: 64}

DECIMAL: Final = "org.apache.kafka.connect.data.Decimal"
DATE: Final = "org.apache.kafka.connect.data.Date"
TIME: Final = "org.apache.kafka.connect.data.Time"
TIMESTAMP: Final = "org.apache.kafka.connect.data.Timestamp"
SCALE: Final = "scale"
"""The parameter of a decimal that says how many digits stand behind the point."""


class _Missing(Enum):
    MISSING = "missing"


MISSING: Final = _Missing.MISSING
"""No default; None is a default of its own."""


@dataclass(frozen=True)
class Field:
    name: str
    schema: Schema


@dataclass(frozen=True)
class Schema:
    """A type with its attributes. `fields` belong to structs, `keys` to maps, `values` to maps and arrays.

    It has no slots, since `field_of` keeps an index with it.
    """

    type: Type
    optional: bool = False
    name: str | None = None
    version: int | None = None
    doc: str | None = None
    parameters: tuple[tuple[str, str], ...] = ()
    default: Any = field(default=MISSING, hash=False)
    fields: tuple[Field, ...] = ()
    keys: Schema | None = None
    values: Schema | None = None

    @cached_property
    def _fields_by_name(self) -> dict[str, Field]:
        return {each.name: each for each in self.fields}

    def field_of(self, name: str) -> Field | None:
        return self._fields_by_name.get(name)

    def parameter(self, name: str) -> str | None:
        return next((value for key, value in self.parameters if key == name), None)

    @property
    def has_default(self) -> bool:
        return self.default is not MISSING

    @property
    def default_value(self) -> Any:
        """The default; None if there is none, since null is what a value without a default is."""
        return None if self.default is MISSING else self.default

    @property
    def scale(self) -> int:
        """The digits behind the point of a decimal."""
        return int(self.parameter(SCALE) or 0)

    def as_optional(self) -> Schema:
        return self if self.optional else replace(self, optional=True)

    def as_required(self) -> Schema:
        return replace(self, optional=False) if self.optional else self


def struct(*fields: tuple[str, Schema], name: str | None = None, optional: bool = False) -> Schema:
    return Schema(Type.STRUCT, optional, name, fields=tuple(Field(*each) for each in fields))


def array_of(values: Schema, *, optional: bool = False) -> Schema:
    return Schema(Type.ARRAY, optional, values=values)


def map_of(keys: Schema, values: Schema, *, optional: bool = False) -> Schema:
    return Schema(Type.MAP, optional, keys=keys, values=values)


def decimal(scale: int, *, optional: bool = False) -> Schema:
    return Schema(Type.BYTES, optional, DECIMAL, 1, parameters=((SCALE, str(scale)),))


BOOLEAN: Final = Schema(Type.BOOLEAN)
INT8: Final = Schema(Type.INT8)
INT16: Final = Schema(Type.INT16)
INT32: Final = Schema(Type.INT32)
INT64: Final = Schema(Type.INT64)
FLOAT32: Final = Schema(Type.FLOAT32)
FLOAT64: Final = Schema(Type.FLOAT64)
BYTES: Final = Schema(Type.BYTES)
STRING: Final = Schema(Type.STRING)
DATE_SCHEMA: Final = Schema(Type.INT32, name=DATE, version=1)
TIME_SCHEMA: Final = Schema(Type.INT32, name=TIME, version=1)
TIMESTAMP_SCHEMA: Final = Schema(Type.INT64, name=TIMESTAMP, version=1)
