"""The Avro schema of columns, as ksqlDB builds it through Connect."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from streams_sql.formats import connect_names as names
from streams_sql.formats.serde import Layout
from streams_sql.formats.wrapping import is_wrapped
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

FULL_NAME_DEFAULT: Final = "io.confluent.ksql.avro_schemas.KsqlDataSourceSchema"
_NAME: Final = re.compile("[A-Za-z_][A-Za-z0-9_]*")


def _logical(kind: str, name: str, logical_type: str) -> dict[str, Any]:
    return {"type": kind, names.VERSION: 1, names.NAME: name, "logicalType": logical_type}


_TYPES: Final[Mapping[SqlType, Any]] = {
    BOOLEAN: "boolean",
    INTEGER: "int",
    BIGINT: "long",
    DOUBLE: "double",
    STRING: "string",
    BYTES: "bytes",
    DATE: _logical("int", names.DATE, "date"),
    TIME: _logical("int", names.TIME, "time-millis"),
    TIMESTAMP: _logical("long", names.TIMESTAMP, "timestamp-millis"),
}


def avro_schema(layout: Layout) -> Any:
    """The JSON of the schema."""
    full_name = (layout.format.full_name or FULL_NAME_DEFAULT).strip()
    namespace, _, name = full_name.rpartition(".")
    description = _Description(namespace)
    if not is_wrapped(layout):
        return description.describe(layout.columns[0].type, name)
    fields = tuple(Field(column.name, column.type) for column in layout.columns)
    return description.describe(Struct(fields), name)


class _Description:
    """Types with a name are called by the path that leads to them. The outermost say their namespace, which holds for the inner ones."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace

    def describe(self, type_: SqlType, name: str, *, is_inside: bool = False) -> Any:
        match type_:
            case Decimal(precision, scale):
                return _decimal(precision, scale)
            case Array(element):
                return {"type": "array", "items": ["null", self.describe(element, name, is_inside=is_inside)]}
            case Map(key, value):
                return self._map(key, value, name, is_inside)
            case Struct(fields):
                described = [
                    self._field(field.name.replace(".", "_"), field.type, f"{name}_{field.name}") for field in fields
                ]
                return {**self._record(name, described, is_inside), names.NAME: self._full(name)}
        return _TYPES[type_]

    def _record(self, name: str, fields: list[Any], is_inside: bool) -> dict[str, Any]:
        space = {} if is_inside or not self._namespace else {"namespace": self._namespace}
        return {"type": "record", "name": _valid(name), **space, "fields": fields}

    def _map(self, key: SqlType, value: SqlType, name: str, is_inside: bool) -> dict[str, Any]:
        """Keys may be null, which Avro's own maps do not allow: so it is an array of entries."""
        fields = [self._field("key", key, f"{name}_MapKey"), self._field("value", value, f"{name}_MapValue")]
        entry = {**self._record(name, fields, is_inside), names.INTERNAL_TYPE: names.MAP_ENTRY}
        return {"type": "array", "items": entry, names.NAME: self._full(name)}

    def _field(self, name: str, type_: SqlType, path: str) -> dict[str, Any]:
        return {"name": _valid(name), "type": ["null", self.describe(type_, path, is_inside=True)], "default": None}

    def _full(self, name: str) -> str:
        return f"{self._namespace}.{name}" if self._namespace else name


def _decimal(precision: int, scale: int) -> dict[str, Any]:
    return {
        "type": "bytes",
        "scale": scale,
        "precision": precision,
        names.VERSION: 1,
        names.PARAMETERS: {names.SCALE: str(scale), names.PRECISION: str(precision)},
        names.NAME: names.DECIMAL,
        "logicalType": "decimal",
    }


def _valid(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise SqlProblem(f"Schema is not compatible with Avro: Illegal character in: {name}")
    return name
