"""Names and properties by which Avro schemas keep what only Connect knows."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote_plus

from connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema, Type

NAMESPACE: Final = "io.confluent.connect.avro"
DEFAULT_NAME: Final = "ConnectDefault"
DEFAULT_FULL_NAME: Final = f"{NAMESPACE}.{DEFAULT_NAME}"
MAP_ENTRY: Final = "MapEntry"
UNION: Final = f"{NAMESPACE}.Union"
ENUM: Final = f"{NAMESPACE}.Enum"
RECORD_DOC: Final = f"{NAMESPACE}.record.doc"
FIELD_DOC: Final = f"{NAMESPACE}.field.doc."
FIELD_DEFAULT: Final = f"{NAMESPACE}.field.default"
ENUM_DOC: Final = f"{NAMESPACE}.enum.doc."
ENUM_DEFAULT: Final = f"{NAMESPACE}.enum.default."
FIXED_SIZE: Final = "connect.fixed.size"
PRECISION: Final = "connect.decimal.precision"
PRECISION_DEFAULT: Final = 64
INTERNAL_TYPE: Final = "connect.internal.type"
LOGICAL_TYPES: Final = {DATE: "date", TIME: "time-millis", TIMESTAMP: "timestamp-millis", DECIMAL: "decimal"}

_VALID: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_INVALID: Final = re.compile(r"[^A-Za-z0-9_]", re.ASCII)


def scrubbed(name: str) -> str:
    """A name that Avro takes, as Confluent's converter makes it."""
    if not name or _VALID.fullmatch(name):
        return name
    encoded = quote_plus(name, safe="*")
    return _INVALID.sub("_", f"x{encoded}" if encoded[0].isdigit() else encoded)


def scrubbed_full(name: str) -> str:
    return ".".join(map(scrubbed, name.split(".")))


def is_fixed(schema: Schema) -> bool:
    return schema.type is Type.BYTES and schema.name is not None and schema.parameter(FIXED_SIZE) is not None


def is_enum(schema: Schema) -> bool:
    return schema.type is Type.STRING and schema.parameter(ENUM) is not None


def is_union(schema: Schema) -> bool:
    return schema.name == UNION and schema.type is Type.STRUCT


def has_plain_keys(schema: Schema, *, allows_optional: bool) -> bool:
    """Whether a map is one in Avro, too, where keys are strings; others are arrays of entries."""
    keys = schema.keys
    return keys is not None and keys.type is Type.STRING and (allows_optional or not keys.optional)
