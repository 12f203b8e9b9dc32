"""Types in a few words: what stands at one place of a schema, without all that is inside."""

from __future__ import annotations

from typing import Final

from schema_registry.formats.avro.complaint import excerpt
from schema_registry.formats.avro.logical_types import LOGICAL_TYPE
from schema_registry.formats.avro.types import (
    ArrayType,
    AvroType,
    EnumType,
    Field,
    FixedType,
    MapType,
    PrimitiveType,
    RecordType,
    UnionType,
    full_name,
)
from schema_registry.formats.json_text import JsonValue

OUTLINE_MAX_LEVELS = 3
"""How far an outline of a type goes into it."""

OUTLINE_MAX_BRANCHES = 10
"""How many types of a union, or symbols of an enum, an outline shows."""

_LOGICAL_ATTRIBUTES: Final = (LOGICAL_TYPE, "precision", "scale")


def outline(a_type: AvroType, level: int = 0) -> JsonValue:
    """The type without what is inside of named types, so that it is short however large the schema is."""
    if level >= OUTLINE_MAX_LEVELS:
        return full_name(a_type)
    match a_type:
        case UnionType():
            return [outline(branch, level + 1) for branch in a_type.branches[:OUTLINE_MAX_BRANCHES]]
        case ArrayType():
            return {"type": "array", "items": outline(a_type.items, level + 1), **_logical(a_type)}
        case MapType():
            return {"type": "map", "values": outline(a_type.values, level + 1), **_logical(a_type)}
        case EnumType() if level == 0:
            symbols: list[JsonValue] = [*a_type.symbols[:OUTLINE_MAX_BRANCHES]]
            return {"type": "enum", "name": a_type.name.full, "symbols": symbols, **_logical(a_type)}
        case FixedType() if level == 0:
            return {"type": "fixed", "name": a_type.name.full, "size": a_type.size, **_logical(a_type)}
        case RecordType() if level == 0:
            return {"type": "record", "name": a_type.name.full, **_logical(a_type)}
        case PrimitiveType() if LOGICAL_TYPE in a_type.props:
            return {"type": a_type.kind.value, **_logical(a_type)}
        case _:
            return full_name(a_type)


def field_outline(field: Field) -> JsonValue:
    shown: dict[str, JsonValue] = {"name": field.name, "type": outline(field.type, 1)}
    if field.aliases:
        shown["aliases"] = [*field.aliases]
    return shown


def in_words(a_type: AvroType) -> str:
    """The outline for use within a sentence."""
    return excerpt(outline(a_type, 1))


def _logical(a_type: AvroType) -> dict[str, JsonValue]:
    """The logical type as it was written: Avro ignores what it does not know, but people look for it."""
    if isinstance(a_type, UnionType) or LOGICAL_TYPE not in a_type.props:
        return {}
    return {name: a_type.props[name] for name in _LOGICAL_ATTRIBUTES if name in a_type.props}
