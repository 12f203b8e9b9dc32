"""What a comparison of two schemas finds, and how its parts work together.

A comparison of two nodes is a generator. It yields each pair of nodes below, receives what was found there, and returns what
it found itself. So schemas may refer to each other as deep as they like: the pairs wait in a list, not on the call stack.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from schema_registry.formats.difference import Policy
from schema_registry.formats.json_schema.node import Node
from schema_registry.formats.json_schema.rules import Rule, is_compatible
from schema_registry.formats.json_text import JsonValue


@dataclass(frozen=True, slots=True)
class Missing:
    """Stands for what one side does not say."""


MISSING = Missing()
Side: TypeAlias = "JsonValue | Missing"


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """A difference, its path from the pair that is compared, and what stands there before and after."""

    rule: Rule
    path: tuple[str, ...]
    original: Side
    update: Side


Findings: TypeAlias = tuple[Finding, ...]
Pair: TypeAlias = tuple[Node | None, Node | None]
Comparison: TypeAlias = Generator[Pair, Findings, list[Finding]]


def below(findings: Iterable[Finding], *path: str) -> list[Finding]:
    """The same findings, seen from further up."""
    return [Finding(found.rule, path + found.path, found.original, found.update) for found in findings]


def all_compatible(findings: Iterable[Finding], policy: Policy) -> bool:
    return all(is_compatible(found.rule, policy) for found in findings)


def side(node: Node | None) -> Side:
    return MISSING if node is None else node.source
