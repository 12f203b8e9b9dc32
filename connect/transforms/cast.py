"""Cast: other types for fields, or for the whole."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from connect.api.record import Record
from connect.api.settings import Importance, setting
from connect.converters.converter import SchemaAndValue
from connect.data.logical import days, time_ms, timestamp_ms
from connect.data.schema import MISSING, Schema, Type
from connect.data.schema_cache import SchemaCache
from connect.data.text import text_of
from connect.errors import DataError, Problem
from connect.transforms.field_path import Path, require_struct, with_schema, with_value
from connect.transforms.field_settings import NullableFieldSettings
from connect.transforms.sided import SidedTransform

_TYPES: Final = {
    "int8": Type.INT8, "int16": Type.INT16, "int32": Type.INT32, "int64": Type.INT64, "float32": Type.FLOAT32,
    "float64": Type.FLOAT64, "boolean": Type.BOOLEAN, "string": Type.STRING,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class CastSettings(NullableFieldSettings):
    spec: tuple[str, ...] = setting(
        "spec",
        "Fields and their new types, such as foo:int32,abc:string; or one type for the whole key or value.",
        importance=Importance.HIGH,
    )

    def problems(self) -> Iterator[Problem]:
        if not self.spec:
            yield Problem("spec", "Must specify at least one field to cast.")
        for part in self.spec:
            name, colon, word = part.rpartition(":")
            if word not in _TYPES or (colon and not name):
                yield Problem(
                    "spec",
                    f"Invalid value {part} for configuration spec: expected one of the types {', '.join(_TYPES)}, or a field, a colon and one of them",
                )
            elif not colon and len(self.spec) > 1:
                yield Problem(
                    "spec",
                    "Cast transformations that specify a type to cast the entire value to may ONLY specify a single cast in their spec",
                )
            elif colon:
                yield from self.path_problems("spec", [name])


class Cast(SidedTransform):
    """Turns numbers, booleans and text into each other. Numbers that do not fit lose their upper bits, as in Java."""

    settings_type = CastSettings

    def __init__(self, settings: CastSettings, *, is_key: bool) -> None:
        super().__init__(settings, is_key=is_key)
        self._casts: list[tuple[Path, Type]] = []
        for part in settings.spec:
            name, _, word = part.rpartition(":")
            self._casts.append((settings.path(name) if name else (), _TYPES[word]))
        self._schema = SchemaCache(self._changed_schema)

    def change(self, schema: Schema | None, value: Any, record: Record) -> SchemaAndValue:
        changed_schema = None if schema is None else self._schema(schema)
        path, target = self._casts[0]
        if not path:
            return SchemaAndValue(changed_schema, self._cast(target)(value))
        if value is None:
            return SchemaAndValue(schema, None)
        fields = require_struct(value, schema, "cast types")
        for path, target in self._casts:
            fields = with_value(fields, path, self._cast(target))
        return SchemaAndValue(changed_schema, fields)

    def _changed_schema(self, schema: Schema) -> Schema:
        for path, target in self._casts:
            change = _Retype(target)
            schema = with_schema(schema, path, change) if path else change(schema)
        return schema

    def _cast(self, target: Type) -> Callable[[Any], Any]:
        return lambda value: None if value is None else cast(value, target)


@dataclass(frozen=True, slots=True)
class _Retype:
    """The schema of what a cast makes: of another type, with its default cast, too."""

    target: Type

    def __call__(self, schema: Schema) -> Schema:
        default = schema.default
        if default is not MISSING and default is not None:
            default = cast(default, self.target)
        return replace(
            schema,
            type=self.target,
            name=None,
            version=None,
            parameters=(),
            default=default,
            fields=(),
            keys=None,
            values=None,
        )


def cast(value: Any, target: Type) -> Any:
    """DataError when a value is of no type that can be cast, or a text says no value of the target."""
    if isinstance(value, (dict, list)):
        raise DataError(f"Unexpected type in Cast transformation: {type(value).__name__}")
    try:
        if target is Type.STRING:
            return text_of(value)
        if target is Type.BOOLEAN:
            return _boolean(value)
        if target in (Type.FLOAT32, Type.FLOAT64):
            return float(value if isinstance(value, str) else _number(value))
        return _whole(value, target.bits or 0)
    except (ValueError, OverflowError, InvalidOperation):
        raise DataError(f"{str(value)[:100]!r} could not be cast to {target.value}") from None


def _boolean(value: Any) -> bool:
    if isinstance(value, str):
        return value.lower() == "true"
    return bool(_number(value))


def _number(value: Any) -> int | float | Decimal:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (int, float, Decimal)):
        return value
    if isinstance(value, datetime):
        return timestamp_ms(value)
    if isinstance(value, date):
        return days(value)
    if isinstance(value, time):
        return time_ms(value)
    raise ValueError(value)


def _whole(value: Any, bits: int) -> int:
    """As Java narrows: towards zero, and then the lower bits. A double beyond the widest number is that number. A text must fit."""
    if isinstance(value, str):
        number: float | Decimal = int(value)
        if not -(1 << (bits - 1)) <= number < 1 << (bits - 1):
            raise ValueError(value)
        return int(number)
    number = _number(value)
    if isinstance(number, float):
        if math.isnan(number):
            return 0
        limit = 1 << (63 if bits == 64 else 31)
        number = max(-limit, min(limit - 1, int(number) if math.isfinite(number) else math.copysign(limit, number)))
    whole = int(number) & ((1 << bits) - 1)
    return whole - (1 << bits) if whole >> (bits - 1) else whole
