"""Reads Avro schemas by the rules of Avro 1.12.1 for Java."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

from schema_registry.formats import json_text
from schema_registry.formats.avro import logical_types, names
from schema_registry.formats.avro.complaint import excerpt, refuse
from schema_registry.formats.avro.defaults import INT_RANGE, LONG_RANGE, DefaultRules
from schema_registry.formats.avro.resolution import Holder, Unresolved, check_union, refuse_default, resolve
from schema_registry.formats.avro.sameness import is_same
from schema_registry.formats.avro.types import (
    PRIMITIVES,
    ArrayType,
    AvroType,
    EnumType,
    Field,
    FixedType,
    Kind,
    MapType,
    Name,
    NamedType,
    Order,
    PrimitiveType,
    RecordType,
    UnionType,
)
from schema_registry.formats.json_text import JsonValue
from schema_registry.formats.parsed_schema import InvalidSchema

JsonObject: TypeAlias = dict[str, JsonValue]

_Holder = TypeVar("_Holder", ArrayType, MapType, UnionType, Field)
_Named = TypeVar("_Named", RecordType, EnumType, FixedType)
_Carrier = TypeVar("_Carrier", PrimitiveType, ArrayType, MapType, RecordType, EnumType, FixedType)

FIXED_SIZE_MAX_BYTES = 2**31 - 1 - 8
"""The longest array of a Java machine."""

_DIALECT: Final = json_text.Dialect(comments=True, exact_decimals=False)
_JAVA_BLANKS: Final = "".join(map(chr, range(0x21)))
_TYPE_ATTRIBUTES: Final = frozenset(
    ("doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases")
)
_ENUM_ATTRIBUTES: Final = _TYPE_ATTRIBUTES | {"default"}
_FIELD_ATTRIBUTES: Final = frozenset(("default", "doc", "name", "order", "type", "aliases"))
_JAVA_DOUBLE: Final = re.compile(
    r"[+-]?(?:NaN|Infinity|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    r"|(?P<hex>0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+))[fFdD]?)"
)


@dataclass(frozen=True, slots=True)
class _Node:
    """An object of the text, where it is, and the namespace that applies there."""

    members: JsonObject
    namespace: str | None
    path: str

    def text(self, attribute: str) -> str | None:
        """Avro takes an attribute of a wrong type for one that is not there."""
        value = self.members.get(attribute)
        return value if isinstance(value, str) else None

    def props(self, attributes: frozenset[str]) -> JsonObject:
        return {name: value for name, value in self.members.items() if name not in attributes}


class Parser:
    """Reads schemas one after the other; each may use the named types of those before it."""

    def __init__(self, name_rule: names.NameRule, *, checks_defaults: bool) -> None:
        self._name_rule = name_rule
        self._default_rules = DefaultRules() if checks_defaults else None
        self._types: dict[str, NamedType] = {}
        self._unresolved: list[Holder] = []

    def parse(self, text: str) -> AvroType:
        trimmed = text.rstrip(_JAVA_BLANKS)
        if not trimmed:
            raise InvalidSchema('the schema is empty; the shortest one is a type in quotes, such as "string"')
        root = self._type(json_text.parse(trimmed, _DIALECT), None, "$")
        resolve(root, self._unresolved, self._types, checks_defaults=self._default_rules is not None)
        self._unresolved = []
        return self._types[root.name.full] if isinstance(root, NamedType) else root

    def _type(self, node: JsonValue, namespace: str | None, path: str) -> AvroType:
        if isinstance(node, str):
            return self._named(node, namespace, path)
        if isinstance(node, list):
            return self._union(node, namespace, path)
        if not isinstance(node, dict):
            advice = "write the name of a type, an object or an array"
            refuse(f"Schema not yet supported: {excerpt(node)}", path, advice)
        return self._complex(_Node(node, namespace, path))

    def _named(self, name: str, namespace: str | None, path: str) -> AvroType:
        kind = PRIMITIVES.get(name)
        if kind:
            return PrimitiveType(kind, {})
        full = f"{namespace}.{name}" if namespace and "." not in name else name
        return self._types.get(full) or self._types.get(name) or Unresolved.at(path, full)

    def _complex(self, node: _Node) -> AvroType:
        word = node.text("type")
        if word is None:
            refuse(f"No type: {excerpt(node.members)}", node.path, 'add "type" with the name of a type')
        if word in PRIMITIVES:
            return _with_logical_type(PrimitiveType(PRIMITIVES[word], node.props(_TYPE_ATTRIBUTES)))
        match word:
            case "record" | "error":
                return self._record(node, is_error=word == "error")
            case "enum":
                return self._enum(node)
            case "fixed":
                return self._fixed(node)
            case "array":
                return self._array(node)
            case "map":
                return self._map(node)
            case _:
                return self._named(word, node.namespace, f"{node.path}.type")

    def _union(self, nodes: list[JsonValue], namespace: str | None, path: str) -> UnionType:
        union = UnionType([])
        for index, node in enumerate(nodes):
            union.branches.append(self._type(node, namespace, f"{path}[{index}]"))
        check_union(union, path)
        return self._noted(union, union.branches)

    def _array(self, node: _Node) -> ArrayType:
        if "items" not in node.members:
            refuse(f"Array has no items type: {excerpt(node.members)}", node.path, 'add "items"')
        items = self._type(node.members["items"], node.namespace, f"{node.path}.items")
        return self._noted(_with_logical_type(ArrayType(items, _small_props(node))), [items])

    def _map(self, node: _Node) -> MapType:
        if "values" not in node.members:
            refuse(f"Map has no values type: {excerpt(node.members)}", node.path, 'add "values"')
        values = self._type(node.members["values"], node.namespace, f"{node.path}.values")
        return self._noted(_with_logical_type(MapType(values, _small_props(node))), [values])

    def _record(self, node: _Node, *, is_error: bool) -> RecordType:
        name = self._name(node)
        nodes = node.members.get("fields")
        if not isinstance(nodes, list):
            refuse(
                f"Record has no fields: {excerpt(node.members)}",
                node.path,
                'add "fields": an array, which may be empty',
            )
        fields: dict[str, Field] = {}
        for index, element in enumerate(nodes):
            path = f"{node.path}.fields[{index}]"
            field = self._field(_Node(element if isinstance(element, dict) else {}, name.namespace, path))
            if field.name in fields:
                refuse(f"Duplicate field {field.name} in record {name.full}", path, "rename one of the two")
            fields[field.name] = field
        record = RecordType(name, node.text("doc"), is_error, fields, self._aliases(node, name), _small_props(node))
        return self._added(record, node.path)

    def _field(self, node: _Node) -> Field:
        name = node.text("name")
        if name is None:
            refuse(f"No field name: {excerpt(node.members)}", node.path, 'write an object with "name" and "type"')
        self._check_name(name, node.path)
        if "type" not in node.members:
            refuse(f"No field type: {excerpt(node.members)}", node.path, f'add "type" to field {name}')
        a_type = self._type(node.members["type"], node.namespace, f"{node.path}.type")
        default = node.members.get("default")
        if isinstance(default, str) and a_type.kind in (Kind.FLOAT, Kind.DOUBLE):
            default = _java_double(default, node.path)
        field = Field(
            name=name,
            type=a_type,
            doc=node.text("doc"),
            has_default="default" in node.members,
            default=default,
            order=_order(node),
            aliases=_alias_texts(node),
            props=node.props(_FIELD_ATTRIBUTES),
        )
        if self._default_rules and field.has_default and not self._default_rules.fits(default, a_type):
            refuse_default(field, node.path)
        return self._noted(field, [a_type])

    def _enum(self, node: _Node) -> EnumType:
        name = self._name(node)
        nodes = node.members.get("symbols")
        if not isinstance(nodes, list):
            refuse(f"Enum has no symbols: {excerpt(node.members)}", node.path, 'add "symbols": an array of names')
        symbols: dict[str, None] = {}
        for index, symbol in enumerate(nodes):
            path = f"{node.path}.symbols[{index}]"
            if not isinstance(symbol, str):
                refuse("Null name", path, f"a symbol is a name in quotes, not {excerpt(symbol)}")
            self._check_name(symbol, path)
            if symbol in symbols:
                refuse(f"Duplicate enum symbol: {symbol}", path, "remove one of the two")
            symbols[symbol] = None
        default = node.text("default")
        if default is not None and default not in symbols:
            what = f"The Enum Default: {default} is not in the enum symbol set: [{', '.join(symbols)}]"
            refuse(what, node.path, "take a symbol of the enum for its default")
        props = node.props(_ENUM_ATTRIBUTES)
        return self._added(
            EnumType(name, node.text("doc"), tuple(symbols), default, self._aliases(node, name), props), node.path
        )

    def _fixed(self, node: _Node) -> FixedType:
        name = self._name(node)
        size = node.members.get("size")
        if not isinstance(size, int) or isinstance(size, bool) or size not in INT_RANGE:
            refuse(f"Invalid or no size: {excerpt(node.members)}", node.path, 'add "size": a whole number of bytes')
        if size < 0:
            refuse(f"Malformed data. Length is negative: {size}", node.path, "take a size of 0 or more")
        if size > FIXED_SIZE_MAX_BYTES:
            what = f"Cannot read arrays longer than {FIXED_SIZE_MAX_BYTES} bytes in Java library"
            refuse(what, node.path, f"the size {size} is too big")
        props = node.props(_TYPE_ATTRIBUTES)
        return self._added(FixedType(name, node.text("doc"), size, self._aliases(node, name), props), node.path)

    def _name(self, node: _Node) -> Name:
        text = node.text("name")
        if text is None:
            refuse(f"No name in schema: {excerpt(node.members)}", node.path, f'add "name" to the {node.text("type")}')
        namespace = node.text("namespace")
        name = Name.of(text, node.namespace if namespace is None else namespace)
        self._check_name(name.short, node.path)
        if name.full in PRIMITIVES:
            refuse(f"Schemas may not be named after primitives: {name.full}", node.path, "choose another name")
        return name

    def _aliases(self, node: _Node, name: Name) -> tuple[Name, ...]:
        aliases = [Name.of(alias, name.namespace) for alias in _alias_texts(node)]
        for alias in aliases:
            self._check_name(alias.short, f"{node.path}.aliases")
        return tuple(dict.fromkeys(aliases))

    def _added(self, named: _Named, path: str) -> _Named:
        for part in named.name.full.split(".")[:-1]:
            fault = self._name_rule(part)
            if fault:
                refuse(f'Namespace part "{part}" is invalid: {fault}', path, names.ADVICE)
        known = self._types.setdefault(named.name.full, named)
        if not is_same(known, named):
            what = f"Can't redefine: {named.name.full}"
            refuse(what, path, "define the type once and use its name in the other places, or choose another name")
        return _with_logical_type(named)

    def _check_name(self, name: str, path: str) -> None:
        fault = self._name_rule(name)
        if fault:
            refuse(fault, path, names.ADVICE)

    def _noted(self, holder: _Holder, types: Sequence[AvroType]) -> _Holder:
        """Remember what holds types that are not known yet."""
        if any(isinstance(a_type, Unresolved) for a_type in types):
            self._unresolved.append(holder)
        return holder


def _order(node: _Node) -> Order:
    if "order" not in node.members:
        return Order.ASCENDING
    word = node.text("order")
    try:
        return Order[(word or "").upper()]
    except KeyError:
        what = f"No enum constant of order: {excerpt(node.members['order'])}"
        refuse(what, f"{node.path}.order", "write ascending, descending or ignore")


def _alias_texts(node: _Node) -> tuple[str, ...]:
    aliases = node.members.get("aliases", [])
    if not isinstance(aliases, list):
        refuse(f"aliases not an array: {excerpt(node.members)}", node.path, "write an array of names")
    texts: dict[str, None] = {}
    for alias in aliases:
        if not isinstance(alias, str):
            refuse(f"alias not a string: {excerpt(alias)}", f"{node.path}.aliases", "write each alias in quotes")
        texts[alias] = None
    return tuple(texts)


def _java_double(text: str, path: str) -> float:
    """Avro takes a text for the default of a float or double, if Java can read a number in it."""
    number = text.strip(_JAVA_BLANKS)
    found = _JAVA_DOUBLE.fullmatch(number)
    if not found:
        refuse(f'For input string: "{text}"', f"{path}.default", "write a number without quotes")
    digits = number.rstrip("fFdD")
    try:
        return float.fromhex(digits) if found["hex"] else float(digits)
    except OverflowError:
        return float("-inf" if digits.startswith("-") else "inf")


def _with_logical_type(carrier: _Carrier) -> _Carrier:
    carrier.logical = logical_types.recognised(carrier)
    if carrier.logical and isinstance(carrier, (RecordType, ArrayType, MapType)):
        # Avro builds these types anew and sets the logical type before all other attributes.
        carrier.props = {logical_types.LOGICAL_TYPE: carrier.logical.name, **carrier.props}
    return carrier


def _small_props(node: _Node) -> JsonObject:
    """The attributes of a type that holds others: Avro builds it anew and cannot copy whole numbers of more than 64 bits."""
    props = node.props(_TYPE_ATTRIBUTES)
    for name, value in props.items():
        if _holds_big_number(value):
            refuse(
                f"Can't set a property to null: {name}", node.path, "write whole numbers of more than 64 bits in quotes"
            )
    return props


def _holds_big_number(value: JsonValue) -> bool:
    match value:
        case bool():
            return False
        case int():
            return value not in LONG_RANGE
        case list():
            return any(map(_holds_big_number, value))
        case dict():
            return any(map(_holds_big_number, value.values()))
        case _:
            return False
