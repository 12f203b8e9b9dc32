"""Makes one node of the keywords that stand side by side in a schema of a modern draft."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard, TypeVar

from schema_registry.formats.json_schema.node import (
    ArrayNode,
    CombinedNode,
    Criterion,
    Node,
    NumberNode,
    ObjectNode,
    StringNode,
)

_T = TypeVar("_T")


def join(before: Node, after: Node) -> Node:
    """Both together: merged if they are of one kind, else an allOf that nobody wrote."""
    merged = _merged(before, after)
    if merged is not None:
        return merged
    for union, other in ((before, after), (after, before)):
        if _is_generated(union, Criterion.ANY) and any(_same_kind(member, other) for member in union.subschemas):
            return replace(union, subschemas=tuple(_added(list(union.subschemas), other)))
    parts: list[Node] = []
    for part in (*flattened(before), *flattened(after)):
        parts = _added(parts, part)
    return CombinedNode(criterion=Criterion.ALL, subschemas=tuple(parts), generated=True)


def flattened(node: Node) -> tuple[Node, ...]:
    """The parts of an allOf that nobody wrote; any other node is one part."""
    return node.subschemas if _is_generated(node, Criterion.ALL) else (node,)


def _added(parts: list[Node], part: Node) -> list[Node]:
    for position, present in enumerate(parts):
        merged = _merged(present, part)
        if merged is not None:
            return [*parts[:position], merged, *parts[position + 1 :]]
    return [*parts, part]


def _merged(before: Node, after: Node) -> Node | None:
    """What both say, as one node; where both say something about a keyword the later one counts."""
    if isinstance(before, StringNode) and isinstance(after, StringNode):
        return _merged_strings(before, after)
    if isinstance(before, NumberNode) and isinstance(after, NumberNode):
        return _merged_numbers(before, after)
    if isinstance(before, ObjectNode) and isinstance(after, ObjectNode):
        return _merged_objects(before, after)
    if isinstance(before, ArrayNode) and isinstance(after, ArrayNode):
        return _merged_arrays(before, after)
    return None


def _merged_strings(before: StringNode, after: StringNode) -> Node:
    return replace(
        before,
        typed=before.typed or after.typed,
        min_length=_later(before.min_length, after.min_length),
        max_length=_later(before.max_length, after.max_length),
        pattern=_later(before.pattern, after.pattern),
    )


def _merged_numbers(before: NumberNode, after: NumberNode) -> Node:
    return replace(
        before,
        typed=before.typed or after.typed,
        integer=before.integer or after.integer,
        minimum=before.minimum if after.minimum is None else after.minimum,
        maximum=before.maximum if after.maximum is None else after.maximum,
        exclusive_minimum=before.exclusive_minimum if after.exclusive_minimum is None else after.exclusive_minimum,
        exclusive_maximum=before.exclusive_maximum if after.exclusive_maximum is None else after.exclusive_maximum,
        multiple_of=before.multiple_of if after.multiple_of is None else after.multiple_of,
    )


def _merged_objects(before: ObjectNode, after: ObjectNode) -> Node:
    return replace(
        before,
        typed=before.typed or after.typed,
        properties={**before.properties, **after.properties},
        pattern_properties={**before.pattern_properties, **after.pattern_properties},
        required=before.required + after.required,
        permits_additional=before.permits_additional and after.permits_additional,
        additional=_later(before.additional, after.additional),
        unevaluated=_later(before.unevaluated, after.unevaluated),
        property_names=_later(before.property_names, after.property_names),
        min_properties=_later(before.min_properties, after.min_properties),
        max_properties=_later(before.max_properties, after.max_properties),
        property_dependencies={**before.property_dependencies, **after.property_dependencies},
        schema_dependencies={**before.schema_dependencies, **after.schema_dependencies},
    )


def _merged_arrays(before: ArrayNode, after: ArrayNode) -> Node:
    return replace(
        before,
        typed=before.typed or after.typed,
        items=_later(before.items, after.items),
        tuple_items=before.tuple_items + after.tuple_items,
        additional_forbidden=before.additional_forbidden or after.additional_forbidden,
        additional=_later(before.additional, after.additional),
        unevaluated=_later(before.unevaluated, after.unevaluated),
        contains=_later(before.contains, after.contains),
        min_items=_later(before.min_items, after.min_items),
        max_items=_later(before.max_items, after.max_items),
        min_contains=before.min_contains if after.min_contains is None else after.min_contains,
        max_contains=before.max_contains if after.max_contains is None else after.max_contains,
        unique_items=before.unique_items or after.unique_items,
    )


def _later(before: _T | None, after: _T | None) -> _T | None:
    return before if after is None else after


def _same_kind(one: Node, other: Node) -> bool:
    return type(one) is type(other)


def _is_generated(node: Node, criterion: Criterion) -> TypeGuard[CombinedNode]:
    return isinstance(node, CombinedNode) and node.generated and node.criterion is criterion
