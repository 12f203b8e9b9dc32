"""Compares `unevaluatedProperties` and `unevaluatedItems`: what no other keyword spoke about."""

from __future__ import annotations

from schema_registry.formats.json_schema.finding import Comparison, Finding, below, side
from schema_registry.formats.json_schema.node import EmptyNode, FalseNode, Node
from schema_registry.formats.json_schema.rules import Rule

_PREFIXES = {"unevaluatedProperties": "UNEVALUATED_PROPERTIES", "unevaluatedItems": "UNEVALUATED_ITEMS"}


def compare_unevaluated(original: Node | None, update: Node | None, keyword: str) -> Comparison:
    if original is None and update is None:
        return []
    change = _change(original, update)
    if change is not None:
        return [Finding(Rule(f"{_PREFIXES[keyword]}_{change}"), (keyword,), side(original), side(update))]
    return below((yield original, update), keyword)


def _change(original: Node | None, update: Node | None) -> str | None:
    """None if both sides have a schema that says something, so that the schemas themselves are compared."""
    if isinstance(original, FalseNode) != isinstance(update, FalseNode):
        return "ADDED" if isinstance(original, FalseNode) else "REMOVED"
    if original is None or update is None:
        return "NARROWED" if original is None else "EXTENDED"
    if isinstance(original, EmptyNode) != isinstance(update, EmptyNode):
        return "NARROWED" if isinstance(original, EmptyNode) else "EXTENDED"
    return None
