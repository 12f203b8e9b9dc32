"""Decimals of SQL types: exact, with a fixed number of digits after the point."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from typing import Final

from streams_sql.sql_types import Decimal as DecimalType
from streams_sql.typed import Operator

# More digits than any sum or product of two values of 38 digits has.
_EXACT: Final = Context(prec=120, rounding=ROUND_HALF_UP, traps=[InvalidOperation, DivisionByZero, Overflow])

_ARITHMETIC: Final[dict[Operator, Callable[[Decimal, Decimal], Decimal]]] = {
    Operator.ADD: _EXACT.add,
    Operator.SUBTRACT: _EXACT.subtract,
    Operator.MULTIPLY: _EXACT.multiply,
    Operator.DIVIDE: _EXACT.divide,
    Operator.MODULO: _EXACT.remainder,
}

# For sums of any length: unlike Python's operators, which round to 28 digits.
plus: Final = _EXACT.add
minus: Final = _EXACT.subtract
negative: Final = _EXACT.minus
quotient: Final = _EXACT.divide


def rescale(value: Decimal, scale: int, rounding: str = ROUND_HALF_UP) -> Decimal:
    """The value with this many digits after the point; a negative number rounds before it."""
    return value.quantize(Decimal((0, (1,), -scale)), rounding, _EXACT)


def fit(value: Decimal, type_: DecimalType) -> Decimal:
    """The value as one of the type: rounded half up, or an error where it has too many digits before the point."""
    whole = type_.precision - type_.scale
    if not value.is_finite() or value.adjusted() > whole:
        raise _overflow(value, type_)
    fitted = rescale(value, type_.scale)
    if fitted and fitted.adjusted() >= whole:
        raise _overflow(value, type_)
    return fitted


def from_float(value: float, type_: DecimalType) -> Decimal:
    """As Java does it: the exact value of the float, rounded to the digits that the type has."""
    digits = Context(prec=type_.precision, rounding=ROUND_HALF_UP).create_decimal(value)
    return fit(digits, type_)


def arithmetic(operator: Operator, type_: DecimalType) -> Callable[[Decimal, Decimal], Decimal]:
    calculate = _ARITHMETIC[operator]

    def calculated(left: Decimal, right: Decimal) -> Decimal:
        return fit(calculate(left, right), type_)

    return calculated


def plain_text(value: Decimal) -> str:
    """Without an exponent, however large or small it is."""
    return format(value, "f")


def _overflow(value: Decimal, type_: DecimalType) -> ValueError:
    return ValueError(
        f"Numeric field overflow: A field with precision {type_.precision} and scale {type_.scale} must round to an "
        f"absolute value less than 10^{type_.precision - type_.scale}. Got {value}"
    )
