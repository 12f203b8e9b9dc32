"""Defaults in Avro schemas: JSON that names no types of unions, and has bytes as strings whose characters are the bytes."""

from __future__ import annotations

from typing import Any

from connect.converters.avro_names import has_plain_keys, is_union
from connect.converters.json_values import JsonReading, JsonWriting
from connect.data import logical
from connect.data.conversion import Convert, as_bytes, as_decimal
from connect.data.mismatch import not_a
from connect.data.schema import Schema


class AvroDefaults(JsonWriting):
    """Defaults in Avro's JSON, which has bytes as strings whose characters are the bytes."""

    def __init__(self, *, allows_optional_keys: bool) -> None:
        super().__init__()
        self._allows_optional_keys = allows_optional_keys

    def float64(self, value: Any) -> Any:
        return float(value)

    def float32(self, value: Any) -> Any:
        return float(value)

    def binary(self, value: Any) -> Any:
        return as_bytes(value).decode("latin-1")

    def decimal(self, scale: int) -> Convert:
        return lambda value: logical.decimal_bytes(as_decimal(value), scale).decode("latin-1")

    def map(self, schema: Schema, key: Convert, value: Convert) -> Convert:
        if has_plain_keys(schema, allows_optional=self._allows_optional_keys):
            return super().map(schema, key, value)
        return lambda given: [[key(name), value(item)] for name, item in given.items()]

    def struct(self, schema: Schema) -> Convert:
        convert = super().struct(schema)
        if is_union(schema):
            return lambda given: next((item for item in convert(given).values() if item is not None), None)
        return convert


class AvroDefaultReading(JsonReading):
    """The way back. A default of a union is one of its first type."""

    def binary(self, value: Any) -> Any:
        return latin_bytes(value)

    def decimal(self, scale: int) -> Convert:
        return lambda value: logical.decimal_of(latin_bytes(value), scale)

    def struct(self, schema: Schema) -> Convert:
        if not is_union(schema):
            return super().struct(schema)
        first = schema.fields[0]
        convert = self.compile(first.schema)
        return lambda value: {first.name: convert(value)}


def latin_bytes(value: Any) -> bytes:
    """The bytes of a string that has one character for each."""
    if type(value) is str:
        try:
            return value.encode("latin-1")
        except UnicodeEncodeError:
            # Said below.
            pass
    raise not_a("bytes, written as a string of characters up to U+00FF", value)
