"""HeaderFrom: fields become headers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from connect.api.record import Header, Record
from connect.api.settings import Importance, setting
from connect.converters.converter import SchemaAndValue
from connect.data.schema import Schema
from connect.data.schema_cache import SchemaCache
from connect.errors import DataError, Problem
from connect.transforms.field_path import require_struct, schema_at, value_at, with_schema, without_value
from connect.transforms.field_settings import NullableFieldSettings
from connect.transforms.sided import SidedTransform

MOVE: Final = "move"
COPY: Final = "copy"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderFromSettings(NullableFieldSettings):
    fields: tuple[str, ...] = setting(
        "fields", "Field names in the record whose values become headers.", importance=Importance.HIGH
    )
    headers: tuple[str, ...] = setting(
        "headers", "Header names, in the order of the fields that they take.", importance=Importance.HIGH
    )
    operation: str = setting(
        "operation", "Whether fields are moved or copied.", choices=(MOVE, COPY), importance=Importance.HIGH
    )

    def problems(self) -> Iterator[Problem]:
        if not self.fields:
            yield Problem("fields", "Invalid value [] for configuration fields: Empty list")
        if len(self.fields) != len(self.headers):
            yield Problem("headers", "'fields' config must have the same number of elements as 'headers' config.")
        yield from self.path_problems("fields", self.fields)


class HeaderFrom(SidedTransform):
    """Moves or copies fields of the key or the value to headers."""

    settings_type = HeaderFromSettings

    def __init__(self, settings: HeaderFromSettings, *, is_key: bool) -> None:
        super().__init__(settings, is_key=is_key)
        self._paths = [settings.path(name) for name in settings.fields]
        self._moves = settings.operation == MOVE
        self._schema = SchemaCache(self._without_fields)

    def apply(self, record: Record) -> Record | None:
        changed = super().apply(record)
        assert changed is not None
        schema, value = self.side(record)
        headers = [self._header(name, place, schema, value) for place, name in enumerate(self.settings.headers)]
        return changed._replace(headers=(*record.headers, *headers))

    def change(self, schema: Schema | None, value: Any, record: Record) -> SchemaAndValue:
        fields = require_struct(value, schema, "header from field")
        if not self._moves:
            return SchemaAndValue(schema, fields)
        for path in self._paths:
            fields = without_value(fields, path)
        return SchemaAndValue(None if schema is None else self._schema(schema), fields)

    def _header(self, name: str, place: int, schema: Schema | None, value: Any) -> Header:
        path = self._paths[place]
        item = value_at(value, path)
        if schema is None:
            return Header(name, item)
        found = schema_at(schema, path)
        if found is None:
            raise DataError(f"Field does not exist: {self.settings.fields[place]}")
        if item is None and found.has_default and self.settings.replace_null_with_default:
            item = found.default
        return Header(name, item, found)

    def _without_fields(self, schema: Schema) -> Schema:
        for path in self._paths:
            schema = with_schema(schema, path, lambda _field: None)
        return schema
