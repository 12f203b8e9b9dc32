"""HoistField: the whole becomes a field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from connect.api.record import Record
from connect.api.settings import setting
from connect.converters.converter import SchemaAndValue
from connect.data.schema import Field, Schema, Type
from connect.data.schema_cache import SchemaCache
from connect.transforms.sided import SidedTransform


@dataclass(frozen=True, slots=True, kw_only=True)
class HoistFieldSettings:
    field: str = setting("field", "Name of the one field of the struct or map that is made.")


class HoistField(SidedTransform):
    """Wraps the key or the value into a struct or a map of one field."""

    settings_type = HoistFieldSettings

    def __init__(self, settings: HoistFieldSettings, *, is_key: bool) -> None:
        super().__init__(settings, is_key=is_key)
        self._schema = SchemaCache(lambda schema: Schema(Type.STRUCT, fields=(Field(settings.field, schema),)))

    def change(self, schema: Schema | None, value: Any, record: Record) -> SchemaAndValue:
        return SchemaAndValue(None if schema is None else self._schema(schema), {self.settings.field: value})
