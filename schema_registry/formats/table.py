"""The formats by the names that clients give them. A format is loaded when its first schema comes."""

from __future__ import annotations

from importlib import import_module
from typing import Final, cast

from schema_registry.formats.parsed_schema import ParsedSchema
from schema_registry.schema import AVRO, JSON, PROTOBUF

_CLASSES: Final = {
    AVRO: ("schema_registry.formats.avro.schema", "AvroSchema"),
    JSON: ("schema_registry.formats.json_schema.schema", "JsonSchema"),
    PROTOBUF: ("schema_registry.formats.protobuf.schema", "ProtobufSchema"),
}


def schema_class(schema_type: str) -> type[ParsedSchema] | None:
    """The class of a schema type; None when there is no such type."""
    if schema_type not in _CLASSES:
        return None
    module, name = _CLASSES[schema_type]
    return cast("type[ParsedSchema]", getattr(import_module(module), name))
