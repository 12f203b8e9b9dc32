"""Flatten: nested fields become fields of one level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from connect.api.record import Record
from connect.api.settings import setting
from connect.converters.converter import SchemaAndValue
from connect.data.schema import Field, Schema, Type
from connect.data.schema_cache import SchemaCache
from connect.transforms.field_path import require_struct
from connect.transforms.sided import SidedTransform


@dataclass(frozen=True, slots=True, kw_only=True)
class FlattenSettings:
    delimiter: str = setting("delimiter", "What stands between the names of a field and of those that it was in.", ".")


class Flatten(SidedTransform):
    """Gives nested fields names such as `a.b`. Lists stay as they are, and so do maps in a struct."""

    settings_type = FlattenSettings

    def __init__(self, settings: FlattenSettings, *, is_key: bool) -> None:
        super().__init__(settings, is_key=is_key)
        self._schema = SchemaCache(
            lambda schema: replace(schema, fields=tuple(self._fields(schema, "", optional=schema.optional)))
        )

    def change(self, schema: Schema | None, value: Any, record: Record) -> SchemaAndValue:
        if value is None:
            return SchemaAndValue(schema, None)
        fields = require_struct(value, schema, "flattening")
        if schema is None:
            return SchemaAndValue(None, dict(self._plain_items(fields, "")))
        return SchemaAndValue(self._schema(schema), dict(self._items(fields, schema, "")))

    def _plain_items(self, fields: dict[str, Any], before: str) -> Iterator[tuple[str, Any]]:
        for name, item in fields.items():
            if isinstance(item, dict):
                yield from self._plain_items(item, f"{before}{name}{self.settings.delimiter}")
            else:
                yield before + name, item

    def _items(self, fields: dict[str, Any] | None, schema: Schema, before: str) -> Iterator[tuple[str, Any]]:
        for field in schema.fields:
            item = None if fields is None else fields.get(field.name)
            if field.schema.type is Type.STRUCT:
                yield from self._items(item, field.schema, f"{before}{field.name}{self.settings.delimiter}")
            else:
                yield before + field.name, item

    def _fields(self, schema: Schema, before: str, *, optional: bool) -> Iterator[Field]:
        """A field is optional if anything that it was in is."""
        for field in schema.fields:
            inside = field.schema
            if inside.type is Type.STRUCT:
                name = f"{before}{field.name}{self.settings.delimiter}"
                yield from self._fields(inside, name, optional=optional or inside.optional)
            else:
                yield Field(before + field.name, inside.as_optional() if optional else inside)
