"""DOUBLE: arithmetic that never fails, and texts as Java writes and reads them."""

from __future__ import annotations

import math
import operator as python
import re
from collections.abc import Callable
from typing import Final

from streams_sql.typed import Operator

# The length keeps the time bounded: Python reads longer texts slowly.
_NUMBER: Final = re.compile(r"([+-]?(?:[0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,9})?)[fFdD]?")


def parse(text: str) -> float:
    match = _NUMBER.fullmatch(text)
    value = float(match[1]) if match else math.nan
    if not math.isfinite(value):
        raise ValueError(f"Invalid double value: {text[:80]!r}")
    return value


def divide(left: float, right: float) -> float:
    """By zero gives an infinity, or NaN for zero itself."""
    if right:
        return left / right
    if left == 0 or left != left or right != right:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def remainder(left: float, right: float) -> float:
    return math.nan if right == 0 or math.isinf(left) else math.fmod(left, right)


_ARITHMETIC: Final[dict[Operator, Callable[[float, float], float]]] = {
    Operator.ADD: python.add,
    Operator.SUBTRACT: python.sub,
    Operator.MULTIPLY: python.mul,
    Operator.DIVIDE: divide,
    Operator.MODULO: remainder,
}


def arithmetic(operator: Operator) -> Callable[[float, float], float]:
    return _ARITHMETIC[operator]
