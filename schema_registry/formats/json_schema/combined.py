"""Compares allOf, anyOf, oneOf and not."""

from __future__ import annotations

from collections.abc import Generator

from schema_registry.formats.difference import Policy
from schema_registry.formats.json_schema.finding import Comparison, Finding, Findings, Pair, all_compatible, below
from schema_registry.formats.json_schema.likeness import Likeness
from schema_registry.formats.json_schema.matching import largest_matching
from schema_registry.formats.json_schema.node import CombinedNode, Criterion, Node, NotNode
from schema_registry.formats.json_schema.rules import Rule


def compare_combined(original: CombinedNode, update: CombinedNode, policy: Policy, likeness: Likeness) -> Comparison:
    """Each subschema must find a partner of its own that can read it; as many are paired as can be."""
    before, after = likeness.distinct(original.subschemas), likeness.distinct(update.subschemas)
    rules = [_criterion_rule(original, update)]
    if rules[0] is not Rule.COMBINED_TYPE_CHANGED:
        rules.append(_size_rule(original.criterion, len(before), update.criterion, len(after)))
    found = [Finding(rule, (), original.source, update.source) for rule in rules if rule is not None]
    if rules[0] is Rule.COMBINED_TYPE_CHANGED:
        return found
    readable: dict[int, dict[int, Findings]] = {}
    for index, writer in enumerate(before):
        readable[index] = {}
        for position, reader in enumerate(after):
            below_pair = yield writer, reader
            if all_compatible(below_pair, policy):
                readable[index][position] = below_pair
    matching = largest_matching({index: list(readers) for index, readers in readable.items()})
    for index, position in matching.items():
        found += below(readable[index][position], original.criterion.value, str(index))
    if len(matching) < min(len(before), len(after)):
        found.append(Finding(Rule.COMBINED_TYPE_SUBSCHEMAS_CHANGED, (), original.source, update.source))
    return found


def compare_with_union(original: Node, update: Node, policy: Policy) -> Generator[Pair, Findings, list[Finding] | None]:
    """A plain schema on one side, a combined one on the other: fine if one member alone makes it so. None if none does."""
    if isinstance(original, CombinedNode) == isinstance(update, CombinedNode):
        return None
    if isinstance(update, CombinedNode):
        pairs = [(original, member) for member in update.subschemas]
        any_will_do, gained = update.criterion is not Criterion.ALL, Rule.SUM_TYPE_EXTENDED
    else:
        assert isinstance(original, CombinedNode)
        pairs = [(member, update) for member in original.subschemas]
        any_will_do, gained = original.criterion is Criterion.ALL, Rule.PRODUCT_TYPE_NARROWED
    if len(pairs) != 1 and not any_will_do:
        return None
    for pair in pairs:
        found = yield pair
        if all_compatible(found, policy):
            return list(found) if len(pairs) == 1 else [*found, Finding(gained, (), original.source, update.source)]
    return None


def compare_negations(original: NotNode, update: NotNode, policy: Policy) -> Comparison:
    """What may not match must not grow: so the new one must be readable where the old one is."""
    found = yield update.forbidden, original.forbidden
    rule = Rule.NOT_TYPE_NARROWED if all_compatible(found, policy) else Rule.NOT_TYPE_EXTENDED
    return [Finding(rule, ("not",), original.source, update.source)]


def _criterion_rule(original: CombinedNode, update: CombinedNode) -> Rule | None:
    if original.criterion is update.criterion:
        return None
    single_before, single_after = len(original.subschemas) == 1, len(update.subschemas) == 1
    harmless = (
        update.criterion is Criterion.ANY
        or (single_before and (single_after or update.criterion is Criterion.ONE))
        or (single_after and original.criterion is Criterion.ALL)
    )
    return Rule.COMBINED_TYPE_EXTENDED if harmless else Rule.COMBINED_TYPE_CHANGED


def _size_rule(before: Criterion, size_before: int, after: Criterion, size_after: int) -> Rule | None:
    """An allOf that grows asks for more, an anyOf or oneOf that grows accepts more."""
    if size_before < size_after:
        return Rule.PRODUCT_TYPE_EXTENDED if after is Criterion.ALL else Rule.SUM_TYPE_EXTENDED
    if size_before > size_after:
        return Rule.PRODUCT_TYPE_NARROWED if before is Criterion.ALL else Rule.SUM_TYPE_NARROWED
    return None
