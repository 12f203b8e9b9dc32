"""A JSON schema as the comparison sees it: one typed node for each kind of schema.

The kinds are those of the validators behind Confluent's registry, for its verdicts hang on them: `{"minLength": 1}` is a
string schema, `{"type": "string", "enum": ["a"]}` is an allOf of two, `{}` is not the same kind as `true`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias

from schema_registry.formats.json_text import JsonValue

Number: TypeAlias = int | Decimal


class Criterion(StrEnum):
    """How many subschemas of a combined schema must hold."""

    ALL = "allOf"
    ANY = "anyOf"
    ONE = "oneOf"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Node:
    """What every schema may carry. Two nodes are the same only if they are the same object: cycles are found by that.

    `source` is the JSON that the node stands for; `extras` are the keywords that no reader knows.
    """

    source: JsonValue = None
    identifier: str | None = None
    title: str | None = None
    description: str | None = None
    has_default: bool = False
    default: JsonValue = None
    extras: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EmptyNode(Node):
    """Accepts everything, by saying nothing."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrueNode(EmptyNode):
    """Accepts everything, in so many words."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FalseNode(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BooleanNode(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NullNode(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StringNode(Node):
    """`typed`: the keyword `type` asks for a string; otherwise the other keywords speak of strings alone."""

    typed: bool = False
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    format: str | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NumberNode(Node):
    typed: bool = False
    integer: bool = False
    minimum: Number | None = None
    maximum: Number | None = None
    exclusive_minimum: Number | None = None
    exclusive_maximum: Number | None = None
    multiple_of: Number | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EnumNode(Node):
    values: tuple[JsonValue, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ConstNode(Node):
    value: JsonValue = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NotNode(Node):
    forbidden: Node


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ConditionalNode(Node):
    condition: Node | None = None
    consequence: Node | None = None
    alternative: Node | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CombinedNode(Node):
    """`generated`: nobody wrote the combination, the reader made it of keywords that stand side by side."""

    criterion: Criterion
    subschemas: tuple[Node, ...] = ()
    generated: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ObjectNode(Node):
    typed: bool = False
    properties: Mapping[str, Node] = field(default_factory=dict)
    pattern_properties: Mapping[str, Node] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    permits_additional: bool = True
    additional: Node | None = None
    unevaluated: Node | None = None
    property_names: Node | None = None
    min_properties: int | None = None
    max_properties: int | None = None
    property_dependencies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    schema_dependencies: Mapping[str, Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ArrayNode(Node):
    """`items` holds for every element, `tuple_items` for one each; a schema has the one or the other."""

    typed: bool = False
    items: Node | None = None
    tuple_items: tuple[Node, ...] = ()
    additional_forbidden: bool = False
    additional: Node | None = None
    unevaluated: Node | None = None
    contains: Node | None = None
    min_items: int | None = None
    max_items: int | None = None
    min_contains: Number | None = None
    max_contains: Number | None = None
    unique_items: bool = False

    @property
    def permits_additional(self) -> bool:
        """`additionalItems` says something only beside a list of item schemas, or with a schema of its own."""
        return not self.additional_forbidden or self.items is not None or self.additional is not None


@dataclass(slots=True, eq=False)
class Target:
    """What a reference leads to, filled in when the schema there was read: schemas may refer to themselves."""

    node: Node | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReferenceNode(Node):
    reference: str
    target: Target

    @property
    def referred(self) -> Node:
        assert self.target.node is not None, "the reader resolves every reference before it hands out a schema"
        return self.target.node
