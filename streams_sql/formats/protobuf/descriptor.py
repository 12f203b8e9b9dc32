"""The Protobuf file of columns as a descriptor, for records that no registry tells the schema of.

It has the numbers and types of the file that `protobuf_schema` writes as text: only these, and not names, are in the bytes of records.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Final

from streams_sql.formats.protobuf.options import options_of_decimal
from streams_sql.formats.protobuf.schema import (
    DATE_MESSAGE,
    DECIMAL_MESSAGE,
    DEFAULT_NAME,
    MAP_ENTRY_SUFFIX,
    NULLABLE_AS_OPTIONAL,
    NULLABLE_AS_WRAPPER,
    TIME_MESSAGE,
    TIMESTAMP_MESSAGE,
)
from streams_sql.formats.serde import Layout
from streams_sql.sql_types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Decimal,
    Field,
    Map,
    SqlType,
    Struct,
)

_SCALARS: Final[Mapping[SqlType, tuple[str, str]]] = {
    BOOLEAN: ("TYPE_BOOL", "BoolValue"),
    INTEGER: ("TYPE_INT32", "Int32Value"),
    BIGINT: ("TYPE_INT64", "Int64Value"),
    DOUBLE: ("TYPE_DOUBLE", "DoubleValue"),
    STRING: ("TYPE_STRING", "StringValue"),
    BYTES: ("TYPE_BYTES", "BytesValue"),
}
_WRAPPERS_FILE: Final = "google/protobuf/wrappers.proto"
_FILES: Final[Mapping[str, str]] = {
    DECIMAL_MESSAGE: "confluent/type/decimal.proto",
    DATE_MESSAGE: "google/type/date.proto",
    TIME_MESSAGE: "google/type/timeofday.proto",
    TIMESTAMP_MESSAGE: "google/protobuf/timestamp.proto",
}
_MESSAGES: Final[Mapping[SqlType, str]] = {DATE: DATE_MESSAGE, TIME: TIME_MESSAGE, TIMESTAMP: TIMESTAMP_MESSAGE}


def serialized_file(layout: Layout, *, widens: bool = False) -> str:
    """As a registry would give it with `format=serialized`. With `widens`, fields of INTEGER columns have 64 bits, which are the same bytes:
    of a larger number, a field of 32 bits would silently keep the lower ones."""
    return base64.b64encode(_File(layout, widens).made.SerializeToString()).decode()


class _File:
    """A file under construction: one message, with the others inside of it."""

    def __init__(self, layout: Layout, widens: bool) -> None:
        from google.protobuf import descriptor_pb2

        self._types = descriptor_pb2.FieldDescriptorProto
        self._nullable_as = layout.format.nullable_as
        self._widens = widens
        self._unnamed = 0
        self.made = descriptor_pb2.FileDescriptorProto(syntax="proto3")
        fields = [Field(column.name, column.type) for column in layout.columns]
        self._fill(self.made.message_type.add(name=self._name()), fields, is_entry=False)

    def _fill(self, message: Any, fields: Sequence[Field], *, is_entry: bool) -> None:
        for number, field in enumerate(fields, 1):
            is_many = isinstance(field.type, Array | Map)
            added = message.field.add(name=field.name, number=number, json_name=field.name)
            added.label = self._types.LABEL_REPEATED if is_many else self._types.LABEL_OPTIONAL
            self._type(added, field.type.element if isinstance(field.type, Array) else field.type, message)
            if self._nullable_as == NULLABLE_AS_OPTIONAL and not is_many and not is_entry:
                added.proto3_optional = True
                added.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field.name}")

    def _type(self, added: Any, type_: SqlType, message: Any) -> None:
        match type_:
            case _ if type_ == INTEGER and self._widens:
                self._type(added, BIGINT, message)
            case Decimal(precision, scale):
                self._imported(added, DECIMAL_MESSAGE)
                added.options.ParseFromString(options_of_decimal(precision, scale))
            case Map(key, value):
                self._nested(added, message, [Field("key", key), Field("value", value)], MAP_ENTRY_SUFFIX)
            case Struct(fields):
                self._nested(added, message, fields)
            case _ if type_ in _MESSAGES:
                self._imported(added, _MESSAGES[type_])
            case _ if self._nullable_as == NULLABLE_AS_WRAPPER:
                self._imported(added, f"google.protobuf.{_SCALARS[type_][1]}")
            case _:
                added.type = self._types.Type.Value(_SCALARS[type_][0])

    def _nested(self, added: Any, message: Any, fields: Sequence[Field], suffix: str = "") -> None:
        inner = message.nested_type.add(name=self._name() + suffix)
        self._fill(inner, fields, is_entry=bool(suffix))
        # A name without a dot before it is looked for from the inside to the outside.
        added.type, added.type_name = self._types.TYPE_MESSAGE, inner.name

    def _imported(self, added: Any, message: str) -> None:
        file = _FILES.get(message, _WRAPPERS_FILE)
        if file not in self.made.dependency:
            self.made.dependency.append(file)
        added.type, added.type_name = self._types.TYPE_MESSAGE, f".{message}"

    def _name(self) -> str:
        self._unnamed += 1
        return f"{DEFAULT_NAME}{self._unnamed}"
