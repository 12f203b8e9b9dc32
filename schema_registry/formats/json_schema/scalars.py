"""Compares strings, numbers, enumerations and constants."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from schema_registry.formats.json_schema.bounds import Bound
from schema_registry.formats.json_schema.finding import MISSING, Finding
from schema_registry.formats.json_schema.node import ConstNode, EnumNode, Node, Number, NumberNode, StringNode
from schema_registry.formats.json_schema.rules import Rule
from schema_registry.formats.json_text import JsonValue

_MAX_LENGTH = Bound("maxLength", "MAX_LENGTH")
_MIN_LENGTH = Bound("minLength", "MIN_LENGTH")
_MAXIMUM = Bound("maximum", "MAXIMUM")
_MINIMUM = Bound("minimum", "MINIMUM")
_EXCLUSIVE_MAXIMUM = Bound("exclusiveMaximum", "EXCLUSIVE_MAXIMUM")
_EXCLUSIVE_MINIMUM = Bound("exclusiveMinimum", "EXCLUSIVE_MINIMUM")

EXPONENT_MAX = 1000
"""Numbers of more digits, or closer to nothing, are not divided: the exact arithmetic would need the memory for every digit."""

Frozen: TypeAlias = "tuple[object, ...] | frozenset[object] | str | bool | int | None"


def compare_scalars(original: Node, update: Node) -> list[Finding] | None:
    """None if the nodes are no two scalars of one kind."""
    match original, update:
        case StringNode(), StringNode():
            return _compare_strings(original, update)
        case NumberNode(), NumberNode():
            return _compare_numbers(original, update)
        case EnumNode(), EnumNode():
            return _compare_enums(original, update)
        case ConstNode(), ConstNode():
            return _compare_constants(original, update)
    return None


def _compare_strings(original: StringNode, update: StringNode) -> list[Finding]:
    found = _MAX_LENGTH.compare(original.max_length, update.max_length)
    found += _MIN_LENGTH.compare(original.min_length, update.min_length)
    if original.pattern != update.pattern:
        before = MISSING if original.pattern is None else original.pattern
        after = MISSING if update.pattern is None else update.pattern
        rule = Rule.PATTERN_CHANGED
        if original.pattern is None or update.pattern is None:
            rule = Rule.PATTERN_ADDED if original.pattern is None else Rule.PATTERN_REMOVED
        found.append(Finding(rule, ("pattern",), before, after))
    return found


def _compare_numbers(original: NumberNode, update: NumberNode) -> list[Finding]:
    found = _MAXIMUM.compare(original.maximum, update.maximum)
    found += _MINIMUM.compare(original.minimum, update.minimum)
    found += _EXCLUSIVE_MAXIMUM.compare(original.exclusive_maximum, update.exclusive_maximum)
    found += _EXCLUSIVE_MINIMUM.compare(original.exclusive_minimum, update.exclusive_minimum)
    found += _compare_multiples(original.multiple_of, update.multiple_of)
    if original.integer != update.integer:
        rule = Rule.TYPE_EXTENDED if original.integer else Rule.TYPE_NARROWED
        found.append(Finding(rule, (), original.source, update.source))
    return found


def _compare_enums(original: EnumNode, update: EnumNode) -> list[Finding]:
    before, after = set(map(frozen, original.values)), set(map(frozen, update.values))
    if before == after:
        return []
    rule = Rule.ENUM_ARRAY_CHANGED
    if before <= after:
        rule = Rule.ENUM_ARRAY_EXTENDED
    elif after <= before:
        rule = Rule.ENUM_ARRAY_NARROWED
    return [Finding(rule, ("enum",), list(original.values), list(update.values))]


def _compare_constants(original: ConstNode, update: ConstNode) -> list[Finding]:
    if frozen(original.value) == frozen(update.value):
        return []
    return [Finding(Rule.ENUM_ARRAY_CHANGED, ("const",), original.value, update.value)]


def frozen(value: JsonValue) -> Frozen:
    """The value as something that can stand in a set. Numbers count as equal only if they are written alike: 1 is not 1.0."""
    if isinstance(value, dict):
        return frozenset((name, frozen(member)) for name, member in value.items())
    if isinstance(value, list):
        return tuple(map(frozen, value))
    if isinstance(value, Decimal):
        return ("decimal", *value.as_tuple())
    if isinstance(value, (bool, float)):
        return (type(value).__name__, str(value))
    return value


def _compare_multiples(original: Number | None, update: Number | None) -> list[Finding]:
    if original == update:
        return []
    before = MISSING if original is None else original
    after = MISSING if update is None else update
    if original is None or update is None:
        rule = Rule.MULTIPLE_OF_ADDED if original is None else Rule.MULTIPLE_OF_REMOVED
    elif _divides(original, update):
        rule = Rule.MULTIPLE_OF_EXPANDED
    else:
        rule = Rule.MULTIPLE_OF_REDUCED if _divides(update, original) else Rule.MULTIPLE_OF_CHANGED
    return [Finding(rule, ("multipleOf",), before, after)]


def _divides(divisor: Number, number: Number) -> bool:
    if divisor == 0 or max(abs(Decimal(value).adjusted()) for value in (divisor, number)) > EXPONENT_MAX:
        return False
    return Fraction(number) % Fraction(divisor) == 0
