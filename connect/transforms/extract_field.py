"""ExtractField: a field takes the place of the whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from connect.api.record import Record
from connect.api.settings import Importance, setting
from connect.converters.converter import SchemaAndValue
from connect.data.schema import Schema
from connect.errors import DataError, Problem
from connect.transforms.field_path import require_struct, schema_at, value_at
from connect.transforms.field_settings import NullableFieldSettings
from connect.transforms.sided import SidedTransform


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractFieldSettings(NullableFieldSettings):
    field: str = setting("field", "Name of the field to extract.", importance=Importance.MEDIUM)

    def problems(self) -> Iterator[Problem]:
        yield from self.path_problems("field", [self.field])


class ExtractField(SidedTransform):
    """Puts one field in the place of the whole key or value."""

    settings_type = ExtractFieldSettings

    def __init__(self, settings: ExtractFieldSettings, *, is_key: bool) -> None:
        super().__init__(settings, is_key=is_key)
        self._path = settings.path(settings.field)

    def change(self, schema: Schema | None, value: Any, record: Record) -> SchemaAndValue:
        if schema is None:
            return SchemaAndValue(
                None, None if value is None else value_at(require_struct(value, None, "field extraction"), self._path)
            )
        found = schema_at(schema, self._path)
        if found is None:
            raise DataError(f"Unknown field: {self.settings.field}")
        extracted = value_at(value, self._path)
        if extracted is None and found.has_default and self.settings.replace_null_with_default:
            extracted = found.default
        return SchemaAndValue(found, extracted)
