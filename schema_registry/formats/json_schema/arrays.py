"""Compares arrays: their items, in lists and in tuples, and what may follow a tuple."""

from __future__ import annotations

from schema_registry.formats.difference import Policy
from schema_registry.formats.json_schema.bounds import Bound
from schema_registry.formats.json_schema.finding import MISSING, Comparison, Finding, all_compatible, below, side
from schema_registry.formats.json_schema.node import ArrayNode, EmptyNode, FalseNode, Node
from schema_registry.formats.json_schema.rules import Rule
from schema_registry.formats.json_schema.unevaluated import compare_unevaluated

_MAX_ITEMS = Bound("maxItems", "MAX_ITEMS")
_MIN_ITEMS = Bound("minItems", "MIN_ITEMS")
_MAX_CONTAINS = Bound("maxContains", "MAX_CONTAINS")
_MIN_CONTAINS = Bound("minContains", "MIN_CONTAINS")


def compare_arrays(original: ArrayNode, update: ArrayNode, policy: Policy) -> Comparison:
    found = below((yield original.items, update.items), "items")
    found += yield from _compare_tuples(original, update, policy)
    found += yield from _compare_additional(original, update)
    found += yield from compare_unevaluated(original.unevaluated, update.unevaluated, "unevaluatedItems")
    found += _MAX_ITEMS.compare(original.max_items, update.max_items)
    found += _MIN_ITEMS.compare(original.min_items, update.min_items)
    if original.unique_items != update.unique_items:
        rule = Rule.UNIQUE_ITEMS_REMOVED if original.unique_items else Rule.UNIQUE_ITEMS_ADDED
        found.append(Finding(rule, ("uniqueItems",), original.unique_items, update.unique_items))
    found += _MAX_CONTAINS.compare(original.max_contains, update.max_contains)
    found += _MIN_CONTAINS.compare(original.min_contains, update.min_contains)
    return found


def _compare_tuples(original: ArrayNode, update: ArrayNode, policy: Policy) -> Comparison:
    found: list[Finding] = []
    for index in range(max(len(original.tuple_items), len(update.tuple_items))):
        if index >= len(update.tuple_items):
            here = yield from _removed(original.tuple_items[index], update, policy)
        elif index >= len(original.tuple_items):
            here = yield from _added(update.tuple_items[index], original, policy)
        else:
            here = list((yield original.tuple_items[index], update.tuple_items[index]))
        found += below(here, "items", str(index))
    return found


def _removed(before: Node, update: ArrayNode, policy: Policy) -> Comparison:
    if _is_open(update):
        return [Finding(Rule.ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL, (), before.source, MISSING)]
    covering = _schema_of_further(update)
    if covering is None:
        rule = Rule.ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL
        if isinstance(before, FalseNode):
            rule = Rule.ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL
        return [Finding(rule, (), before.source, MISSING)]
    found = yield before, covering
    rule = Rule.ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
    if all_compatible(found, policy):
        rule = Rule.ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
    return [*found, Finding(rule, (), before.source, covering.source)]


def _added(after: Node, original: ArrayNode, policy: Policy) -> Comparison:
    if _is_open(original):
        rule = Rule.ITEM_ADDED_TO_OPEN_CONTENT_MODEL
        if isinstance(after, EmptyNode):
            rule = Rule.ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL
        return [Finding(rule, (), MISSING, after.source)]
    covering = _schema_of_further(original)
    if covering is None:
        return [Finding(Rule.ITEM_ADDED_TO_CLOSED_CONTENT_MODEL, (), MISSING, after.source)]
    found = yield covering, after
    rule = Rule.ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
    if all_compatible(found, policy):
        rule = Rule.ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
    return [*found, Finding(rule, (), covering.source, after.source)]


def _compare_additional(original: ArrayNode, update: ArrayNode) -> Comparison:
    sides = (
        side(original.additional) if original.permits_additional else False,
        side(update.additional) if update.permits_additional else False,
    )
    rule = None
    if original.permits_additional != update.permits_additional:
        rule = Rule.ADDITIONAL_ITEMS_REMOVED if original.permits_additional else Rule.ADDITIONAL_ITEMS_ADDED
    elif original.additional is None and update.additional is not None:
        rule = Rule.ADDITIONAL_ITEMS_NARROWED
    elif original.additional is not None and update.additional is None:
        rule = Rule.ADDITIONAL_ITEMS_EXTENDED
    if rule is not None:
        return [Finding(rule, ("additionalItems",), *sides)]
    return below((yield original.additional, update.additional), "additionalItems")


def _is_open(node: ArrayNode) -> bool:
    if not node.permits_additional or node.additional is not None:
        return False
    return node.unevaluated is None or isinstance(node.unevaluated, EmptyNode)


def _schema_of_further(node: ArrayNode) -> Node | None:
    """What a partially open array asks of an element that it does not name."""
    if node.additional is not None:
        return node.additional
    if node.permits_additional and not isinstance(node.unevaluated, (FalseNode, EmptyNode)):
        return node.unevaluated
    return None
