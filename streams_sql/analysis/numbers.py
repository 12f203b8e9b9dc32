"""The order of the types of numbers, and decimals that hold the results of operations."""

from __future__ import annotations

import decimal
from collections.abc import Mapping
from typing import Final

from streams_sql.sql_types import BIGINT, DECIMAL_PRECISION_MAX, DOUBLE, INTEGER, Decimal, SqlType

INTEGER_MAX: Final = 2**31 - 1
INTEGER_MIN: Final = -(2**31)
BIGINT_MAX: Final = 2**63 - 1
BIGINT_MIN: Final = -(2**63)
# How many digits after the point a quotient has at least, and a product where there are not digits enough for all of them.
SCALE_MIN: Final = 6
_AS_DECIMAL: Final[Mapping[SqlType, Decimal]] = {INTEGER: Decimal(10, 0), BIGINT: Decimal(19, 0)}


def rank(type_: SqlType | None) -> int | None:
    """How wide a type of numbers is; None for other types."""
    if isinstance(type_, Decimal):
        return 2
    if type_ == INTEGER:
        return 0
    if type_ == BIGINT:
        return 1
    return 3 if type_ == DOUBLE else None


def as_decimal(type_: SqlType) -> Decimal:
    """The decimal that holds all values of an INTEGER, BIGINT or DECIMAL."""
    return type_ if isinstance(type_, Decimal) else _AS_DECIMAL[type_]


def widened(left: SqlType, right: SqlType) -> SqlType:
    """The type of numbers that holds the values of both."""
    if DOUBLE in (left, right):
        return DOUBLE
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        one, other = as_decimal(left), as_decimal(right)
        scale = max(one.scale, other.scale)
        return _capped(max(one.precision - one.scale, other.precision - other.scale) + scale, scale)
    return BIGINT if BIGINT in (left, right) else INTEGER


def decimal_result(operator: str, left: Decimal, right: Decimal) -> Decimal:
    """The type of an operation on decimals."""
    scale = max(left.scale, right.scale)
    whole_digits = left.precision - left.scale, right.precision - right.scale
    match operator:
        case "*":
            return _adjusted(left.precision + right.precision + 1, left.scale + right.scale)
        case "/":
            scale = max(SCALE_MIN, left.scale + right.precision + 1)
            return _adjusted(left.precision - left.scale + right.scale + scale, scale)
        case "%":
            return _capped(min(whole_digits) + scale, scale)
    return _capped(max(whole_digits) + scale + 1, scale)


def decimal_of(value: decimal.Decimal) -> Decimal:
    """The type of a number that is written with a point."""
    _, digits, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    precision = len(digits) + max(0, int(exponent))
    return Decimal(max(precision, scale + 1), scale)


def fits(number: Decimal, into: Decimal) -> bool:
    """Whether every value of the one type is one of the other as well."""
    return number.scale <= into.scale and number.precision - number.scale <= into.precision - into.scale


def _capped(precision: int, scale: int) -> Decimal:
    return Decimal(min(precision, DECIMAL_PRECISION_MAX), min(scale, DECIMAL_PRECISION_MAX))


def _adjusted(precision: int, scale: int) -> Decimal:
    """Where there are too many digits, those after the point go first, down to six, as in Spark and SQL Server: a quotient of two sums,
    each with 38 digits, would have none before the point."""
    before_point = precision - scale
    if precision > DECIMAL_PRECISION_MAX:
        scale = max(DECIMAL_PRECISION_MAX - before_point, min(scale, SCALE_MIN))
    return _capped(precision, scale)
