"""TimestampConverter: times between text, numbers and Connect's own types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, Final

from connect.api.record import Record
from connect.api.settings import Importance, setting
from connect.converters.converter import SchemaAndValue
from connect.data.logical import timestamp_ms, timestamp_of
from connect.data.schema import (
    DATE,
    DATE_SCHEMA,
    INT64,
    STRING,
    TIME,
    TIME_SCHEMA,
    TIMESTAMP,
    TIMESTAMP_SCHEMA,
    Schema,
    Type,
)
from connect.data.schema_cache import SchemaCache
from connect.errors import DataError, Problem
from connect.transforms.date_pattern import DatePattern
from connect.transforms.field_path import require_struct, schema_at, with_schema, with_value
from connect.transforms.field_settings import NullableFieldSettings
from connect.transforms.sided import SidedTransform

_TARGETS: Final[Mapping[str, Schema]] = {
    "string": STRING, "unix": INT64, "Date": DATE_SCHEMA, "Time": TIME_SCHEMA, "Timestamp": TIMESTAMP_SCHEMA,
}  # fmt: skip
_NANOSECONDS: Final[Mapping[str, int]] = {
    "seconds": 1_000_000_000, "milliseconds": 1_000_000, "microseconds": 1_000, "nanoseconds": 1,
}  # fmt: skip
_MILLISECOND_NS: Final = 1_000_000
_EPOCH_DAY: Final = date(1970, 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimestampConverterSettings(NullableFieldSettings):
    field: str = setting(
        "field",
        "The field containing the timestamp, or empty if the entire value is a timestamp.",
        "",
        importance=Importance.HIGH,
    )
    target_type: str = setting(
        "target.type", "The type to convert to.", choices=tuple(_TARGETS), importance=Importance.HIGH
    )
    format: str = setting("format", "A pattern of Java's SimpleDateFormat, for text in and out.", "")
    unix_precision: str = setting(
        "unix.precision", "What numbers count.", "milliseconds", choices=tuple(_NANOSECONDS), importance=Importance.LOW
    )

    def problems(self) -> Iterator[Problem]:
        if self.target_type == "string" and not self.format:
            yield Problem(
                "format", "TimestampConverter requires format option to be specified when using string timestamps"
            )
        if self.format:
            try:
                DatePattern(self.format)
            except ValueError as error:
                yield Problem("format", f"Invalid value {self.format} for configuration format: {error}")
        if self.field:
            yield from self.path_problems("field", [self.field])


class TimestampConverter(SidedTransform):
    """Turns a time in one form into another."""

    settings_type = TimestampConverterSettings

    def __init__(self, settings: TimestampConverterSettings, *, is_key: bool) -> None:
        super().__init__(settings, is_key=is_key)
        self._path = settings.path(settings.field) if settings.field else ()
        self._pattern = DatePattern(settings.format) if settings.format else None
        self._unit_ns = _NANOSECONDS[settings.unix_precision]
        self._target = _TARGETS[settings.target_type]
        self._schema = SchemaCache(self._changed_schema)
        self._write = self._writer()

    def change(self, schema: Schema | None, value: Any, record: Record) -> SchemaAndValue:
        changed_schema = None if schema is None else self._schema(schema)
        if not self._path:
            return SchemaAndValue(changed_schema, self._converted(value))
        if value is None:
            return SchemaAndValue(changed_schema, None)
        fields = require_struct(value, schema, "converting timestamp formats")
        return SchemaAndValue(changed_schema, with_value(fields, self._path, self._converted))

    def _changed_schema(self, schema: Schema) -> Schema:
        if not self._path:
            return self._target.as_optional() if schema.optional else self._target
        if schema_at(schema, self._path) is None:
            raise DataError(f"Field does not exist: {self.settings.field}")
        return with_schema(
            schema, self._path, lambda field: self._target.as_optional() if field.optional else self._target
        )

    def _converted(self, value: Any) -> Any:
        return None if value is None else self._write(self._read(value))

    def _read(self, value: Any) -> datetime:
        if isinstance(value, datetime):
            return value.replace(tzinfo=UTC) if value.tzinfo is None else value
        if isinstance(value, date):
            return datetime(value.year, value.month, value.day, tzinfo=UTC)
        if isinstance(value, time):
            return datetime.combine(_EPOCH_DAY, value.replace(tzinfo=None), tzinfo=UTC)
        if isinstance(value, int) and not isinstance(value, bool):
            return timestamp_of(value * self._unit_ns // _MILLISECOND_NS)
        if isinstance(value, str):
            return self._parsed(value)
        raise DataError(f"TimestampConverter does not support {type(value).__name__} objects as timestamps")

    def _parsed(self, text: str) -> datetime:
        if self._pattern is None:
            raise DataError("TimestampConverter requires format option to be specified when using string timestamps")
        try:
            return self._pattern.parse(text)
        except (ValueError, OverflowError) as error:
            raise DataError(
                f"Could not parse timestamp: value ({text[:100]}) does not match pattern ({self.settings.format}): {error}"
            ) from None

    def _writer(self) -> Callable[[datetime], Any]:
        target, unit_ns, pattern = self._target, self._unit_ns, self._pattern
        if target.type is Type.STRING and pattern is not None:
            return pattern.format
        return {
            TIMESTAMP: lambda at: at,
            DATE: lambda at: at.astimezone(UTC).date(),
            TIME: lambda at: at.astimezone(UTC).time(),
            None: lambda at: timestamp_ms(at) * _MILLISECOND_NS // unit_ns,
        }[target.name]
