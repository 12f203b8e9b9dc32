"""The type of a field, as far as it decides what the field's bytes mean."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum as Enumeration
from typing import Final

from schema_registry.formats.protobuf.elements import Enum, Field, MapType
from schema_registry.formats.protobuf.type_table import DeclaredType, TypeTable


class Kind(Enumeration):
    SCALAR = "scalar"
    MAP = "map"
    MESSAGE = "message"


class ScalarFamily(Enumeration):
    """Scalars with one encoding: a field may change from one to the other."""

    NUMBER = "number"
    SIGNED_NUMBER = "signed number"
    FIXED32 = "fixed 32"
    FIXED64 = "fixed 64"
    FLOAT = "float"
    DOUBLE = "double"
    STRING_OR_BYTES = "string or bytes"


FAMILY_OF_SCALAR: Final = {
    "int32": ScalarFamily.NUMBER,
    "int64": ScalarFamily.NUMBER,
    "uint32": ScalarFamily.NUMBER,
    "uint64": ScalarFamily.NUMBER,
    "bool": ScalarFamily.NUMBER,
    "sint32": ScalarFamily.SIGNED_NUMBER,
    "sint64": ScalarFamily.SIGNED_NUMBER,
    "fixed32": ScalarFamily.FIXED32,
    "sfixed32": ScalarFamily.FIXED32,
    "fixed64": ScalarFamily.FIXED64,
    "sfixed64": ScalarFamily.FIXED64,
    "float": ScalarFamily.FLOAT,
    "double": ScalarFamily.DOUBLE,
    "string": ScalarFamily.STRING_OR_BYTES,
    "bytes": ScalarFamily.STRING_OR_BYTES,
}


@dataclass(frozen=True, slots=True)
class FieldType:
    """`family` is None for what is no scalar; enums are numbers. `declared` is what a name means, None if it means nothing."""

    written: str | MapType
    family: ScalarFamily | None = None
    declared: DeclaredType | None = None

    @classmethod
    def of_field(cls, field: Field, table: TypeTable, scope: tuple[str, ...]) -> FieldType:
        """The type of a field within the messages of `scope`; a message that is the entry of a map is that map."""
        if field.map_type is not None:
            return cls(field.map_type)
        found = cls.of_name(field.type, table, scope)
        entry = found.declared.map_type if found.declared else None
        return cls(entry) if entry else found

    @classmethod
    def of_name(cls, name: str, table: TypeTable, scope: tuple[str, ...]) -> FieldType:
        family = FAMILY_OF_SCALAR.get(name)
        if family is not None:
            return cls(name, family)
        declared = table.find(name, scope)
        is_enum = declared is not None and isinstance(declared.element, Enum)
        return cls(name, ScalarFamily.NUMBER if is_enum else None, declared)

    @property
    def kind(self) -> Kind:
        if self.family is not None:
            return Kind.SCALAR
        return Kind.MAP if isinstance(self.written, MapType) else Kind.MESSAGE
