"""MaskField: fields without what was in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any

from connect.api.record import Record
from connect.api.settings import Importance, setting
from connect.converters.converter import SchemaAndValue
from connect.data.schema import Schema
from connect.errors import DataError, Problem
from connect.transforms.field_path import require_struct, with_value
from connect.transforms.field_settings import NullableFieldSettings
from connect.transforms.sided import SidedTransform


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskFieldSettings(NullableFieldSettings):
    fields: tuple[str, ...] = setting("fields", "Names of fields to mask.", importance=Importance.HIGH)
    replacement: str | None = setting(
        "replacement",
        "What stands instead, in fields of numbers and text; without it, nothing does: 0, or no text.",
        None,
        importance=Importance.LOW,
    )

    def problems(self) -> Iterator[Problem]:
        if not self.fields:
            yield Problem("fields", "Invalid value [] for configuration fields: Empty list")
        if self.replacement is not None and not self.replacement.strip():
            yield Problem("replacement", "Invalid value  for configuration replacement: String must be non-empty")
        yield from self.path_problems("fields", self.fields)


class MaskField(SidedTransform):
    """Puts a value of the same type, without meaning, in the place of fields. What is null stays null."""

    settings_type = MaskFieldSettings

    def __init__(self, settings: MaskFieldSettings, *, is_key: bool) -> None:
        super().__init__(settings, is_key=is_key)
        self._paths = [settings.path(name) for name in settings.fields]

    def change(self, schema: Schema | None, value: Any, record: Record) -> SchemaAndValue:
        if value is None:
            return SchemaAndValue(schema, None)
        fields = require_struct(value, schema, "mask fields")
        for path in self._paths:
            fields = with_value(fields, path, self._masked)
        return SchemaAndValue(schema, fields)

    def _masked(self, value: Any) -> Any:
        if value is None:
            return None
        if self.settings.replacement is None:
            return _nothing(value)
        try:
            return _replaced(value, self.settings.replacement)
        except (ValueError, InvalidOperation):
            raise DataError(
                f"Unable to convert {self.settings.replacement} ({type(value).__name__}) to number"
            ) from None


def _nothing(value: Any) -> Any:
    """What of the same type says nothing. A boolean is an int, and a datetime a date, so that they come first."""
    nothings: tuple[tuple[type, Any], ...] = (
        (bool, False), (int, 0), (float, 0.0), (str, ""), (bytes, b""), (list, []), (dict, {}), (Decimal, Decimal(0)),
        (datetime, datetime(1970, 1, 1, tzinfo=UTC)), (date, date(1970, 1, 1)), (time, time()),
    )  # fmt: skip
    for kind, nothing in nothings:
        if isinstance(value, kind):
            return nothing
    raise DataError(f"Cannot mask value of type {type(value).__name__}")


def _replaced(value: Any, text: str) -> Any:
    if isinstance(value, str):
        return text
    for kind in (int, float, Decimal):
        if isinstance(value, kind) and not isinstance(value, bool):
            return kind(text)
    raise DataError(f"Cannot mask value of type {type(value).__name__} with custom replacement.")
