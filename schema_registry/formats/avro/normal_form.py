"""One text for all the ways of writing a schema: names in full, attributes in a fixed order, the rest sorted."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from schema_registry.formats.avro.complaint import excerpt
from schema_registry.formats.avro.default_values import NoValue, java_order, value_of
from schema_registry.formats.avro.types import (
    ArrayType,
    AvroType,
    EnumType,
    Field,
    FixedType,
    LogicalType,
    MapType,
    NamedType,
    PrimitiveType,
    Props,
    RecordType,
    UnionType,
)
from schema_registry.formats.json_text import JsonValue, print_compact, print_string
from schema_registry.formats.parsed_schema import InvalidSchema


def print_normal_form(a_type: AvroType, known_names: Iterable[str]) -> str:
    """A text that has to be parsed once more: attributes can occur twice, and names of attributes are written as they are."""
    printer = _Printer(set(known_names))
    printer.type(a_type)
    return "".join(printer.parts)


class _Printer:
    def __init__(self, known_names: set[str]) -> None:
        self.parts: list[str] = []
        self._known_names = known_names

    def type(self, a_type: AvroType) -> None:
        match a_type:
            case PrimitiveType():
                self._primitive(a_type)
            case UnionType():
                self._union(a_type)
            case ArrayType():
                self.parts.append('{"type":"array","items":')
                self.type(a_type.items)
                self._end(a_type.logical, a_type.props)
            case MapType():
                self.parts.append('{"type":"map","values":')
                self.type(a_type.values)
                self._end(a_type.logical, a_type.props)
            case RecordType() | EnumType() | FixedType():
                self._named(a_type)

    def _primitive(self, a_type: PrimitiveType) -> None:
        if a_type.props:
            self.parts.append(f'{{"type":"{a_type.kind.value}"')
            self._end(a_type.logical, a_type.props)
        else:
            self.parts.append(f'"{a_type.kind.value}"')

    def _union(self, union: UnionType) -> None:
        separator = "["
        for branch in union.branches:
            self.parts.append(separator)
            self.type(branch)
            separator = ","
        self.parts.append("]" if union.branches else "[]")

    def _named(self, named: NamedType) -> None:
        if named.name.full in self._known_names:
            self.parts.append(f'"{named.name.full}"')
            return
        self._known_names.add(named.name.full)
        self.parts.append(f'{{"name":"{named.name.full}","type":"{named.kind.value}"')
        match named:
            case RecordType():
                self._fields(named)
            case EnumType():
                symbols = ",".join([f'"{symbol}"' for symbol in named.symbols])
                self.parts.append(f',"symbols":[{symbols}]')
            case FixedType():
                self.parts.append(f',"size":{named.size}')
        self._logical(named.logical)
        if named.doc:
            self.parts.append(f',"doc":{print_string(named.doc)}')
        # An alias without a namespace is marked with a dot, lest it be taken for one in the namespace of the type.
        marked = named.name.namespace is not None
        self._aliases([f".{a.short}" if marked and a.namespace is None else a.full for a in named.aliases])
        if isinstance(named, EnumType) and named.default is not None:
            self.parts.append(f',"default":{print_string(named.default)}')
        self._props(named.props)
        self.parts.append("}")

    def _fields(self, record: RecordType) -> None:
        self.parts.append(',"fields":[')
        separator = ""
        for field in record.fields.values():
            self.parts.append(f'{separator}{{"name":"{field.name}","type":')
            self.type(field.type)
            self._field_attributes(field)
            separator = ","
        self.parts.append("]")

    def _field_attributes(self, field: Field) -> None:
        self.parts.append(f',"order":"{field.order.name}"')
        if field.doc is not None:
            self.parts.append(f',"doc":{print_string(field.doc)}')
        self._aliases(field.aliases)
        if isinstance(field.type, UnionType) and not field.type.branches:
            raise InvalidSchema(
                f"the schema cannot be normalised: the union of field {field.name} is empty; add types to it"
            )
        if field.has_default:
            with suppress(NoValue):  # Confluent's normal form is without such a default.
                self.parts.append(f',"default":{print_compact(value_of(field.default, field.type))}')
        self._props(field.props)
        self.parts.append("}")

    def _aliases(self, aliases: Iterable[str]) -> None:
        texts = ",".join(print_string(alias) for alias in sorted(aliases, key=java_order))
        if texts:
            self.parts.append(f',"aliases":[{texts}]')

    def _logical(self, logical: LogicalType | None) -> None:
        if logical:
            self.parts.append(f',"logicalType":"{logical.name}"')
            if logical.precision is not None:
                self.parts.append(f',"precision":{logical.precision}')
                self.parts.append(f',"scale":{logical.scale}' if logical.scale else "")

    def _props(self, props: Props) -> None:
        for name in sorted(props, key=java_order):
            self.parts.append(f',"{name}":{_normal_prop(name, props[name])}')

    def _end(self, logical: LogicalType | None, props: Props) -> None:
        self._logical(logical)
        self._props(props)
        self.parts.append("}")


def _normal_prop(name: str, value: JsonValue) -> str:
    try:
        return print_compact(value_of(value, None))
    except NoValue:
        what = f"the schema cannot be normalised: {name} holds the number {excerpt(value)} of more than 64 bits"
        raise InvalidSchema(f"{what}; write it in quotes, or register without normalize") from None
