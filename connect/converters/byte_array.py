"""Bytes as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from connect.converters.converter import Converter, SchemaAndValue
from connect.data.conversion import as_bytes
from connect.data.schema import BYTES, Schema, Type
from connect.errors import DataError

OPTIONAL_BYTES: Final = BYTES.as_optional()


@dataclass(frozen=True, slots=True)
class NoSettings:
    """Nothing can be set."""


class ByteArrayConverter(Converter):
    """Bytes as they are."""

    settings_type = NoSettings

    def encode(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        if schema is not None and schema.type is not Type.BYTES:
            raise DataError(
                f"Invalid schema type for ByteArrayConverter: {schema.type.name}; use a converter that can write it"
            )
        return None if value is None else as_bytes(value)

    def decode(self, topic: str, data: bytes | None) -> SchemaAndValue:
        return SchemaAndValue(OPTIONAL_BYTES, data)
