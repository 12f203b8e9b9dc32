"""Numbers and booleans of fixed width, most significant byte first."""

from __future__ import annotations

import struct
from typing import Any, ClassVar

from connect.converters.byte_array import NoSettings
from connect.converters.converter import Converter, SchemaAndValue
from connect.data.conversion import Conversion, shortest_float32
from connect.data.schema import BOOLEAN, FLOAT32, FLOAT64, INT16, INT32, INT64, Schema, Type
from connect.errors import DataError


class FixedWidthConverter(Converter):
    """Takes values of its own type, whatever the schema says; what is read may be null."""

    settings_type = NoSettings
    schema: ClassVar[Schema]
    layout: ClassVar[struct.Struct]

    def __init__(self, settings: NoSettings, *, is_key: bool) -> None:
        super().__init__(settings, is_key=is_key)
        self._read_schema = self.schema.as_optional()
        self._check = Conversion().compile(self._read_schema)

    def encode(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        return None if value is None else self.layout.pack(self._check(value))

    def decode(self, topic: str, data: bytes | None) -> SchemaAndValue:
        if data is None:
            return SchemaAndValue(self._read_schema, None)
        size = self.layout.size
        if len(data) != size:
            kind = self.schema.type.value
            raise DataError(
                f"{len(data)} bytes are no {kind}, which has {size}: was another converter used to write it?"
            )
        if self.schema.type is Type.BOOLEAN and data not in (b"\0", b"\1"):
            raise DataError(f"the byte {data.hex()} is no boolean, which is 00 or 01")
        value = self.layout.unpack(data)[0]
        return SchemaAndValue(self._read_schema, shortest_float32(value) if self.schema.type is Type.FLOAT32 else value)


class BooleanConverter(FixedWidthConverter):
    """Booleans of one byte."""

    schema, layout = BOOLEAN, struct.Struct(">?")


class ShortConverter(FixedWidthConverter):
    """Whole numbers of 16 bits."""

    schema, layout = INT16, struct.Struct(">h")


class IntegerConverter(FixedWidthConverter):
    """Whole numbers of 32 bits."""

    schema, layout = INT32, struct.Struct(">i")


class LongConverter(FixedWidthConverter):
    """Whole numbers of 64 bits."""

    schema, layout = INT64, struct.Struct(">q")


class FloatConverter(FixedWidthConverter):
    """Floating-point numbers of 32 bits."""

    schema, layout = FLOAT32, struct.Struct(">f")


class DoubleConverter(FixedWidthConverter):
    """Floating-point numbers of 64 bits."""

    schema, layout = FLOAT64, struct.Struct(">d")
