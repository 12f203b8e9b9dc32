"""The Protobuf file of columns, as ksqlDB builds it through Connect."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from streams_sql.formats.serde import Layout
from streams_sql.problem import SqlProblem
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

NULLABLE_AS_OPTIONAL: Final = "OPTIONAL"
NULLABLE_AS_WRAPPER: Final = "WRAPPER"
DEFAULT_NAME: Final = "ConnectDefault"
DECIMAL_MESSAGE: Final = "confluent.type.Decimal"
DATE_MESSAGE: Final = "google.type.Date"
TIME_MESSAGE: Final = "google.type.TimeOfDay"
TIMESTAMP_MESSAGE: Final = "google.protobuf.Timestamp"
MAP_ENTRY_SUFFIX: Final = "Entry"
_DECIMAL_FILE: Final = "confluent/type/decimal.proto"
_WRAPPERS_FILE: Final = "google/protobuf/wrappers.proto"
_NAME: Final = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_MESSAGES: Final[Mapping[SqlType, tuple[str, str]]] = {
    DATE: (DATE_MESSAGE, "google/type/date.proto"),
    TIME: (TIME_MESSAGE, "google/type/timeofday.proto"),
    TIMESTAMP: (TIMESTAMP_MESSAGE, "google/protobuf/timestamp.proto"),
}
_SCALARS: Final[Mapping[SqlType, tuple[str, str]]] = {
    BOOLEAN: ("bool", "BoolValue"),
    INTEGER: ("int32", "Int32Value"),
    BIGINT: ("int64", "Int64Value"),
    DOUBLE: ("double", "DoubleValue"),
    STRING: ("string", "StringValue"),
    BYTES: ("bytes", "BytesValue"),
}


def protobuf_schema(layout: Layout) -> str:
    return _File(layout.format.nullable_as).text(layout)


class _File:
    """A file under construction: one message, with the others inside of it."""

    def __init__(self, nullable_as: str | None) -> None:
        self._nullable_as = nullable_as
        self._unnamed = 0
        # In the order of their first use.
        self._imports: dict[str, None] = {}

    def text(self, layout: Layout) -> str:
        given = (layout.format.full_name or "").strip()
        is_default = not given or given.startswith(DEFAULT_NAME)
        package, _, name = (self._default_name() if is_default else given).rpartition(".")
        fields = [Field(column.name, column.type) for column in layout.columns]
        message = "\n".join(self._message(_valid(name), fields, is_entry=False))
        head = 'syntax = "proto3";\n' + (f"package {package};\n" if package else "")
        imports = "".join([f'import "{each}";\n' for each in self._imports])
        return f"{head}\n{imports}\n{message}\n" if imports else f"{head}\n{message}\n"

    def _message(self, name: str, fields: Sequence[Field], *, is_entry: bool) -> Iterator[str]:
        nested: list[str] = []
        lines: list[str] = []
        for place, field in enumerate(fields, 1):
            # Connect calls nothing optional inside of an entry of a map.
            label = "" if is_entry else self._label(field.type)
            lines += _with_digits(f"{label}{self._kind(field, nested)} {_valid(field.name)} = {place}", field.type)
        yield f"message {name} {{"
        yield from (f"  {line}" for line in lines)
        if nested:
            yield ""
            yield from (f"  {line}" for line in nested)
        yield "}"

    def _label(self, type_: SqlType) -> str:
        if isinstance(type_, Array | Map):
            return "repeated "
        return "optional " if self._nullable_as == NULLABLE_AS_OPTIONAL else ""

    def _kind(self, field: Field, nested: list[str]) -> str:
        type_ = field.type.element if isinstance(field.type, Array) else field.type
        match type_:
            case Decimal():
                return self._imported(DECIMAL_MESSAGE, _DECIMAL_FILE)
            case Array() | Map() if type_ is not field.type:
                raise SqlProblem(f"PROTOBUF has no arrays of arrays or maps: put a STRUCT around them in {field}")
            case Map(key, value):
                return self._entry(key, value, nested)
            case Struct(fields):
                name = self._default_name()
                nested += self._message(name, fields, is_entry=False)
                return name
        if type_ in _MESSAGES:
            return self._imported(*_MESSAGES[type_])
        scalar, wrapper = _SCALARS[type_]
        if self._nullable_as != NULLABLE_AS_WRAPPER:
            return scalar
        return self._imported(f"google.protobuf.{wrapper}", _WRAPPERS_FILE)

    def _entry(self, key: SqlType, value: SqlType, nested: list[str]) -> str:
        if isinstance(value, Array | Map):
            raise SqlProblem("PROTOBUF has no maps of arrays or maps: put a STRUCT around them")
        name = f"{self._default_name()}{MAP_ENTRY_SUFFIX}"
        nested += self._message(name, [Field("key", key), Field("value", value)], is_entry=True)
        return name

    def _imported(self, message: str, file: str) -> str:
        self._imports[file] = None
        return message

    def _default_name(self) -> str:
        self._unnamed += 1
        return f"{DEFAULT_NAME}{self._unnamed}"


def _with_digits(field: str, type_: SqlType) -> Iterator[str]:
    """A decimal says in Confluent's option how many digits it has."""
    inner = type_.element if isinstance(type_, Array) else type_
    if not isinstance(inner, Decimal):
        yield f"{field};"
        return
    yield f"{field} [(confluent.field_meta) = {{"
    yield "  params: ["
    yield from ("    {", '      key: "precision",', f'      value: "{inner.precision}"', "    },")
    yield from ("    {", '      key: "scale",', f'      value: "{inner.scale}"', "    }")
    yield from ("  ]", "}];")


def _valid(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise SqlProblem(f"{name!r} is no name in PROTOBUF: give the column another with AS")
    return name
