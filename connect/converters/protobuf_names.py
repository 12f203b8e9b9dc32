"""Names by which Protobuf schemas and those of Connect know each other's parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from connect.converters.avro_names import scrubbed
from connect.data.schema import DATE, DECIMAL, TIME, TIMESTAMP, Schema, Type

NAMESPACE: Final = "io.confluent.connect.protobuf"
DEFAULT_NAME: Final = "ConnectDefault"
ENUM: Final = f"{NAMESPACE}.Enum"
UNION: Final = f"{NAMESPACE}.Union"
TAG: Final = f"{NAMESPACE}.Tag"
NUMBER_TYPE: Final = f"{NAMESPACE}.Type"
PRECISION: Final = "connect.decimal.precision"
MAP_ENTRY_SUFFIX: Final = "Entry"
LOGICAL_MESSAGES: Final = {
    DECIMAL: ("confluent.type.Decimal", "confluent/type/decimal.proto"),
    DATE: ("google.type.Date", "google/type/date.proto"),
    TIME: ("google.type.TimeOfDay", "google/type/timeofday.proto"),
    TIMESTAMP: ("google.protobuf.Timestamp", "google/protobuf/timestamp.proto"),
}
WRAPPERS_FILE: Final = "google/protobuf/wrappers.proto"
SCALARS: Final = {
    Type.BOOLEAN: "bool",
    Type.INT8: "int32",
    Type.INT16: "int32",
    Type.INT32: "int32",
    Type.INT64: "int64",
    Type.FLOAT32: "float",
    Type.FLOAT64: "double",
    Type.STRING: "string",
    Type.BYTES: "bytes",
}
WRAPPERS: Final = {
    "bool": "BoolValue",
    "int32": "Int32Value",
    "uint32": "UInt32Value",
    "int64": "Int64Value",
    "uint64": "UInt64Value",
    "float": "FloatValue",
    "double": "DoubleValue",
    "string": "StringValue",
    "bytes": "BytesValue",
}


@dataclass(frozen=True, slots=True)
class ProtobufOptions:
    """The choices that Confluent's converter leaves for schemas."""

    is_enhanced: bool = False
    scrubs_names: bool = False
    optional_for_nullables: bool = False
    wrapper_for_nullables: bool = False
    index_for_unions: bool = True


def is_enum(schema: Schema) -> bool:
    return schema.type is Type.STRING and schema.parameter(ENUM) is not None


def is_union(schema: Schema) -> bool:
    return schema.type is Type.STRUCT and schema.name is not None and schema.name.startswith(UNION)


def scalar(schema: Schema) -> str:
    """The word for a number, a string and so on; the schema may ask for another one of the same width."""
    return schema.parameter(NUMBER_TYPE) or SCALARS[schema.type]


def valid_name(name: str) -> str:
    """A name that Protobuf takes, as Confluent's converter makes it."""
    found = scrubbed(name)
    return f"x{found}" if found.startswith("_") else found
