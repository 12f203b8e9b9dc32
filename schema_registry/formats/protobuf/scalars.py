"""The scalar types of Protobuf and the types that a map can have."""

from __future__ import annotations

from typing import Final

from schema_registry.formats.parsed_schema import InvalidSchema
from schema_registry.formats.protobuf.elements import MapType, excerpt

SCALARS: Final = frozenset(
    [
        "double",
        "float",
        "int32",
        "int64",
        "uint32",
        "uint64",
        "sint32",
        "sint64",
        "fixed32",
        "fixed64",
        "sfixed32",
        "sfixed64",
        "bool",
        "string",
        "bytes",
    ]
)
_NO_MAP_KEYS: Final = frozenset(("bytes", "double", "float"))


def check_map_key(types: MapType) -> None:
    if types.key not in SCALARS or types.key in _NO_MAP_KEYS:
        raise InvalidSchema(
            f"map key must be non-byte, non-floating point scalar: {excerpt(types.key)}; use string, bool or a type of whole numbers"
        )
