"""ValueToKey: fields of the value become the key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from connect.api.record import Record
from connect.api.settings import Importance, setting
from connect.data.schema import Field, Schema, Type
from connect.data.schema_cache import SchemaCache
from connect.errors import DataError, Problem
from connect.transforms.field_path import require_struct, schema_at, value_at
from connect.transforms.field_settings import NullableFieldSettings
from connect.transforms.transform import Transform


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueToKeySettings(NullableFieldSettings):
    fields: tuple[str, ...] = setting(
        "fields", "Field names on the record value to extract as the record key.", importance=Importance.HIGH
    )

    def problems(self) -> Iterator[Problem]:
        if not self.fields:
            yield Problem("fields", "Invalid value [] for configuration fields: Empty list")
        yield from self.path_problems("fields", self.fields)


class ValueToKey(Transform):
    """Makes a key of fields of the value."""

    settings_type = ValueToKeySettings

    def __init__(self, settings: ValueToKeySettings) -> None:
        super().__init__(settings)
        self._paths = [settings.path(name) for name in settings.fields]
        self._schema = SchemaCache(self._key_schema)

    def apply(self, record: Record) -> Record:
        value = require_struct(record.value, record.value_schema, "copying fields from value to key")
        if record.value_schema is None:
            return record._replace(key={path[-1]: value_at(value, path) for path in self._paths}, key_schema=None)
        schema = self._schema(record.value_schema)
        key = {}
        for path, field in zip(self._paths, schema.fields, strict=True):
            item = value_at(value, path)
            replaces = item is None and field.schema.has_default and self.settings.replace_null_with_default
            key[field.name] = field.schema.default if replaces else item
        return record._replace(key=key, key_schema=schema)

    def _key_schema(self, schema: Schema) -> Schema:
        fields = []
        for name, path in zip(self.settings.fields, self._paths, strict=True):
            found = schema_at(schema, path)
            if found is None:
                raise DataError(f"Field does not exist: {name}")
            fields.append(Field(path[-1], found))
        return Schema(Type.STRUCT, fields=tuple(fields))
