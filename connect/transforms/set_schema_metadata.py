"""SetSchemaMetadata: another name or version for a schema."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from connect.api.record import Record
from connect.api.settings import Importance, setting
from connect.converters.converter import SchemaAndValue
from connect.data.schema import Schema
from connect.data.schema_cache import SchemaCache
from connect.errors import DataError
from connect.transforms.sided import SidedTransform


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSchemaMetadataSettings:
    name: str | None = setting("schema.name", "Schema name to set.", None, importance=Importance.HIGH)
    version: int | None = setting("schema.version", "Schema version to set.", None, importance=Importance.HIGH)


class SetSchemaMetadata(SidedTransform):
    """Sets the name and the version of the schema of the key or the value."""

    settings_type = SetSchemaMetadataSettings

    def __init__(self, settings: SetSchemaMetadataSettings, *, is_key: bool) -> None:
        super().__init__(settings, is_key=is_key)
        self._schema = SchemaCache(self._renamed)

    def change(self, schema: Schema | None, value: Any, record: Record) -> SchemaAndValue:
        if schema is None:
            if value is None:
                return SchemaAndValue(None, None)
            raise DataError("Schema required for [updating schema metadata]")
        return SchemaAndValue(self._schema(schema), value)

    def _renamed(self, schema: Schema) -> Schema:
        settings = self.settings
        name = schema.name if settings.name is None else settings.name
        return replace(schema, name=name, version=schema.version if settings.version is None else settings.version)
