"""Comparisons and logic. A comparison with NULL is false, never NULL."""

from __future__ import annotations

import operator as python
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from streams_sql.typed import Operator

Row: TypeAlias = Sequence[Any]
Evaluate: TypeAlias = Callable[[Row], Any]

COMPARISONS: Final[dict[Operator, Callable[[Any, Any], Any]]] = {
    Operator.EQUAL: python.eq,
    Operator.NOT_EQUAL: python.ne,
    Operator.LESS: python.lt,
    Operator.LESS_OR_EQUAL: python.le,
    Operator.GREATER: python.gt,
    Operator.GREATER_OR_EQUAL: python.ge,
}


def comparison(operator: Operator, left: Evaluate, right: Evaluate) -> Evaluate:
    compare = COMPARISONS[operator]

    def evaluate(row: Row) -> bool:
        first = left(row)
        if first is None:
            return False
        second = right(row)
        return second is not None and bool(compare(first, second))

    return evaluate


def comparison_with_constant(operator: Operator, left: Evaluate, constant: Any) -> Evaluate:
    compare = COMPARISONS[operator]
    if constant is None:
        return lambda row: False

    def evaluate(row: Row) -> bool:
        first = left(row)
        return first is not None and bool(compare(first, constant))

    return evaluate


def distinct(operator: Operator, left: Evaluate, right: Evaluate) -> Evaluate:
    """NULL is distinct from every value and not from NULL."""
    if operator is Operator.DISTINCT:
        return lambda row: left(row) != right(row)
    return lambda row: left(row) == right(row)


def conjunction(left: Evaluate, right: Evaluate) -> Evaluate:
    """NULL where the left side is NULL, or is true and the right side is NULL."""

    def evaluate(row: Row) -> Any:
        first = left(row)
        return right(row) if first else first

    return evaluate


def disjunction(left: Evaluate, right: Evaluate) -> Evaluate:
    """NULL where the left side is NULL, or is false and the right side is NULL."""

    def evaluate(row: Row) -> Any:
        first = left(row)
        return first if first or first is None else right(row)

    return evaluate


def negation(operand: Evaluate) -> Evaluate:
    def evaluate(row: Row) -> Any:
        value = operand(row)
        return None if value is None else not value

    return evaluate


def membership(value: Evaluate, others: Sequence[Evaluate]) -> Evaluate:
    """NULL is among nothing, and nothing is NULL."""

    def evaluate(row: Row) -> bool:
        searched = value(row)
        return searched is not None and any(searched == other(row) for other in others)

    return evaluate
