"""Values of Connect in Protobuf's JSON mapping, from which the codec makes the bytes."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, Final

from barnabas.kernel.serdes.json_numbers import FLOAT_MAX, double_number
from connect.converters.json_values import base64_text
from connect.converters.protobuf_names import ProtobufOptions, is_union, valid_name
from connect.data import logical
from connect.data.conversion import (
    Absent,
    Conversion,
    Convert,
    as_bytes,
    as_date,
    as_decimal,
    as_float,
    as_float32,
    as_time,
    as_timestamp,
    converted_items,
)
from connect.data.mismatch import Mismatch, not_a
from connect.data.schema import Schema, Type

MILLISECOND_NS: Final = 1_000_000


class ProtobufWriting(Conversion):
    def __init__(self, options: ProtobufOptions, *, replaces_null: bool) -> None:
        super().__init__(replaces_null=replaces_null)
        self._options = options

    def present(self, schema: Schema, absent: Absent) -> Convert:
        convert = super().present(schema, absent)
        if schema.type is Type.ARRAY:
            return _without_nulls(convert)
        return convert

    def float64(self, value: Any) -> Any:
        return double_number(as_float(value))

    def float32(self, value: Any) -> Any:
        number = as_float32(value)
        # The shortest text of the greatest number lies beyond it, and the codec takes it by its value.
        return double_number(min(max(number, -FLOAT_MAX), FLOAT_MAX) if math.isfinite(number) else number)

    def binary(self, value: Any) -> Any:
        return base64_text(as_bytes(value))

    def decimal(self, scale: int) -> Convert:
        def convert(value: Any) -> Any:
            number = logical.unscaled(as_decimal(value), scale)
            digits = Decimal(number).adjusted() + 1
            return {"value": base64_text(logical.signed_bytes(number)), "precision": digits, "scale": scale}

        return convert

    def date(self, value: Any) -> Any:
        day = as_date(value)
        return {"year": day.year, "month": day.month, "day": day.day}

    def time(self, value: Any) -> Any:
        given = as_time(value)
        nanos = given.microsecond // 1000 * MILLISECOND_NS
        return {"hours": given.hour, "minutes": given.minute, "seconds": given.second, "nanos": nanos}

    def timestamp(self, value: Any) -> Any:
        exact = logical.timestamp_of(logical.timestamp_ms(as_timestamp(value)))
        return exact.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"

    def map(self, schema: Schema, key: Convert, value: Convert) -> Convert:
        def convert(given: Any) -> Any:
            if type(given) is not dict:
                raise not_a("a map", given)
            items = converted_items(given, value)
            return [_without_null({"key": key(name), "value": item}) for name, item in items]

        return convert

    def struct(self, schema: Schema) -> Convert:
        convert = super().struct(schema)
        unions = [each.name for each in schema.fields if is_union(each.schema)]
        rename = valid_name if self._options.scrubs_names else None

        def convert_struct(value: Any) -> Any:
            given = _without_null(convert(value))
            for name in unions:
                given |= given.pop(name, {})
            return given if rename is None else {rename(name): item for name, item in given.items()}

        return convert_struct


def _without_null(given: dict[str, Any]) -> dict[str, Any]:
    """Protobuf has no null: what is not there is left out."""
    return {name: item for name, item in given.items() if item is not None}


def _without_nulls(convert: Convert) -> Convert:
    def convert_array(value: Any) -> Any:
        items = convert(value)
        if items is not None and None in items:
            raise Mismatch("null inside an array, which Protobuf cannot say", f"[{items.index(None)}]")
        return items

    return convert_array
