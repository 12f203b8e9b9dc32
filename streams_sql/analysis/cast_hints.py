"""Which CAST to propose: one that cannot work helps nobody."""

from __future__ import annotations

from decimal import Decimal as DecimalNumber
from typing import Final

from streams_sql.analysis.coercion import castable
from streams_sql.analysis.numbers import decimal_of
from streams_sql.analysis.traversal import walk
from streams_sql.evaluation.casts import cast_function
from streams_sql.language.expressions import ColumnName, Expression, Literal
from streams_sql.sql_types import BIGINT, BOOLEAN, DOUBLE, STRING, SqlType

_TRUTHS: Final = ("true", "false")


def can_cast(expression: Expression, found: SqlType | None, wanted: SqlType) -> bool:
    """Whether CAST(expression AS wanted) is allowed and, where the expression is a literal, gives a value."""
    if not castable(found, wanted):
        return False
    if not isinstance(expression, Literal):
        # What is made of literals alone has one value, and nobody has looked whether it can be converted.
        return any(isinstance(part, ColumnName) for part in walk(expression))
    if expression.value is None:
        return True
    if wanted == BOOLEAN and str(expression.value).lower() not in _TRUTHS:
        # It would be FALSE, whatever it is.
        return False
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
