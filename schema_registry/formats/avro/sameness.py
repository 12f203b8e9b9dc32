"""When a type that is defined twice is the same both times."""

from __future__ import annotations

import math

from schema_registry.formats.avro.types import (
    AvroType,
    EnumType,
    Field,
    FixedType,
    NamedType,
    RecordType,
    UnionType,
    parts,
)
from schema_registry.formats.json_text import JsonValue


def is_same(first: AvroType, second: AvroType) -> bool:
    """Whether data of both looks the same. Documentation, aliases and the default of an enum do not matter."""
    waiting = [(first, second)]
    seen: set[tuple[int, int]] = set()
    while waiting:
        one, other = waiting.pop()
        pair = (id(one), id(other))
        if one is other or pair in seen:
            continue
        seen.add(pair)
        if not _looks_the_same(one, other):
            return False
        waiting += zip(parts(one), parts(other), strict=True)
    return True


def is_same_json(first: JsonValue, second: JsonValue) -> bool:
    """Whether two values are equal for Java: 1, 1.0 and true are three, and so are 0.0 and -0.0, but NaN is itself."""
    if type(first) is not type(second):
        return False
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(is_same_json(first[name], second[name]) for name in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(is_same_json, first, second))
    if isinstance(first, float) and isinstance(second, float) and (first == 0 or math.isnan(first)):
        return str(first) == str(second)
    return first == second


def _looks_the_same(one: AvroType, other: AvroType) -> bool:
    """Everything but the types inside, of which there are as many on both sides if this is true."""
    if one.kind is not other.kind:
        return False
    if isinstance(one, UnionType) or isinstance(other, UnionType):
        return len(parts(one)) == len(parts(other))
    if not is_same_json(dict(one.props), dict(other.props)):
        return False
    if isinstance(one, NamedType) and isinstance(other, NamedType) and one.name != other.name:
        return False
    if isinstance(one, EnumType) and isinstance(other, EnumType):
        return one.symbols == other.symbols
    if isinstance(one, FixedType) and isinstance(other, FixedType):
        return one.size == other.size
    if isinstance(one, RecordType) and isinstance(other, RecordType):
        return list(one.fields) == list(other.fields) and all(
            map(_is_same_field, one.fields.values(), other.fields.values())
        )
    return True


def _is_same_field(one: Field, other: Field) -> bool:
    return (
        one.order is other.order
        and one.has_default == other.has_default
        and is_same_json(one.default, other.default)
        and is_same_json(dict(one.props), dict(other.props))
    )
