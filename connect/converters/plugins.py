"""The converters that configurations can name."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from connect.api.plugin import Plugin, PluginKind
from connect.converters.avro import AvroConverter
from connect.converters.byte_array import ByteArrayConverter
from connect.converters.converter import Converter
from connect.converters.headers import SimpleHeaderConverter, for_headers
from connect.converters.json import JsonConverter
from connect.converters.json_schema import JsonSchemaConverter
from connect.converters.numbers import (
    BooleanConverter,
    DoubleConverter,
    FloatConverter,
    IntegerConverter,
    LongConverter,
    ShortConverter,
)
from connect.converters.protobuf import ProtobufConverter
from connect.converters.string import StringConverter
from connect.version import VERSION

_STORAGE: Final = "org.apache.kafka.connect.storage."
_CONVERTERS: Final = "org.apache.kafka.connect.converters."
# Those that serve keys, values and headers.
_GENERAL: Final[dict[str, type[Converter]]] = {
    "org.apache.kafka.connect.json.JsonConverter": JsonConverter,
    f"{_STORAGE}StringConverter": StringConverter,
    f"{_CONVERTERS}BooleanConverter": BooleanConverter,
    f"{_CONVERTERS}ByteArrayConverter": ByteArrayConverter,
    f"{_CONVERTERS}DoubleConverter": DoubleConverter,
    f"{_CONVERTERS}FloatConverter": FloatConverter,
    f"{_CONVERTERS}IntegerConverter": IntegerConverter,
    f"{_CONVERTERS}LongConverter": LongConverter,
    f"{_CONVERTERS}ShortConverter": ShortConverter,
}
# Those that serve keys and values alone.
_REGISTERED: Final[dict[str, type[Converter]]] = {
    "io.confluent.connect.avro.AvroConverter": AvroConverter,
    "io.confluent.connect.json.JsonSchemaConverter": JsonSchemaConverter,
    "io.confluent.connect.protobuf.ProtobufConverter": ProtobufConverter,
}


def _converter(class_name: str, made: type[Converter]) -> Plugin:
    doc = made.__doc__ or ""
    return Plugin(PluginKind.CONVERTER, made.__name__, class_name, made.settings_type, made, VERSION, doc=doc)


def _header_converter(class_name: str, made: type[Converter]) -> Plugin:
    return replace(_converter(class_name, made), kind=PluginKind.HEADER_CONVERTER, maker=for_headers(made))


PLUGINS: Final[tuple[Plugin, ...]] = (
    *(_converter(*each) for each in (_GENERAL | _REGISTERED).items()),
    *(_header_converter(*each) for each in _GENERAL.items()),
    Plugin(
        PluginKind.HEADER_CONVERTER,
        SimpleHeaderConverter.__name__,
        f"{_STORAGE}SimpleHeaderConverter",
        SimpleHeaderConverter.settings_type,
        SimpleHeaderConverter,
        VERSION,
        doc=SimpleHeaderConverter.__doc__ or "",
    ),
)
