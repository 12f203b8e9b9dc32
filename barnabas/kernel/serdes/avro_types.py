"""Avro schemas as trees of types, with every name resolved."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.kernel.serdes.avro_names import full_name
from barnabas.kernel.serdes.serdes_error import SerdesError

PRIMITIVES: Final = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
NO_DEFAULT: Final = object()
SIZE_MAX: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class PrimitiveType:
    """`logical` is the annotation of the type; `scale` and `precision` (0: any) belong to that of a decimal."""

    name: str
    logical: str | None = None
    scale: int = 0
    precision: int = 0


@dataclass(frozen=True, slots=True)
class ArrayType:
    items: AvroType
    name: str = "array"


@dataclass(frozen=True, slots=True)
class MapType:
    values: AvroType
    name: str = "map"


@dataclass(frozen=True, slots=True)
class EnumType:
    name: str
    symbols: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FixedType:
    name: str
    size: int
    logical: str | None = None
    scale: int = 0
    precision: int = 0


@dataclass(frozen=True, slots=True)
class RecordField:
    name: str
    type: AvroType
    default: Any


@dataclass(frozen=True, slots=True, eq=False)
class RecordType:
    """Its fields come after it is made, since they may be of the record's own type."""

    name: str
    fields: list[RecordField] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class UnionType:
    branches: tuple[BranchType, ...]
    name: str = "union"


BranchType = PrimitiveType | ArrayType | MapType | EnumType | FixedType | RecordType
AvroType = BranchType | UnionType


def parse_types(text: str, referenced: Iterable[str] = ()) -> AvroType:
    """The type of a schema; the texts that it refers to come first, each after those that it needs itself."""
    reader = _TypeReader()
    try:
        for other in referenced:
            reader.read(json.loads(other), "")
        return reader.read(json.loads(text), "")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, SerdesError):
            raise
        raise SerdesError(f"not an Avro schema ({type(error).__name__}: {error}): {text[:200]}") from None
    except RecursionError:
        raise SerdesError("the Avro schema is nested too deeply") from None


class _TypeReader:
    def __init__(self) -> None:
        self._named: dict[str, BranchType] = {}

    def read(self, schema: Any, namespace: str) -> AvroType:
        if isinstance(schema, str):
            return self._named_type(schema, namespace)
        if isinstance(schema, list):
            return self._union(schema, namespace)
        kind = schema["type"]
        if kind in ("record", "error"):
            return self._record(schema, namespace)
        if kind == "enum":
            return self._remember(EnumType(full_name(schema, namespace), tuple(map(_name, schema["symbols"]))))
        if kind == "fixed":
            name = full_name(schema, namespace)
            return self._remember(FixedType(name, _size(schema["size"]), *_annotation(schema)))
        if kind == "array":
            return ArrayType(self.read(schema["items"], namespace))
        if kind == "map":
            return MapType(self.read(schema["values"], namespace))
        found = self.read(kind, namespace)
        if isinstance(found, PrimitiveType) and "logicalType" in schema:
            return PrimitiveType(found.name, *_annotation(schema))
        return found

    def _union(self, schemas: Sequence[Any], namespace: str) -> UnionType:
        """The name of a branch is all that says which one a value has."""
        branches = tuple(self._branch(each, namespace) for each in schemas)
        names = [branch.name for branch in branches]
        if len(set(names)) < len(names):
            raise SerdesError(
                f"an Avro union has two types named {next(each for each in names if names.count(each) > 1)}"
            )
        return UnionType(branches)

    def _branch(self, schema: Any, namespace: str) -> BranchType:
        found = self.read(schema, namespace)
        if isinstance(found, UnionType):
            raise SerdesError("an Avro union may not hold another union")
        return found

    def _named_type(self, name: str, namespace: str) -> BranchType:
        if name in PRIMITIVES:
            return PrimitiveType(name)
        full = f"{namespace}.{name}" if namespace and "." not in name else name
        found = self._named.get(full) or self._named.get(name)
        if found is None:
            raise SerdesError(f"the Avro schema uses the type {full!r}, which neither it nor a reference defines")
        return found

    def _record(self, schema: Mapping[str, Any], outer: str) -> RecordType:
        record = RecordType(full_name(schema, outer))
        namespace = record.name.rpartition(".")[0]
        self._remember(record)
        for each in schema["fields"]:
            kind = self.read(each["type"], namespace)
            record.fields.append(RecordField(_name(each["name"]), kind, each.get("default", NO_DEFAULT)))
        return record

    def _remember(self, found: EnumType | FixedType | RecordType) -> BranchType:
        if found.name in PRIMITIVES:
            raise SerdesError(f"the Avro schema gives a type the name {found.name}, which is that of a primitive type")
        self._named[found.name] = found
        return found


def _name(given: Any) -> str:
    if not isinstance(given, str):
        raise SerdesError(f"the Avro schema has the name {given!r}, which is no string")
    return given


def _size(given: Any) -> int:
    if type(given) is not int or not 0 <= given <= SIZE_MAX:
        raise SerdesError(f"the Avro schema has a fixed type of the size {given!r}: it must be from 0 to {SIZE_MAX}")
    return given


def _annotation(schema: Mapping[str, Any]) -> tuple[str | None, int, int]:
    """The logical type, the scale and the precision. All are left out where they are no such thing, as Avro demands."""
    logical, scale, precision = schema.get("logicalType"), schema.get("scale", 0), schema.get("precision", 0)
    is_valid = isinstance(logical, str) and type(scale) is int and type(precision) is int
    return (logical, scale, precision) if is_valid else (None, 0, 0)
