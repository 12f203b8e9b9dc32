"""Compares objects: their properties, what they require, and what they let through unnamed.

An object is *open* if it takes any further property, *closed* if it takes none, and *partially open* if further properties
must match a schema. A property that was added is judged by the old content model, one that was removed by the new one.
"""

from __future__ import annotations

from collections.abc import Mapping

import re2  # type: ignore[import-untyped]  # it has no stubs

from barnabas.kernel.java.hash_map import copy_capacity, hash_map_order
from schema_registry.formats.difference import Policy
from schema_registry.formats.json_schema.bounds import Bound
from schema_registry.formats.json_schema.finding import MISSING, Comparison, Finding, Side, all_compatible, below, side
from schema_registry.formats.json_schema.node import EmptyNode, FalseNode, Node, ObjectNode
from schema_registry.formats.json_schema.rules import Rule
from schema_registry.formats.json_schema.unevaluated import compare_unevaluated

_MAX_PROPERTIES = Bound("maxProperties", "MAX_PROPERTIES")
_MIN_PROPERTIES = Bound("minProperties", "MIN_PROPERTIES")


def compare_objects(original: ObjectNode, update: ObjectNode, policy: Policy) -> Comparison:
    found = _compare_required(original, update)
    found += yield from _compare_properties(original, update, policy)
    found += yield from _compare_dependencies(original, update)
    found += yield from _compare_additional(original, update)
    found += yield from compare_unevaluated(original.unevaluated, update.unevaluated, "unevaluatedProperties")
    found += _MAX_PROPERTIES.compare(original.max_properties, update.max_properties)
    found += _MIN_PROPERTIES.compare(original.min_properties, update.min_properties)
    return found


def _compare_required(original: ObjectNode, update: ObjectNode) -> list[Finding]:
    found = []
    before, after = set(original.required), set(update.required)
    for name in hash_map_order(original.properties):
        if name not in update.properties or (name in before) == (name in after):
            continue
        if name in before:
            rule = Rule.REQUIRED_ATTRIBUTE_REMOVED
        elif update.properties[name].has_default:
            rule = Rule.REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED
        else:
            rule = Rule.REQUIRED_ATTRIBUTE_ADDED
        found.append(Finding(rule, ("required", name), list(original.required), list(update.required)))
    return found


def _compare_properties(original: ObjectNode, update: ObjectNode, policy: Policy) -> Comparison:
    found: list[Finding] = []
    for name in _both(original.properties, update.properties):
        before, after = original.properties.get(name), update.properties.get(name)
        if before is not None and after is not None:
            found += below((yield before, after), "properties", name)
        elif before is not None:
            found += below((yield from _removed(name, before, update, policy)), "properties", name)
        elif after is not None:
            found += below((yield from _added(name, after, original, update, policy)), "properties", name)
    return found


def _removed(name: str, before: Node, update: ObjectNode, policy: Policy) -> Comparison:
    if _is_open(update):
        return [Finding(Rule.PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL, (), before.source, MISSING)]
    covering = _schema_of_unnamed(update, name)
    if covering is None:
        rule = Rule.PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL
        if isinstance(before, FalseNode):
            rule = Rule.PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL
        return [Finding(rule, (), before.source, MISSING)]
    found = yield before, covering
    rule = Rule.PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
    if all_compatible(found, policy):
        rule = Rule.PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
    return [*found, Finding(rule, (), before.source, covering.source)]


def _added(name: str, after: Node, original: ObjectNode, update: ObjectNode, policy: Policy) -> Comparison:
    required = name in update.required
    if _is_open(original):
        if isinstance(after, EmptyNode):
            rule = Rule.PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL
        elif not required:
            rule = Rule.OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL
        elif after.has_default:
            rule = Rule.REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL
        else:
            rule = Rule.REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL
        return [Finding(rule, (), MISSING, after.source)]
    found: list[Finding] = []
    covering = _schema_of_unnamed(original, name)
    if covering is not None:
        found += yield covering, after
        rule = Rule.PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
        if all_compatible(found, policy):
            rule = Rule.PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
        found.append(Finding(rule, (), covering.source, after.source))
    if not required:
        rule = Rule.OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL
    elif after.has_default:
        rule = Rule.REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL
    else:
        rule = Rule.REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL
    return [*found, Finding(rule, (), MISSING, after.source)]


def _compare_dependencies(original: ObjectNode, update: ObjectNode) -> Comparison:
    found: list[Finding] = []
    for name in _both(original.property_dependencies, update.property_dependencies):
        before, after = original.property_dependencies.get(name), update.property_dependencies.get(name)
        rule = _dependency_rule(before, after)
        if rule is not None:
            found.append(Finding(rule, ("dependencies", name), _names(before), _names(after)))
    for name in _both(original.schema_dependencies, update.schema_dependencies):
        schemas = original.schema_dependencies.get(name), update.schema_dependencies.get(name)
        if schemas[0] is not None and schemas[1] is not None:
            found += below((yield schemas), "dependencies", name)
        else:
            rule = Rule.DEPENDENCY_SCHEMA_ADDED if schemas[0] is None else Rule.DEPENDENCY_SCHEMA_REMOVED
            found.append(Finding(rule, ("dependencies", name), side(schemas[0]), side(schemas[1])))
    return found


def _dependency_rule(before: tuple[str, ...] | None, after: tuple[str, ...] | None) -> Rule | None:
    if after is None:
        return Rule.DEPENDENCY_ARRAY_REMOVED
    if before is None:
        return Rule.DEPENDENCY_ARRAY_ADDED
    old, new = set(before), set(after)
    if old == new:
        return None
    if old <= new:
        return Rule.DEPENDENCY_ARRAY_EXTENDED
    return Rule.DEPENDENCY_ARRAY_NARROWED if new <= old else Rule.DEPENDENCY_ARRAY_CHANGED


def _names(names: tuple[str, ...] | None) -> Side:
    return MISSING if names is None else list(names)


def _compare_additional(original: ObjectNode, update: ObjectNode) -> Comparison:
    sides = (
        side(original.additional) if original.permits_additional else False,
        side(update.additional) if update.permits_additional else False,
    )
    rule = None
    if original.permits_additional != update.permits_additional:
        added = update.permits_additional
        rule = Rule.ADDITIONAL_PROPERTIES_ADDED if added else Rule.ADDITIONAL_PROPERTIES_REMOVED
    elif original.additional is None and update.additional is not None:
        rule = Rule.ADDITIONAL_PROPERTIES_NARROWED
    elif original.additional is not None and update.additional is None:
        rule = Rule.ADDITIONAL_PROPERTIES_EXTENDED
    if rule is not None:
        return [Finding(rule, ("additionalProperties",), *sides)]
    return below((yield original.additional, update.additional), "additionalProperties")


def _is_open(node: ObjectNode) -> bool:
    if not node.permits_additional or node.additional is not None or node.pattern_properties:
        return False
    return node.unevaluated is None or isinstance(node.unevaluated, EmptyNode)


def _schema_of_unnamed(node: ObjectNode, name: str) -> Node | None:
    """What a partially open object asks of a property that it does not name."""
    for pattern, schema in node.pattern_properties.items():
        if _matches(pattern, name):
            return schema
    if node.additional is not None:
        return node.additional
    if node.permits_additional and not isinstance(node.unevaluated, (FalseNode, EmptyNode)):
        return node.unevaluated
    return None


def _matches(pattern: str, name: str) -> bool:
    """Only by an engine that takes linear time; a pattern that is beyond it covers nothing."""
    try:
        return re2.search(pattern, name, _QUIET) is not None
    except re2.error:
        return False


def _quiet() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    return options


_QUIET = _quiet()


def _both(original: Mapping[str, object], update: Mapping[str, object]) -> list[str]:
    return hash_map_order([*hash_map_order(original), *hash_map_order(update)], copy_capacity(len(original)))
