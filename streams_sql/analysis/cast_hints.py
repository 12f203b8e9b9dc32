"""Which CAST to propose: one that cannot work helps nobody."""

from __future__ import annotations

from decimal import Decimal as DecimalNumber

from streams_sql.analysis.coercion import castable
from streams_sql.analysis.numbers import decimal_of
from streams_sql.evaluation.casts import cast_function
from streams_sql.language.expressions import Expression, Literal
from streams_sql.sql_types import BIGINT, BOOLEAN, DOUBLE, STRING, SqlType


def can_cast(expression: Expression, found: SqlType | None, wanted: SqlType) -> bool:
    """Whether CAST(expression AS wanted) is allowed and, where the expression is a literal, gives a value."""
    if not castable(found, wanted):
        return False
    if not isinstance(expression, Literal) or expression.value is None:
        return True
    convert = cast_function(_literal_type(expression), wanted)
    try:
        return convert is None or convert(expression.value) is not None
    except (ValueError, ArithmeticError):
        return False


def _literal_type(literal: Literal) -> SqlType:
    match literal.value:
        case bool():
            return BOOLEAN
        case int():
            return BIGINT
        case float():
            return DOUBLE
        case DecimalNumber() as number:
            return decimal_of(number)
    return STRING
