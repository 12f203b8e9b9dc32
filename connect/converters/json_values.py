"""Values as the JSON that Kafka Connect makes of them, and back.

Bytes are base64. Dates, times and timestamps are numbers, decimals the bytes of their unscaled number, or numbers, too. A map whose keys are
no strings is an array of pairs.
"""

from __future__ import annotations

import base64
import binascii
import math
from decimal import Decimal
from enum import Enum
from typing import Any

import orjson

from barnabas.kernel.java.numbers import PLAIN_END, PLAIN_MIN, double_text
from barnabas.kernel.serdes.json_numbers import NOT_FINITE, float_number
from connect.data import logical
from connect.data.conversion import (
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


class DecimalFormat(Enum):
    BASE64 = "BASE64"
    NUMERIC = "NUMERIC"


class FloatNumberError(Exception):
    """A decimal was written as a number, which only an exact parser reads without loss."""


class JsonWriting(Conversion):
    """From values to what JSON can say."""

    def __init__(self, decimal_format: DecimalFormat = DecimalFormat.BASE64, *, replaces_null: bool = True) -> None:
        super().__init__(replaces_null=replaces_null)
        self.decimal_format = decimal_format

    def float64(self, value: Any) -> Any:
        return _as_java_writes(as_float(value))

    def float32(self, value: Any) -> Any:
        number = float_number(as_float32(value))
        return number if type(number) is str else _as_java_writes(float(number))

    def binary(self, value: Any) -> Any:
        return base64_text(as_bytes(value))

    def decimal(self, scale: int) -> Convert:
        if self.decimal_format is DecimalFormat.NUMERIC:
            return lambda value: number_fragment(as_decimal(value))
        return lambda value: base64_text(logical.decimal_bytes(as_decimal(value), scale))

    def date(self, value: Any) -> Any:
        return logical.days(as_date(value))

    def time(self, value: Any) -> Any:
        return logical.time_ms(as_time(value))

    def timestamp(self, value: Any) -> Any:
        return logical.timestamp_ms(as_timestamp(value))

    def map(self, schema: Schema, key: Convert, value: Convert) -> Convert:
        if schema.keys is not None and schema.keys.type is Type.STRING:
            return super().map(schema, key, value)

        def convert(given: Any) -> Any:
            if type(given) is not dict:
                raise not_a("a map", given)
            return [[key(name), item] for name, item in converted_items(given, value)]

        return convert


class JsonReading(Conversion):
    """From parsed JSON to values. FloatNumberError asks for the same JSON with its fractions as `Decimal`."""

    takes_unknown_fields = True

    def default(self, schema: Schema) -> Any:
        # The default was read together with the schema.
        return schema.default

    def whole(self, value: Any) -> int | None:
        return int(value) if isinstance(value, float | Decimal) and value == value // 1 else None

    def float64(self, value: Any) -> Any:
        return as_float(float(value) if type(value) is Decimal or value in NOT_FINITE else value)

    def float32(self, value: Any) -> Any:
        return as_float32(self.float64(value))

    def binary(self, value: Any) -> Any:
        return base64_bytes(value)

    def decimal(self, scale: int) -> Convert:
        def convert(value: Any) -> Decimal:
            if type(value) is str:
                return logical.decimal_of(base64_bytes(value), scale)
            if type(value) is float:
                raise FloatNumberError
            return as_decimal(value)

        return convert

    def date(self, value: Any) -> Any:
        return logical.date_of(_integer(value))

    def time(self, value: Any) -> Any:
        return logical.time_of(_integer(value))

    def timestamp(self, value: Any) -> Any:
        return logical.timestamp_of(_integer(value))

    def map(self, schema: Schema, key: Convert, value: Convert) -> Convert:
        if schema.keys is not None and schema.keys.type is Type.STRING:
            return super().map(schema, key, value)

        def convert(given: Any) -> Any:
            if type(given) is not list:
                raise not_a("a map: one whose keys are no strings is an array of pairs", given)
            return dict(_pair(entry, key, value) for entry in given)

        return convert


def _pair(entry: Any, key: Convert, value: Convert) -> tuple[Any, Any]:
    if type(entry) is not list or len(entry) != 2:
        raise not_a("an entry of a map: a pair of its key and its value", entry)
    found = key(entry[0])
    if type(found) is dict or type(found) is list:
        raise Mismatch("a map whose keys are structs, arrays or maps cannot be read: such keys cannot be looked up")
    return found, value(entry[1])


def _as_java_writes(value: float) -> Any:
    """The number itself, unless Java writes it with an exponent or, since JSON has no such number, as a string."""
    if PLAIN_MIN <= value < PLAIN_END or -PLAIN_END < value <= -PLAIN_MIN or value == 0:
        return value
    return orjson.Fragment(double_text(value)) if math.isfinite(value) else double_text(value)


def _integer(value: Any) -> int:
    if type(value) is int:
        return value
    raise not_a("a whole number", value)


def base64_text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def base64_bytes(value: Any) -> bytes:
    try:
        if type(value) is str:
            return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        pass
    raise not_a("bytes in base64", value)


def number_fragment(value: Decimal) -> Any:
    """A decimal with all of its digits."""
    if not value.is_finite():
        raise not_a("a number that has digits", value)
    return orjson.Fragment(str(value))


def plain_json(value: Any) -> Any:
    """What `orjson` is to write for a part of a value without schema that it does not know."""
    if isinstance(value, bytes | bytearray | memoryview):
        return base64_text(bytes(value))
    if isinstance(value, Decimal):
        return number_fragment(value)
    raise not_a("a value that JSON can say", value)


def with_pairs(value: Any) -> Any:
    """A value without schema, with arrays of pairs in the places of its maps whose keys are not all strings."""
    if isinstance(value, dict):
        if all(isinstance(name, str) for name in value):
            return {name: with_pairs(item) for name, item in value.items()}
        return [[with_pairs(name), with_pairs(item)] for name, item in value.items()]
    return [with_pairs(item) for item in value] if isinstance(value, list | tuple) else value
