"""The types of operators, with the casts that they need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from streams_sql.analysis.coercion import converted
from streams_sql.analysis.numbers import as_decimal, decimal_result, rank, widened
from streams_sql.analysis.type_names import base_name
from streams_sql.problem import SqlProblem
from streams_sql.sql_types import (
    BOOLEAN,
    BYTES,
    DATE,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Decimal,
    Map,
    SqlType,
    Struct,
)
from streams_sql.typed import Operation, Operator, Typed

_ARITHMETIC: Final[Mapping[str, Operator]] = {
    "+": Operator.ADD,
    "||": Operator.ADD,
    "-": Operator.SUBTRACT,
    "*": Operator.MULTIPLY,
    "/": Operator.DIVIDE,
    "%": Operator.MODULO,
}
COMPARISONS: Final[Mapping[str, Operator]] = {
    "=": Operator.EQUAL,
    "<>": Operator.NOT_EQUAL,
    "<": Operator.LESS,
    "<=": Operator.LESS_OR_EQUAL,
    ">": Operator.GREATER,
    ">=": Operator.GREATER_OR_EQUAL,
    "IS DISTINCT FROM": Operator.DISTINCT,
    "IS NOT DISTINCT FROM": Operator.NOT_DISTINCT,
}
LOGICAL: Final[Mapping[str, Operator]] = {"AND": Operator.AND, "OR": Operator.OR}
COMPARISON_WORDS: Final[Mapping[Operator, str]] = {
    Operator.EQUAL: "EQUAL",
    Operator.NOT_EQUAL: "NOT_EQUAL",
    Operator.LESS: "LESS_THAN",
    Operator.LESS_OR_EQUAL: "LESS_THAN_OR_EQUAL",
    Operator.GREATER: "GREATER_THAN",
    Operator.GREATER_OR_EQUAL: "GREATER_THAN_OR_EQUAL",
    Operator.DISTINCT: "IS_DISTINCT_FROM",
    Operator.NOT_DISTINCT: "IS_NOT_DISTINCT_FROM",
}
_EQUALITIES: Final = frozenset({Operator.EQUAL, Operator.NOT_EQUAL, Operator.DISTINCT, Operator.NOT_DISTINCT})
_TIMES: Final = (TIME, DATE, TIMESTAMP)


def arithmetic(sign: str, left: Typed, right: Typed) -> Operation:
    operator = _ARITHMETIC[sign]
    one, other = left.type, right.type
    if one is None or other is None:
        found = f"{_shown(one)} and {_shown(other)}"
        raise SqlProblem(f"Arithmetic on types {found} are not supported. Cast NULL to the type that is meant.")
    if operator is Operator.ADD and one == other == STRING:
        return Operation(operator, (left, right), STRING)
    if rank(one) is None or rank(other) is None or sign == "||":
        raise SqlProblem(f"Unsupported arithmetic types. {base_name(one)} {base_name(other)}")
    wide = widened(one, other)
    if isinstance(wide, Decimal):
        decimals = as_decimal(one), as_decimal(other)
        arguments = converted(left, decimals[0]), converted(right, decimals[1])
        return Operation(operator, arguments, decimal_result(sign, *decimals))
    return Operation(operator, (converted(left, wide), converted(right, wide)), wide)


def comparison(sign: str, left: Typed, right: Typed) -> Operation | None:
    """None where the types cannot be compared that way."""
    operator = COMPARISONS[sign]
    one, other = left.type, right.type
    if one is None or other is None:
        raise SqlProblem(
            f"Comparison with NULL not supported: {base_name(one)} {sign} {base_name(other)}\n"
            "Use 'IS NULL' or 'IS NOT NULL' instead."
        )
    common = _compared_as(one, other)
    if common is None or not (operator in _EQUALITIES or _is_ordered(one)):
        return None
    return Operation(operator, (_operand(left, common), _operand(right, common)), BOOLEAN)


def _operand(item: Typed, common: SqlType) -> Typed:
    """Decimals and nested values are compared as they are, whatever their precision: nothing is gained by a cast that may not fit."""
    if isinstance(common, Decimal) and item.type is not None:
        return converted(item, as_decimal(item.type))
    return item if isinstance(common, Array | Map | Struct) else converted(item, common)


def _compared_as(one: SqlType, other: SqlType) -> SqlType | None:
    if rank(one) is not None and rank(other) is not None:
        return widened(one, other)
    for text, time in ((one, other), (other, one)):
        if text == STRING and time in _TIMES:
            return time
    if {one, other} == {DATE, TIMESTAMP}:
        return TIMESTAMP
    return one if base_name(one) == base_name(other) else None


def _is_ordered(type_: SqlType) -> bool:
    return rank(type_) is not None or type_ in (STRING, BYTES, *_TIMES)


def _shown(type_: SqlType | None) -> str:
    return "null" if type_ is None else str(type_)
