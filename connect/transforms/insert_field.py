"""InsertField: where a record came from, or a constant, as fields of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from connect.api.record import Record
from connect.api.settings import setting
from connect.converters.converter import SchemaAndValue
from connect.data.logical import timestamp_of
from connect.data.schema import INT32, INT64, STRING, TIMESTAMP_SCHEMA, Field, Schema, Type
from connect.data.schema_cache import SchemaCache
from connect.errors import DataError, Problem
from connect.transforms.field_path import Path, require_struct
from connect.transforms.field_settings import NullableFieldSettings
from connect.transforms.sided import SidedTransform

_REQUIRED: Final = "!"
_OPTIONAL: Final = "?"
_SUFFIXES: Final = "A ! behind the name makes the field required, a ? optional, which is the default."


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertFieldSettings(NullableFieldSettings):
    topic_field: str | None = setting("topic.field", f"Field name for Kafka topic. {_SUFFIXES}", None)
    partition_field: str | None = setting("partition.field", f"Field name for Kafka partition. {_SUFFIXES}", None)
    offset_field: str | None = setting(
        "offset.field", f"Field name for Kafka offset; only applicable to sink connectors. {_SUFFIXES}", None
    )
    timestamp_field: str | None = setting("timestamp.field", f"Field name for record timestamp. {_SUFFIXES}", None)
    static_field: str | None = setting("static.field", f"Field name for static data field. {_SUFFIXES}", None)
    static_value: str | None = setting("static.value", "Static field value, if field name configured.", None)

    def problems(self) -> Iterator[Problem]:
        names = {
            "topic.field": self.topic_field, "partition.field": self.partition_field, "offset.field": self.offset_field,
            "timestamp.field": self.timestamp_field, "static.field": self.static_field,
        }  # fmt: skip
        given = {name: field for name, field in names.items() if field is not None}
        if not given:
            yield Problem("topic.field", "No field insertion configured")
        if self.static_field is not None and self.static_value is None:
            yield Problem("static.value", "No value specified for static field")
        for name, field in given.items():
            yield from self.path_problems(name, [_bare(field)])


class _Insertion(NamedTuple):
    path: Path
    schema: Schema
    value: Callable[[Record], Any]
    plain: Callable[[Record], Any]
    """The value for records without a schema."""


class InsertField(SidedTransform):
    """Adds the topic, partition, offset or timestamp of a record, or a constant, to its fields. What is null stays null."""

    settings_type = InsertFieldSettings

    def __init__(self, settings: InsertFieldSettings, *, is_key: bool) -> None:
        super().__init__(settings, is_key=is_key)
        self._insertions = tuple(_insertions(settings))
        self._schema = SchemaCache(self._extended)
        self._defaults = SchemaCache(_defaults)

    def change(self, schema: Schema | None, value: Any, record: Record) -> SchemaAndValue:
        if value is None:
            return SchemaAndValue(schema, value)
        fields = require_struct(value, schema, "field insertion")
        if schema is not None and self.settings.replace_null_with_default:
            defaults = self._defaults(schema)
            fields = {**fields, **{name: default for name, default in defaults.items() if fields.get(name) is None}}
        for insertion in self._insertions:
            inserted = insertion.plain(record) if schema is None else insertion.value(record)
            if inserted is not None or schema is not None:
                fields = _with(fields, insertion.path, inserted)
        return SchemaAndValue(None if schema is None else self._schema(schema), fields)

    def _extended(self, schema: Schema) -> Schema:
        for insertion in self._insertions:
            schema = _with_field(schema, insertion.path, insertion.schema)
        return schema


def _insertions(settings: InsertFieldSettings) -> Iterator[_Insertion]:
    static = settings.static_value
    for field, schema, value, plain in (
        (settings.topic_field, STRING, lambda record: record.topic, lambda record: record.topic),
        (settings.partition_field, INT32, lambda record: record.partition, lambda record: record.partition),
        (settings.offset_field, INT64, _offset, _offset),
        (settings.timestamp_field, TIMESTAMP_SCHEMA, _timestamp, lambda record: record.timestamp_ms),
        (settings.static_field, STRING, lambda _record: static, lambda _record: static),
    ):
        if field is not None:
            optional = not field.endswith(_REQUIRED)
            yield _Insertion(settings.path(_bare(field)), replace(schema, optional=optional), value, plain)


def _bare(field: str) -> str:
    return field[:-1] if field.endswith((_REQUIRED, _OPTIONAL)) else field


def _offset(record: Record) -> int:
    if record.offset is None:
        raise DataError("Offset insertion is only supported for sink connectors, record is of type SourceRecord")
    return record.offset


def _timestamp(record: Record) -> Any:
    return None if record.timestamp_ms is None else timestamp_of(record.timestamp_ms)


def _defaults(schema: Schema) -> dict[str, Any]:
    return {field.name: field.schema.default for field in schema.fields if field.schema.has_default}


def _with(fields: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    step, rest = path[0], path[1:]
    if not rest:
        return {**fields, step: value}
    inside = fields.get(step)
    if not isinstance(inside, dict):
        raise DataError(f"a field cannot be inserted into {step}, which has no fields")
    return {**fields, step: _with(inside, rest, value)}


def _with_field(schema: Schema, path: Path, inserted: Schema) -> Schema:
    step, rest = path[0], path[1:]
    if rest:
        field = schema.field_of(step)
        if field is None or field.schema.type is not Type.STRUCT:
            raise DataError(f"a field cannot be inserted into {step}, which has no fields")
        inserted = _with_field(field.schema, rest, inserted)
        fields = tuple(Field(each.name, inserted) if each.name == step else each for each in schema.fields)
    elif schema.field_of(step) is not None:
        raise DataError(f"Cannot create field because of field name duplication {step}")
    else:
        fields = (*schema.fields, Field(step, inserted))
    return replace(schema, fields=fields)
