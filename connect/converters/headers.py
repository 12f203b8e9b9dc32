"""Converters of headers: the simple one, and converters of values that serve headers, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from connect.converters.byte_array import NoSettings
from connect.converters.converter import Converter, HeaderConverter, SchemaAndValue
from connect.data.header_parsing import parse_header
from connect.data.schema import BYTES, Schema
from connect.data.text import header_text


class SimpleHeaderConverter(HeaderConverter):
    """Text that shows its type: what looks like a number, a boolean, a date, an array or a map is read as one."""

    settings_type = NoSettings

    def encode(self, topic: str, name: str, schema: Schema | None, value: Any) -> bytes | None:
        return None if value is None else header_text(value).encode(errors="replace")

    def decode(self, topic: str, name: str, data: bytes | None) -> SchemaAndValue:
        if data is None:
            return SchemaAndValue(None, None)
        try:
            return SchemaAndValue(*parse_header(data.decode()))
        except UnicodeDecodeError:
            return SchemaAndValue(BYTES, data)


class ConvertedHeaders(HeaderConverter):
    """Headers through a converter of values."""

    def __init__(self, settings: Any, converter: Converter) -> None:
        super().__init__(settings)
        self._converter = converter

    def encode(self, topic: str, name: str, schema: Schema | None, value: Any) -> bytes | None:
        return self._converter.encode(topic, schema, value)

    def decode(self, topic: str, name: str, data: bytes | None) -> SchemaAndValue:
        return self._converter.decode(topic, data)


def for_headers(make: type[Converter]) -> Callable[[Any], HeaderConverter]:
    return lambda settings: ConvertedHeaders(settings, make(settings, is_key=False))
