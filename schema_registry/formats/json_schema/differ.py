"""Compares two schemas: what the new one says otherwise than the old one, harmless or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from schema_registry.formats.difference import Policy
from schema_registry.formats.json_schema.arrays import compare_arrays
from schema_registry.formats.json_schema.combined import compare_combined, compare_negations, compare_with_union
from schema_registry.formats.json_schema.finding import Comparison, Finding, Findings, Pair, all_compatible, side
from schema_registry.formats.json_schema.likeness import Likeness
from schema_registry.formats.json_schema.node import (
    ArrayNode,
    CombinedNode,
    EmptyNode,
    FalseNode,
    Node,
    NotNode,
    ObjectNode,
    ReferenceNode,
)
from schema_registry.formats.json_schema.objects import compare_objects
from schema_registry.formats.json_schema.rules import Rule
from schema_registry.formats.json_schema.scalars import compare_scalars, frozen
from schema_registry.formats.json_text import JsonValue

COMPARISON_MAX_STEPS = 1_200_000
"""A comparison that takes more steps is given up, after a few seconds. Real schemas take thousands; unions of unions written
to hurt would take years."""

PAIR_STEPS = 8
"""What it costs to compare two schemas, measured in what it costs to look up two that were compared before. To carry a finding
up costs a step for each level of its path."""

_Key: TypeAlias = tuple[int, int]
"""Two nodes by their identity."""


class ComparisonTooLong(Exception):
    """The schemas are too entangled to be compared in bounded time."""


@dataclass(slots=True)
class _Pass:
    """One walk over all pairs of schemas.

    `broken`: what the pass before found in pairs that do not fit. `known`: what this one found. `waiting`: pairs that are being
    compared, each for the sake of the one before it. `trusted`: a pair was met again while it was being compared.
    """

    broken: Mapping[_Key, Findings]
    known: dict[_Key, Findings] = field(default_factory=dict)
    waiting: list[tuple[_Key, Comparison]] = field(default_factory=list)
    begun: set[_Key] = field(default_factory=set)
    trusted: bool = False


class Differ:
    """A pair that is met again while it is being compared is trusted to fit. That may prove wrong, so the walk is repeated with
    what it found until no further pair breaks."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._likeness = Likeness()
        self._steps = 0

    def compare(self, original: Node, update: Node) -> Findings:
        """All findings; ComparisonTooLong when they take too many steps."""
        broken: dict[_Key, Findings] = {}
        while True:
            current = _Pass(broken)
            findings = self._walk(original, update, current)
            now_broken = {key: found for key, found in current.known.items() if not all_compatible(found, self._policy)}
            if not current.trusted or now_broken.keys() == broken.keys():
                return findings
            broken = now_broken

    def _walk(self, original: Node, update: Node, current: _Pass) -> Findings:
        """Compare the pair and all pairs below it, which wait on a list of our own and not on the call stack."""
        answer = self._begin((original, update), current)
        while current.waiting:
            key, comparison = current.waiting[-1]
            try:
                pair = next(comparison) if answer is None else comparison.send(answer)
            except StopIteration as finished:
                answer = self._finish(key, tuple(finished.value), current)
                current.waiting.pop()
                current.begun.remove(key)
            else:
                answer = self._begin(pair, current)
        assert answer is not None
        return answer

    def _begin(self, pair: Pair, current: _Pass) -> Findings | None:
        """What is known of the pair; None if it must be compared, which is then the next thing to do."""
        original, update = _followed(pair[0]), _followed(pair[1])
        if original is None or update is None:
            return _one_sided(original, update)
        key = (id(original), id(update))
        self._count(1)
        if key in current.known:
            self._count(len(current.known[key]))
            return current.known[key]
        if key in current.begun:
            current.trusted = current.trusted or key not in current.broken
            return current.broken.get(key, ())
        scalars = compare_scalars(original, update)
        if scalars is not None:
            return self._finish(key, (*_compare_descriptions(original, update), *scalars), current)
        current.waiting.append((key, self._compare(original, update)))
        current.begun.add(key)
        return None

    def _finish(self, key: _Key, found: Findings, current: _Pass) -> Findings:
        current.known[key] = found
        self._count(PAIR_STEPS + sum(len(finding.path) for finding in found))
        return found

    def _count(self, steps: int) -> None:
        self._steps += steps
        if self._steps > COMPARISON_MAX_STEPS:
            raise ComparisonTooLong

    def _compare(self, original: Node, update: Node) -> Comparison:
        shortcut = yield from compare_with_union(original, update, self._policy)
        if shortcut is not None:
            return shortcut
        if type(original) is not type(update):
            harmless = isinstance(original, FalseNode) or isinstance(update, EmptyNode) or _both_bytes(original, update)
            return [] if harmless else [Finding(Rule.TYPE_CHANGED, (), original.source, update.source)]
        found = _compare_descriptions(original, update)
        match original, update:
            case CombinedNode(), CombinedNode():
                found += yield from compare_combined(original, update, self._policy, self._likeness)
            case NotNode(), NotNode():
                found += yield from compare_negations(original, update, self._policy)
            case ObjectNode(), ObjectNode():
                found += yield from compare_objects(original, update, self._policy)
            case ArrayNode(), ArrayNode():
                found += yield from compare_arrays(original, update, self._policy)
        return found


def _followed(node: Node | None) -> Node | None:
    """One step along a reference, not more: of two references to references only the names are compared."""
    return node.referred if isinstance(node, ReferenceNode) else node


def _one_sided(original: Node | None, update: Node | None) -> Findings:
    if original is None and update is None:
        return ()
    rule = Rule.SCHEMA_ADDED if original is None else Rule.SCHEMA_REMOVED
    return (Finding(rule, (), side(original), side(update)),)


def _compare_descriptions(original: Node, update: Node) -> list[Finding]:
    pairs: tuple[tuple[Rule, JsonValue, JsonValue], ...] = (
        (Rule.ID_CHANGED, original.identifier, update.identifier),
        (Rule.TITLE_CHANGED, original.title, update.title),
        (Rule.DESCRIPTION_CHANGED, original.description, update.description),
    )
    found = [Finding(rule, (), before, after) for rule, before, after in pairs if before != after]
    if (original.has_default, frozen(original.default)) != (update.has_default, frozen(update.default)):
        found.append(Finding(Rule.DEFAULT_CHANGED, (), original.default, update.default))
    return found


def _both_bytes(original: Node, update: Node) -> bool:
    """Kafka Connect writes bytes as strings or as numbers, from release to release."""
    return original.extras.get("connect.type") == update.extras.get("connect.type") == "bytes"
