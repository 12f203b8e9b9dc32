"""Prints a type as Avro for Java does: this text is what the registry stores."""

from __future__ import annotations

from collections.abc import Iterable

from schema_registry.formats.avro.types import (
    ArrayType,
    AvroType,
    EnumType,
    Field,
    FixedType,
    MapType,
    NamedType,
    Order,
    PrimitiveType,
    Props,
    RecordType,
    UnionType,
)
from schema_registry.formats.json_text import print_compact, print_string
from schema_registry.formats.parsed_schema import NESTING_MAX_LEVELS, InvalidSchema


def print_type(a_type: AvroType, known_names: Iterable[str] = ()) -> str:
    """One line; named types are written out where they come first, unless `known_names` has them."""
    printer = _Printer(set(known_names))
    printer.type(a_type, None, 0)
    return "".join(printer.parts)


class _Printer:
    def __init__(self, known_names: set[str]) -> None:
        self.parts: list[str] = []
        self._known_names = known_names

    def type(self, a_type: AvroType, namespace: str | None, level: int) -> None:
        # A type that is defined late is written out where it is first used, so the text can nest deeper than the one that was read.
        if level > NESTING_MAX_LEVELS:
            raise InvalidSchema(
                f"types hold one another so that the schema nests more than {NESTING_MAX_LEVELS} levels deep"
            )
        match a_type:
            case PrimitiveType():
                self._primitive(a_type)
            case UnionType():
                self._union(a_type, namespace, level)
            case ArrayType():
                self.parts.append('{"type":"array","items":')
                self.type(a_type.items, namespace, level + 1)
                self._end(a_type.props)
            case MapType():
                self.parts.append('{"type":"map","values":')
                self.type(a_type.values, namespace, level + 1)
                self._end(a_type.props)
            case RecordType() | EnumType() | FixedType():
                self._named(a_type, namespace, level)

    def _primitive(self, a_type: PrimitiveType) -> None:
        if a_type.props:
            self.parts.append(f'{{"type":"{a_type.kind.value}"')
            self._end(a_type.props)
        else:
            self.parts.append(f'"{a_type.kind.value}"')

    def _union(self, union: UnionType, namespace: str | None, level: int) -> None:
        separator = "["
        for branch in union.branches:
            self.parts.append(separator)
            self.type(branch, namespace, level + 1)
            separator = ","
        self.parts.append("]" if union.branches else "[]")

    def _named(self, named: NamedType, namespace: str | None, level: int) -> None:
        if named.name.full in self._known_names:
            self.parts.append(print_string(named.name.relative_to(namespace)))
            return
        self._known_names.add(named.name.full)
        word = "error" if isinstance(named, RecordType) and named.is_error else named.kind.value
        self.parts.append(f'{{"type":"{word}","name":{print_string(named.name.short)}')
        if named.name.namespace != namespace:
            self._attribute("namespace", print_string(named.name.namespace or ""))
        if named.doc is not None:
            self._attribute("doc", print_string(named.doc))
        match named:
            case RecordType():
                self._fields(named, level)
            case EnumType():
                self._symbols(named)
            case FixedType():
                self._attribute("size", str(named.size))
        self._props(named.props)
        self._aliases([alias.relative_to(named.name.namespace) for alias in named.aliases])
        self.parts.append("}")

    def _symbols(self, an_enum: EnumType) -> None:
        self._attribute("symbols", f"[{','.join(map(print_string, an_enum.symbols))}]")
        if an_enum.default is not None:
            self._attribute("default", print_string(an_enum.default))

    def _fields(self, record: RecordType, level: int) -> None:
        self._attribute("fields", "[")
        separator = ""
        for field in record.fields.values():
            self.parts.append(f'{separator}{{"name":{print_string(field.name)},"type":')
            self.type(field.type, record.name.namespace, level + 3)
            self._field_attributes(field)
            separator = ","
        self.parts.append("]")

    def _field_attributes(self, field: Field) -> None:
        if field.doc is not None:
            self._attribute("doc", print_string(field.doc))
        if field.has_default:
            self._attribute("default", print_compact(field.default))
        if field.order is not Order.ASCENDING:
            self._attribute("order", f'"{field.order.value}"')
        self._aliases(field.aliases)
        self._end(field.props)

    def _aliases(self, aliases: Iterable[str]) -> None:
        texts = ",".join(map(print_string, aliases))
        if texts:
            self._attribute("aliases", f"[{texts}]")

    def _attribute(self, name: str, value: str) -> None:
        self.parts.append(f',"{name}":{value}')

    def _props(self, props: Props) -> None:
        for name, value in props.items():
            self.parts.append(f",{print_string(name)}:{print_compact(value)}")

    def _end(self, props: Props) -> None:
        self._props(props)
        self.parts.append("}")
