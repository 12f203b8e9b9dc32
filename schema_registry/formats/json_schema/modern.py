"""Reads schemas of the drafts 2019-09 and 2020-12 into nodes.

Here every keyword is a small schema of its own, `$ref` among them; joining.py makes one node of them all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from barnabas.kernel.java.hash_map import hash_map_order
from schema_registry.formats.json_schema.joining import flattened, join
from schema_registry.formats.json_schema.node import (
    ArrayNode,
    BooleanNode,
    CombinedNode,
    ConditionalNode,
    ConstNode,
    Criterion,
    EmptyNode,
    EnumNode,
    FalseNode,
    Node,
    NotNode,
    NullNode,
    NumberNode,
    ObjectNode,
    ReferenceNode,
    StringNode,
    Target,
    TrueNode,
)
from schema_registry.formats.json_schema.place import Place
from schema_registry.formats.json_schema.reader import SchemaReader
from schema_registry.formats.json_schema.resolution import Library
from schema_registry.formats.parsed_schema import InvalidSchema

_TYPES: dict[str, Callable[[], Node]] = {
    "string": lambda: StringNode(typed=True),
    "integer": lambda: NumberNode(typed=True, integer=True),
    "number": lambda: NumberNode(typed=True),
    "boolean": BooleanNode,
    "null": NullNode,
    "array": lambda: ArrayNode(typed=True),
    "object": lambda: ObjectNode(typed=True),
}
_SIMPLE: dict[str, Callable[[Place], Node]] = {
    "minLength": lambda place: StringNode(min_length=place.integer("minLength")),
    "maxLength": lambda place: StringNode(max_length=place.integer("maxLength")),
    "pattern": lambda place: StringNode(pattern=place.string("pattern")),
    "minimum": lambda place: NumberNode(minimum=place.number("minimum")),
    "maximum": lambda place: NumberNode(maximum=place.number("maximum")),
    "exclusiveMinimum": lambda place: NumberNode(exclusive_minimum=place.number("exclusiveMinimum")),
    "exclusiveMaximum": lambda place: NumberNode(exclusive_maximum=place.number("exclusiveMaximum")),
    "multipleOf": lambda place: NumberNode(multiple_of=place.number("multipleOf")),
    "minItems": lambda place: ArrayNode(min_items=place.integer("minItems")),
    "maxItems": lambda place: ArrayNode(max_items=place.integer("maxItems")),
    "uniqueItems": lambda place: ArrayNode(unique_items=bool(place.boolean("uniqueItems"))),
    "minProperties": lambda place: ObjectNode(min_properties=place.integer("minProperties")),
    "maxProperties": lambda place: ObjectNode(max_properties=place.integer("maxProperties")),
    "required": lambda place: ObjectNode(required=place.child("required").strings()),
    "const": lambda place: ConstNode(value=place.child("const").value),
}
# Keywords that say nothing about compatibility, and those that others read along.
_SILENT = frozenset(
    {
        "$id",
        "$anchor",
        "$dynamicRef",
        "$dynamicAnchor",
        "$defs",
        "$schema",
        "$vocabulary",
        "title",
        "description",
        "deprecated",
        "default",
        "properties",
        "patternProperties",
        "then",
        "else",
        "minContains",
        "maxContains",
        "unevaluatedItems",
        "unevaluatedProperties",
        "false",
        "true",
    }
)
_NOTHING = ("format", "readOnly", "writeOnly")


class ModernReader(SchemaReader):
    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self._targets: dict[int, Target] = {}
        self._applicators: dict[str, Callable[[Place], Node]] = {
            "$ref": lambda place: self._reference(place, "$ref"),
            "type": _typed,
            "enum": _enumerated,
            "additionalProperties": self._additional_properties,
            "propertyNames": lambda place: ObjectNode(property_names=self._read(place.child("propertyNames"))),
            "dependentRequired": _dependent_required,
            "dependentSchemas": lambda place: ObjectNode(
                schema_dependencies=self._members(place.object("dependentSchemas"))
            ),
            "items": self._items,
            "prefixItems": lambda place: ArrayNode(
                tuple_items=tuple(self._members(place.array("prefixItems")).values())
            ),
            "contains": self._contains,
            "not": lambda place: NotNode(forbidden=self._read(place.child("not"))),
            "if": self._conditional,
            "allOf": lambda place: self._combined(place, Criterion.ALL),
            "anyOf": lambda place: self._combined(place, Criterion.ANY),
            "oneOf": lambda place: self._combined(place, Criterion.ONE),
        }

    def _read_object(self, place: Place) -> Node:
        joined = self._joined(place)
        if isinstance(joined, CombinedNode) and joined.generated and joined.criterion is Criterion.ALL:
            if not joined.subschemas:
                joined = EmptyNode()
            elif len(joined.subschemas) == 1:
                joined = joined.subschemas[0]
        node = self._described(joined, place)
        if place.has("$dynamicRef"):
            return replace(join(self._reference(place, "$dynamicRef"), node), source=place.value)
        return node

    def _joined(self, place: Place) -> Node:
        """All keywords as one node, in the order in which a hash table holds them; properties come last."""
        assert isinstance(place.value, dict)
        product: Node | None = None
        for keyword in hash_map_order(place.value):
            part = self._keyword(keyword, place)
            if part is not None:
                part = replace(part, source=place.value)
                product = part if product is None else join(product, part)
        if product is None:
            product = CombinedNode(criterion=Criterion.ALL, generated=True)
        for part in self._late_parts(place):
            product = join(product, replace(part, source=place.value))
        return product

    def _keyword(self, keyword: str, place: Place) -> Node | None:
        if keyword in _SIMPLE:
            return _SIMPLE[keyword](place)
        if keyword in self._applicators:
            return self._applicators[keyword](place)
        if keyword in _NOTHING and (keyword == "format" or place.boolean(keyword)):
            place.string("format")
            return CombinedNode(criterion=Criterion.ALL, generated=True)
        return None

    def _late_parts(self, place: Place) -> list[Node]:
        parts: list[Node] = []
        properties = self._members(place.object("properties"))
        if properties:
            parts.append(ObjectNode(properties=properties))
        patterns = self._members(place.object("patternProperties"))
        if patterns:
            parts.append(ObjectNode(pattern_properties=patterns))
        if place.has("unevaluatedItems"):
            parts.append(ArrayNode(unevaluated=self._read(place.child("unevaluatedItems"))))
        if place.has("unevaluatedProperties"):
            parts.append(ObjectNode(unevaluated=self._read(place.child("unevaluatedProperties"))))
        return parts

    def _described(self, node: Node, place: Place) -> Node:
        assert isinstance(place.value, dict)
        known = {*_SILENT, *_NOTHING, *_SIMPLE, *self._applicators}
        extras = {name: value for name, value in place.value.items() if name not in known}
        defs = place.object("$defs")
        for _, child in defs.children() if defs is not None else ():
            self._read(child)
        referring = isinstance(node, ReferenceNode)
        place.boolean("deprecated")
        node = replace(
            node,
            source=place.value,
            title=place.string("title"),
            description=place.string("description"),
            has_default=place.value.get("default") is not None and not referring,
            default=None if referring else place.value.get("default"),
            extras=extras,
        )
        return _without_counts(node) if extras or (defs is not None and defs.value) else node

    def _reference(self, place: Place, keyword: str) -> Node:
        reference = place.string(keyword)
        assert reference is not None
        found = self._library.find(reference, place)
        if id(found.value) not in self._targets:
            self._targets[id(found.value)] = self._read_later(found)
        return ReferenceNode(source=place.value, reference=reference, target=self._targets[id(found.value)])

    def _combined(self, place: Place, criterion: Criterion) -> Node:
        """A member that is itself made of several keywords is spread out among its neighbours, also in anyOf and oneOf."""
        members = self._members(place.array(criterion)).values()
        return CombinedNode(
            criterion=criterion, subschemas=tuple(part for member in members for part in flattened(member))
        )

    def _additional_properties(self, place: Place) -> Node:
        additional = self._read(place.child("additionalProperties"))
        if isinstance(additional, FalseNode):
            return ObjectNode(permits_additional=False)
        return ObjectNode() if isinstance(additional, TrueNode) else ObjectNode(additional=additional)

    def _items(self, place: Place) -> Node:
        items = self._read(place.child("items"))
        if isinstance(items, FalseNode):
            return ArrayNode(additional_forbidden=True)
        if isinstance(items, TrueNode):
            return ArrayNode()
        prefix = place.array("prefixItems")
        return ArrayNode(additional=items) if prefix is not None and prefix.value else ArrayNode(items=items)

    def _contains(self, place: Place) -> Node:
        least = place.number_if_any("minContains")
        return ArrayNode(
            contains=self._read(place.child("contains")),
            min_contains=1 if least is None else least,
            max_contains=place.number_if_any("maxContains"),
        )

    def _conditional(self, place: Place) -> Node:
        return ConditionalNode(
            condition=self._optional(place, "if"),
            consequence=self._optional(place, "then"),
            alternative=self._optional(place, "else"),
        )


def _typed(place: Place) -> Node:
    declared = place.child("type")
    if isinstance(declared.value, str):
        return _of_type(declared.value, declared)
    if not isinstance(declared.value, list):
        declared.refuse("the name of a type, or an array of such names")
    members = tuple(_of_type(name, declared) for name in declared.strings())
    return CombinedNode(criterion=Criterion.ANY, subschemas=members, generated=True)


def _of_type(name: str, place: Place) -> Node:
    if name not in _TYPES:
        raise InvalidSchema(f"{place}: unknown type: [{name}]; the types are {', '.join(_TYPES)}")
    return replace(_TYPES[name](), source={"type": name})


def _enumerated(place: Place) -> Node:
    declared = place.array("enum")
    assert declared is not None
    assert isinstance(declared.value, list)
    return EnumNode(values=tuple(declared.value))


def _dependent_required(place: Place) -> Node:
    declared = place.object("dependentRequired")
    assert declared is not None
    dependencies = {name: child.strings() for name, child in declared.children()}
    return ObjectNode(property_dependencies={name: names for name, names in dependencies.items() if names})


def _without_counts(node: Node) -> Node:
    """Where unknown keywords or `$defs` stand beside them, the validator forgets these keywords."""
    if isinstance(node, ArrayNode):
        return replace(node, unevaluated=None, min_contains=None, max_contains=None)
    return replace(node, unevaluated=None) if isinstance(node, ObjectNode) else node
