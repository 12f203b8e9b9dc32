"""INTEGER and BIGINT: whole numbers of 32 and 64 bits. Arithmetic wraps around, as Java's does; what is read and what is cast must be
in range."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from streams_sql.sql_types import BIGINT, INTEGER, Base, SqlType
from streams_sql.typed import Operator

INTEGER_MAX: Final = 2**31 - 1
BIGINT_MAX: Final = 2**63 - 1
_WIDER: Final = {INTEGER: "BIGINT", BIGINT: "DECIMAL or DOUBLE"}


def ranged(value: int, type_: Base) -> int:
    """Return the value if it is one of this INTEGER or BIGINT. ValueError."""
    maximum = INTEGER_MAX if type_ is INTEGER else BIGINT_MAX
    if -maximum - 1 <= value <= maximum:
        return value
    raise ValueError(out_of_range(str(value), type_))


def ranged_float(value: float, type_: Base) -> int:
    """The same for a float, whose fraction is cut off."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a whole number: {type_} has none of it. Use DOUBLE")
    return ranged(int(value), type_)


def out_of_range(value: str, type_: Base) -> str:
    maximum = INTEGER_MAX if type_ is INTEGER else BIGINT_MAX
    return f"Number out of range: {value:.80}: {type_} holds {-maximum - 1} to {maximum}. Use {_WIDER[type_]}"


def wrap_integer(value: int) -> int:
    return value if -INTEGER_MAX <= value <= INTEGER_MAX else (value + 2**31) % 2**32 - 2**31


def wrap_bigint(value: int) -> int:
    return value if -BIGINT_MAX <= value <= BIGINT_MAX else (value + 2**63) % 2**64 - 2**63


def wrap_for(type_: SqlType | None) -> Callable[[int], int]:
    return wrap_integer if type_ == INTEGER else wrap_bigint


def saturate(value: float, maximum: int) -> int:
    """A float as a whole number: the fraction is cut off, what is too large becomes the largest, and what is no number 0."""
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return maximum if value > 0 else -maximum - 1
    return max(-maximum - 1, min(maximum, int(value)))


def divide(left: int, right: int) -> int:
    """Rounds towards zero."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def remainder(left: int, right: int) -> int:
    """Has the sign of the left number."""
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def arithmetic(operator: Operator, type_: SqlType | None) -> Callable[[int, int], int]:
    wrap = wrap_for(type_)
    match operator:
        case Operator.ADD:
            return lambda left, right: wrap(left + right)
        case Operator.SUBTRACT:
            return lambda left, right: wrap(left - right)
        case Operator.MULTIPLY:
            return lambda left, right: wrap(left * right)
        case Operator.DIVIDE:
            return lambda left, right: wrap(divide(left, right))
    return remainder
