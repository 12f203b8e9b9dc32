"""The types of Avro, as a parsed schema holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Final, Self, TypeAlias

from schema_registry.formats.json_text import JsonValue


class Kind(Enum):
    """What a type is; the value is its word in schemas, the name its word in messages."""

    RECORD = "record"
    ENUM = "enum"
    ARRAY = "array"
    MAP = "map"
    UNION = "union"
    FIXED = "fixed"
    STRING = "string"
    BYTES = "bytes"
    INT = "int"
    LONG = "long"
    FLOAT = "float"
    DOUBLE = "double"
    BOOLEAN = "boolean"
    NULL = "null"


PRIMITIVES: Final[Mapping[str, Kind]] = {
    kind.value: kind
    for kind in (Kind.STRING, Kind.BYTES, Kind.INT, Kind.LONG, Kind.FLOAT, Kind.DOUBLE, Kind.BOOLEAN, Kind.NULL)
}
_WORDS: Final = frozenset(kind.value for kind in Kind)

Props: TypeAlias = Mapping[str, JsonValue]
"""Attributes that Avro itself does not know, in the order of the text."""


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a record, enum or fixed, or one of its aliases; `namespace` is None where there is none."""

    short: str
    namespace: str | None
    full: str

    @classmethod
    def of(cls, name: str, namespace: str | None) -> Self:
        """Dots in the name itself win over the namespace that applies where it is written."""
        before, dot, short = name.rpartition(".")
        space = (before if dot else namespace) or None
        return cls(short, space, f"{space}.{short}" if space else short)

    def relative_to(self, namespace: str | None) -> str:
        """How other places refer to the type: shortly in its own namespace, unless that would read as a word of Avro's."""
        return self.short if self.namespace and self.namespace == namespace and self.short not in _WORDS else self.full


@dataclass(frozen=True, slots=True)
class LogicalType:
    """A logical type that fits the type that carries it; `precision` and `scale` are those of a decimal."""

    name: str
    precision: int | None = None
    scale: int = 0


class Order(Enum):
    """How a field takes part in sorting; the value is its word in schemas."""

    ASCENDING = "ascending"
    DESCENDING = "descending"
    IGNORE = "ignore"


# A type is equal to itself alone: the compatibility check tells two uses of `string` apart, and a record that is used twice is one.
# Nobody changes a type once the parser has handed it out. It is not frozen because a record can hold itself: the parser has to put
# types into others that exist already.


@dataclass(eq=False, slots=True)
class PrimitiveType:
    kind: Kind
    props: Props
    logical: LogicalType | None = None


@dataclass(eq=False, slots=True)
class ArrayType:
    kind: ClassVar[Kind] = Kind.ARRAY
    items: AvroType
    props: Props
    logical: LogicalType | None = None


@dataclass(eq=False, slots=True)
class MapType:
    kind: ClassVar[Kind] = Kind.MAP
    values: AvroType
    props: Props
    logical: LogicalType | None = None


@dataclass(eq=False, slots=True)
class UnionType:
    kind: ClassVar[Kind] = Kind.UNION
    branches: list[AvroType]


@dataclass(eq=False, slots=True)
class Field:
    """`default` counts if `has_default` says so: null is a default as well."""

    name: str
    type: AvroType
    doc: str | None
    has_default: bool
    default: JsonValue
    order: Order
    aliases: tuple[str, ...]
    props: Props


@dataclass(eq=False, slots=True)
class RecordType:
    kind: ClassVar[Kind] = Kind.RECORD
    name: Name
    doc: str | None
    is_error: bool
    fields: Mapping[str, Field]
    aliases: tuple[Name, ...]
    props: Props
    logical: LogicalType | None = None


@dataclass(eq=False, slots=True)
class EnumType:
    kind: ClassVar[Kind] = Kind.ENUM
    name: Name
    doc: str | None
    symbols: tuple[str, ...]
    default: str | None
    aliases: tuple[Name, ...]
    props: Props
    logical: LogicalType | None = None


@dataclass(eq=False, slots=True)
class FixedType:
    kind: ClassVar[Kind] = Kind.FIXED
    name: Name
    doc: str | None
    size: int
    aliases: tuple[Name, ...]
    props: Props
    logical: LogicalType | None = None


NamedType: TypeAlias = RecordType | EnumType | FixedType
AvroType: TypeAlias = PrimitiveType | ArrayType | MapType | UnionType | NamedType


def full_name(a_type: AvroType) -> str:
    """The name of a named type, or the word for what it is otherwise."""
    return a_type.name.full if isinstance(a_type, NamedType) else a_type.kind.value


def parts(a_type: AvroType) -> list[AvroType]:
    """The types inside, in the order of the text."""
    match a_type:
        case ArrayType():
            return [a_type.items]
        case MapType():
            return [a_type.values]
        case UnionType():
            return a_type.branches
        case RecordType():
            return [field.type for field in a_type.fields.values()]
        case PrimitiveType() | EnumType() | FixedType():
            return []
