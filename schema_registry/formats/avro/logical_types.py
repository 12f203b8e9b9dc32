"""Which logical types Avro recognises; all others are attributes like any other."""

from __future__ import annotations

import math
from typing import Final

from schema_registry.formats.avro.types import (
    ArrayType,
    AvroType,
    FixedType,
    Kind,
    LogicalType,
    Props,
    RecordType,
    UnionType,
)
from schema_registry.formats.json_text import JsonValue

LOGICAL_TYPE: Final = "logicalType"

UUID_BYTES = 16
DURATION_BYTES = 12
INT_MAX: Final = 2**31 - 1

_CARRIERS: Final = {
    "uuid": (Kind.STRING, Kind.FIXED),
    "duration": (Kind.FIXED,),
    "decimal": (Kind.BYTES, Kind.FIXED),
    "big-decimal": (Kind.BYTES,),
    "date": (Kind.INT,),
    "time-millis": (Kind.INT,),
    "time-micros": (Kind.LONG,),
    "timestamp-millis": (Kind.LONG,),
    "timestamp-micros": (Kind.LONG,),
    "timestamp-nanos": (Kind.LONG,),
    "local-timestamp-millis": (Kind.LONG,),
    "local-timestamp-micros": (Kind.LONG,),
    "local-timestamp-nanos": (Kind.LONG,),
    "map": (Kind.ARRAY,),
    "variant": (Kind.RECORD,),
}
# Java classes for the data contradict a logical type.
_CONTRADICTIONS: Final = ("avro.java.string", "java-class", "java-key-class", "java-element-class")


def recognised(carrier: AvroType) -> LogicalType | None:
    """The logical type of a type, if it is known and fits; Avro ignores what does not."""
    if isinstance(carrier, UnionType):
        return None
    name = carrier.props.get(LOGICAL_TYPE)
    if not isinstance(name, str) or carrier.kind not in _CARRIERS.get(name, ()):
        return None
    if any(isinstance(carrier.props.get(prop), str) for prop in _CONTRADICTIONS):
        return None
    if name == "decimal":
        return _decimal(carrier.props, carrier.size if isinstance(carrier, FixedType) else None)
    return LogicalType(name) if _has_the_right_shape(name, carrier) else None


def _has_the_right_shape(name: str, carrier: AvroType) -> bool:
    if isinstance(carrier, FixedType):
        return carrier.size == (UUID_BYTES if name == "uuid" else DURATION_BYTES)
    if isinstance(carrier, ArrayType):
        return isinstance(carrier.items, RecordType) and list(carrier.items.fields) == ["key", "value"]
    if isinstance(carrier, RecordType):
        fields = carrier.fields
        return fields.keys() == {"metadata", "value"} and all(
            field.type.kind is Kind.BYTES for field in fields.values()
        )
    return True


def _decimal(props: Props, size: int | None) -> LogicalType | None:
    precision = _int(props.get("precision"))
    scale = _int(props["scale"]) if "scale" in props else 0
    if precision is None or scale is None:
        return None
    digits_max = INT_MAX if size is None else math.floor(math.log10(2) * (8 * size - 1))
    fits = 0 < precision <= digits_max and 0 <= scale <= precision
    return LogicalType("decimal", precision, scale) if fits else None


def _int(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and -INT_MAX <= value <= INT_MAX else None
