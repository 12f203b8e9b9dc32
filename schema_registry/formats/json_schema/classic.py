"""Reads schemas of the drafts 4, 6 and 7 into nodes.

Keywords that stand side by side become an allOf of one node each; beside `$ref` all others are ignored, as these drafts say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from schema_registry.formats.json_schema.bounds import double
from schema_registry.formats.json_schema.draft import Draft
from schema_registry.formats.json_schema.node import (
    ArrayNode,
    BooleanNode,
    CombinedNode,
    ConditionalNode,
    ConstNode,
    Criterion,
    EmptyNode,
    EnumNode,
    Node,
    NotNode,
    NullNode,
    NumberNode,
    ObjectNode,
    ReferenceNode,
    StringNode,
    Target,
)
from schema_registry.formats.json_schema.place import Place
from schema_registry.formats.json_schema.reader import SchemaReader
from schema_registry.formats.json_schema.resolution import Library
from schema_registry.formats.json_schema.uri import resolve
from schema_registry.formats.parsed_schema import InvalidSchema

_STRING_KEYWORDS = ("minLength", "maxLength", "pattern", "format")
_NUMBER_KEYWORDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_ARRAY_KEYWORDS = ("items", "additionalItems", "minItems", "maxItems", "uniqueItems")
_OBJECT_KEYWORDS = (
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "dependencies",
    "patternProperties",
    "additionalProperties",
)
_CONDITIONAL_KEYWORDS = ("if", "then", "else")
_FORMATS = {
    Draft.FOUR: ("date-time", "uri", "email", "ipv4", "ipv6", "hostname"),
    Draft.SIX: ("json-pointer", "uri-reference", "uri-template"),
    Draft.SEVEN: ("date", "time", "regex", "relative-json-pointer"),
}


class ClassicReader(SchemaReader):
    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self._targets: dict[str, Target] = {}
        self._types: dict[str, Callable[[Place], Node]] = {
            "string": lambda place: self._string(place, typed=True),
            "integer": lambda place: replace(self._number(place, typed=True), integer=True),
            "number": lambda place: self._number(place, typed=True),
            "boolean": lambda place: BooleanNode(source=place.value),
            "null": lambda place: NullNode(source=place.value),
            "array": lambda place: self._array(place, typed=True),
            "object": lambda place: self._object(place, typed=True),
        }

    def _read_object(self, place: Place) -> Node:
        if place.has("$ref"):
            return self._described(self._reference(place), place, {"$ref"})
        parts, consumed = self._parts(place)
        if not parts:
            node: Node = EmptyNode(source=place.value)
        elif len(parts) == 1:
            node = parts[0]
        else:
            node = CombinedNode(source=place.value, criterion=Criterion.ALL, subschemas=tuple(parts), generated=True)
        return self._described(node, place, consumed)

    def _parts(self, place: Place) -> tuple[list[Node], set[str]]:
        """One node for each group of keywords, and the keywords that they say everything about."""
        parts: list[Node] = []
        consumed: set[str] = set()
        values = place.array("enum")
        if values is not None and isinstance(values.value, list):
            parts.append(EnumNode(source=place.value, values=tuple(values.value)))
        for criterion in Criterion:
            members = place.array(criterion)
            if members is not None:
                subschemas = tuple(self._read(child) for _, child in members.children())
                parts.append(CombinedNode(source=place.value, criterion=criterion, subschemas=subschemas))
        if place.has("not"):
            parts.append(NotNode(source=place.value, forbidden=self._read(place.child("not"))))
        consumed |= {"enum", "not", *Criterion}
        if place.draft > Draft.FOUR and place.has("const"):
            parts.append(ConstNode(source=place.value, value=place.child("const").value))
            consumed.add("const")
        parts += self._typed_parts(place, consumed)
        parts += self._untyped_parts(place, consumed)
        return parts, consumed

    def _typed_parts(self, place: Place, consumed: set[str]) -> list[Node]:
        if not place.has("type"):
            return []
        consumed.add("type")
        declared = place.child("type")
        if isinstance(declared.value, list):
            members = tuple(self._of_type(name, place, consumed) for name in dict.fromkeys(declared.strings()))
            return [CombinedNode(source=place.value, criterion=Criterion.ANY, subschemas=members)]
        if not isinstance(declared.value, str):
            declared.refuse("the name of a type, or an array of such names")
        return [self._of_type(declared.value, place, consumed)]

    def _of_type(self, name: str, place: Place, consumed: set[str]) -> Node:
        if name not in self._types:
            raise InvalidSchema(f"{place}: unknown type: [{name}]; the types are {', '.join(self._types)}")
        consumed.update(_keywords_of_type(name, place.draft))
        return self._types[name](place)

    def _untyped_parts(self, place: Place, consumed: set[str]) -> list[Node]:
        """Keywords of a type that `type` does not name still hold for values of that type."""
        parts: list[Node] = []
        readers: tuple[tuple[str, Callable[[Place], Node]], ...] = (
            ("array", self._array),
            ("object", self._object),
            ("number", self._number),
            ("string", self._string),
        )
        for name, read in readers:
            keywords = _keywords_of_type(name, place.draft)
            if place.has_any(tuple(keyword for keyword in keywords if keyword not in consumed)):
                parts.append(read(place))
                consumed.update(keywords)
        if place.draft is Draft.SEVEN and place.has_any(_CONDITIONAL_KEYWORDS):
            parts.append(self._conditional(place))
            consumed.update(_CONDITIONAL_KEYWORDS)
        return parts

    def _conditional(self, place: Place) -> Node:
        return ConditionalNode(
            source=place.value,
            condition=self._optional(place, "if"),
            consequence=self._optional(place, "then"),
            alternative=self._optional(place, "else"),
        )

    def _described(self, node: Node, place: Place, consumed: set[str]) -> Node:
        """The node with its names, its default, and what nobody understood."""
        assert isinstance(place.value, dict)
        known = consumed | {place.draft.id_keyword, "title", "description", "default"}
        if place.draft is Draft.SEVEN:
            place.boolean("readOnly")
            place.boolean("writeOnly")
        extras = {name: value for name, value in place.value.items() if name not in known}
        # A reference never carries a default of its own: the validator forgets it, so a required property wants another one.
        referring = isinstance(node, ReferenceNode)
        described = replace(
            node,
            identifier=None if referring else place.string(place.draft.id_keyword),
            title=place.string("title"),
            description=place.string("description"),
            has_default=place.has("default") and not referring,
            default=None if referring else place.value.get("default"),
            extras=extras,
        )
        if isinstance(described, ArrayNode):
            # These keywords came later; where an older draft has them they are compared all the same.
            least, most = place.number_if_any("minContains"), place.number_if_any("maxContains")
            return replace(described, min_contains=least, max_contains=most)
        return described

    def _reference(self, place: Place) -> Node:
        reference = place.string("$ref")
        assert reference is not None
        found = self._library.find(reference, place)
        absolute = f"{place.document.name} {resolve(place.base, reference)}"
        if absolute not in self._targets:
            self._targets[absolute] = self._read_later(found)
        return ReferenceNode(source=place.value, reference=reference, target=self._targets[absolute])

    def _string(self, place: Place, *, typed: bool = False) -> StringNode:
        form = place.string("format")
        known = [name for draft, names in _FORMATS.items() if draft <= place.draft for name in names]
        return StringNode(
            source=place.value,
            typed=typed,
            min_length=place.integer("minLength"),
            max_length=place.integer("maxLength"),
            pattern=place.string("pattern"),
            format=form if form in known else None,
        )

    def _number(self, place: Place, *, typed: bool = False) -> NumberNode:
        multiple_of = place.number("multipleOf")
        if multiple_of is not None and double(multiple_of) == 0:
            raise InvalidSchema(f"{place}: multipleOf should not be 0")
        exclusive = {}
        for keyword in ("exclusiveMinimum", "exclusiveMaximum"):
            if place.draft is Draft.FOUR:
                place.boolean(keyword)
            else:
                exclusive[keyword] = place.number(keyword)
        return NumberNode(
            source=place.value,
            typed=typed,
            minimum=place.number("minimum"),
            maximum=place.number("maximum"),
            exclusive_minimum=exclusive.get("exclusiveMinimum"),
            exclusive_maximum=exclusive.get("exclusiveMaximum"),
            multiple_of=multiple_of,
        )

    def _array(self, place: Place, *, typed: bool = False) -> ArrayNode:
        items: Node | None = None
        tuple_items: tuple[Node, ...] = ()
        if place.has("items"):
            declared = place.child("items")
            if isinstance(declared.value, list):
                tuple_items = tuple(self._read(child) for _, child in declared.children())
            elif place.draft is Draft.FOUR and isinstance(declared.value, bool):
                declared.refuse("an object or an array")
            else:
                items = self._read(declared)
        permitted, additional = self._additional(place, "additionalItems")
        return ArrayNode(
            source=place.value,
            typed=typed,
            items=items,
            tuple_items=tuple_items,
            additional_forbidden=not permitted,
            additional=additional,
            contains=self._optional(place, "contains") if place.draft > Draft.FOUR else None,
            min_items=place.integer("minItems"),
            max_items=place.integer("maxItems"),
            unique_items=bool(place.boolean("uniqueItems")),
        )

    def _object(self, place: Place, *, typed: bool = False) -> ObjectNode:
        permitted, additional = self._additional(place, "additionalProperties")
        required = place.array("required")
        property_dependencies, schema_dependencies = self._dependencies(place)
        return ObjectNode(
            source=place.value,
            typed=typed,
            properties=self._properties(place),
            pattern_properties=self._members(place.object("patternProperties")),
            required=required.strings() if required is not None else (),
            permits_additional=permitted,
            additional=additional,
            property_names=self._optional(place, "propertyNames") if place.draft > Draft.FOUR else None,
            min_properties=place.integer("minProperties"),
            max_properties=place.integer("maxProperties"),
            property_dependencies=property_dependencies,
            schema_dependencies=schema_dependencies,
        )

    def _properties(self, place: Place) -> dict[str, Node]:
        """A text under the name of the id keyword is the identifier of a careless author, not a property."""
        declared = place.object("properties")
        if declared is None:
            return {}
        keyword = place.draft.id_keyword
        return {
            name: self._read(child)
            for name, child in declared.children()
            if name != keyword or isinstance(child.value, dict)
        }

    def _additional(self, place: Place, keyword: str) -> tuple[bool, Node | None]:
        """Whether more is permitted than was named, and what it must look like."""
        if not place.has(keyword):
            return True, None
        declared = place.child(keyword)
        if isinstance(declared.value, bool):
            return declared.value, None
        if not isinstance(declared.value, dict):
            declared.refuse("a schema, which is an object or a boolean")
        return True, self._read(declared)

    def _dependencies(self, place: Place) -> tuple[dict[str, tuple[str, ...]], dict[str, Node]]:
        properties: dict[str, tuple[str, ...]] = {}
        schemas: dict[str, Node] = {}
        declared = place.object("dependencies")
        for name, child in declared.children() if declared is not None else ():
            if place.draft is Draft.FOUR and isinstance(child.value, bool):
                child.refuse("an object or an array")
            if not isinstance(child.value, list):
                schemas[name] = self._read(child)
            elif child.value:
                properties[name] = child.strings()
        return properties, schemas


def _keywords_of_type(name: str, draft: Draft) -> tuple[str, ...]:
    if name == "string":
        return _STRING_KEYWORDS
    if name in ("integer", "number"):
        return _NUMBER_KEYWORDS
    if name == "array":
        return _ARRAY_KEYWORDS if draft is Draft.FOUR else (*_ARRAY_KEYWORDS, "contains")
    if name == "object":
        return _OBJECT_KEYWORDS if draft is Draft.FOUR else (*_OBJECT_KEYWORDS, "propertyNames")
    return ()
