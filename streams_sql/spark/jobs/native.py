"""Typed expressions as Spark's SQL, wherever Spark then means the same as the reference.

Spark runs with ANSI mode off: whole numbers wrap around, and what cannot be worked out is NULL. What differs all the same is not written
here: `native_text` is None, and the whole expression is left to the reference.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from typing import Any, Final

from streams_sql.analysis.numbers import as_decimal, fits
from streams_sql.formats.spark_types import spark_type
from streams_sql.functions.native_forms import native_text as filled_form
from streams_sql.sql_types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DECIMAL_PRECISION_MAX,
    DOUBLE,
    INTEGER,
    STRING,
    Array,
    Base,
    Decimal,
    SqlType,
    quoted,
)
from streams_sql.typed import (
    Call,
    Case,
    Cast,
    Column,
    Lambda,
    Like,
    Literal,
    MakeArray,
    MakeMap,
    MakeStruct,
    Operation,
    Operator,
    Parameter,
    StructField,
    Subscript,
    Typed,
)

_COMPARISONS: Final = {
    Operator.EQUAL: "=",
    Operator.NOT_EQUAL: "<>",
    Operator.LESS: "<",
    Operator.LESS_OR_EQUAL: "<=",
    Operator.GREATER: ">",
    Operator.GREATER_OR_EQUAL: ">=",
}
_NEVER_NULL: Final = {
    *_COMPARISONS,
    Operator.IN,
    Operator.IS_NULL,
    Operator.IS_NOT_NULL,
    Operator.DISTINCT,
    Operator.NOT_DISTINCT,
}
_ARITHMETIC: Final = {Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY, Operator.DIVIDE, Operator.MODULO}
_NATIVE_CASTS: Final = {
    (BOOLEAN, STRING),
    (INTEGER, BIGINT),
    (INTEGER, DOUBLE),
    (INTEGER, STRING),
    (BIGINT, DOUBLE),
    (BIGINT, STRING),
}
# No pattern holds it, so that it escapes nothing.
_NO_ESCAPE: Final = "\x01"


class _NotNative(Exception):
    """Spark has no equal for a part of the expression."""


def native_text(typed: Typed) -> str | None:
    """The expression in Spark's SQL, or None where Spark would mean something else."""
    try:
        return _text(typed)
    except _NotNative:
        return None


def literal_text(value: Any, type_: SqlType | None) -> str:
    """A value that Spark reads back as it is. Only values without parts can be written."""
    if value is None:
        return "NULL" if type_ is None else f"CAST(NULL AS {spark_type(type_)})"
    if isinstance(type_, Decimal):
        return f"CAST('{value:f}' AS {spark_type(type_)})"
    if type_ is BOOLEAN:
        return "true" if value else "false"
    if type_ is STRING:
        return string_text(value)
    if type_ is BYTES:
        return f"X'{value.hex()}'"
    if isinstance(type_, Base):
        return f"CAST('{value!r}' AS {spark_type(type_)})"
    raise _NotNative


def string_text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _text(typed: Typed) -> str:
    match typed:
        case Literal(value, type_):
            return literal_text(value, type_)
        case Column(name) | Parameter(name):
            return quoted(name)
        case Operation():
            return _operation(typed)
        case Call(_, overload, arguments):
            return _call(overload.spark, arguments)
        case Case(whens, default):
            branches = "".join(f" WHEN {_text(condition)} THEN {_text(value)}" for condition, value in whens)
            otherwise = "" if default is None else f" ELSE {_text(default)}"
            return f"(CASE{branches}{otherwise} END)"
        case Cast(operand, type_):
            return _cast(operand, type_)
        case Like(operand, pattern, escape):
            return _like(operand, pattern, escape)
    return _composite(typed)


def _composite(typed: Typed) -> str:
    match typed:
        case Subscript(operand, index):
            return _subscript(operand, index)
        case StructField(operand, name):
            return f"({_text(operand)}).{quoted(name)}"
        case MakeArray(elements, type_):
            return f"CAST(array({_texts(elements)}) AS {spark_type(type_)})"
        case MakeStruct(fields):
            return f"named_struct({', '.join(f'{string_text(name)}, {_text(value)}' for name, value in fields)})"
        case MakeMap():
            # A NULL among the keys would fail the query.
            raise _NotNative
    raise TypeError(f"{type(typed).__name__} is no expression")


def _texts(expressions: Sequence[Typed]) -> str:
    return ", ".join(map(_text, expressions))


def _call(template: str | None, arguments: Sequence[Typed | Lambda]) -> str:
    if template is None:
        raise _NotNative
    texts = [_lambda(argument) if isinstance(argument, Lambda) else _text(argument) for argument in arguments]
    return f"({filled_form(template, texts)})"


def _lambda(function: Lambda) -> str:
    names = ", ".join(quoted(parameter.name) for parameter in function.parameters)
    return f"({names}) -> {_text(function.body)}"


def _operation(operation: Operation) -> str:
    operator = operation.operator
    if operator in _COMPARISONS:
        return _comparison(operator, *operation.arguments)
    if operator in _ARITHMETIC:
        return _arithmetic(operation)
    return _logic(operator, operation)


def _logic(operator: Operator, operation: Operation) -> str:
    match operator, operation.arguments:
        case (Operator.AND, (left, right)):
            return _conjunction(left, right)
        case (Operator.OR, (left, right)):
            return _disjunction(left, right)
        case (Operator.NOT, (operand,)):
            return f"(NOT {_text(operand)})"
        case (Operator.IS_NULL, (operand,)):
            return f"({_text(operand)} IS NULL)"
        case (Operator.IS_NOT_NULL, (operand,)):
            return f"({_text(operand)} IS NOT NULL)"
        case (Operator.IN, (value, *others)):
            _require_plain(value, *others)
            return f"coalesce({_text(value)} IN ({_texts(others)}), false)"
        case (Operator.DISTINCT, (left, right)):
            _require_plain(left, right)
            return f"(NOT {_text(left)} <=> {_text(right)})"
        case (Operator.NOT_DISTINCT, (left, right)):
            _require_plain(left, right)
            return f"({_text(left)} <=> {_text(right)})"
        case (Operator.NEGATE, (operand,)) if operation.type in (INTEGER, BIGINT, DOUBLE):
            return f"(- {_text(operand)})"
    raise _NotNative


def _conjunction(left: Typed, right: Typed) -> str:
    """NULL on the left decides, whatever is on the right; SQL's own AND is false where the right side is."""
    if _is_never_null(left):
        return f"({_text(left)} AND {_text(right)})"
    return f"(CASE WHEN {_text(left)} THEN {_text(right)} ELSE {_text(left)} END)"


def _disjunction(left: Typed, right: Typed) -> str:
    if _is_never_null(left):
        return f"({_text(left)} OR {_text(right)})"
    return f"(CASE WHEN {_text(left)} THEN true WHEN NOT {_text(left)} THEN {_text(right)} END)"


def _is_never_null(typed: Typed) -> bool:
    match typed:
        case Literal(value):
            return value is not None
        case Like():
            return True
        case Operation(Operator.AND | Operator.OR | Operator.NOT, arguments):
            return all(map(_is_never_null, arguments))
        case Operation(operator):
            return operator in _NEVER_NULL
    return False


def _require_plain(*operands: Typed) -> None:
    """Values with parts, and floats (NaN), are compared by other rules than the reference's."""
    if any(not isinstance(operand.type, Base | Decimal | None) or operand.type is DOUBLE for operand in operands):
        raise _NotNative


def _comparison(operator: Operator, left: Typed, right: Typed) -> str:
    compared = f"{_text(left)} {_COMPARISONS[operator]} {_text(right)}"
    if DOUBLE in (left.type, right.type):
        if operator is Operator.NOT_EQUAL:
            raise _NotNative
        compared = " AND ".join(
            [compared, *(f"NOT isnan({_text(side)})" for side in (left, right) if _may_be_nan(side))]
        )
    else:
        _require_plain(left, right)
    return f"coalesce({compared}, false)"


def _may_be_nan(typed: Typed) -> bool:
    """Spark takes NaN for the largest number, equal to itself."""
    if isinstance(typed, Cast):
        return typed.operand.type not in (INTEGER, BIGINT)
    return not (isinstance(typed, Literal) and math.isfinite(typed.value or 0))


def _arithmetic(operation: Operation) -> str:
    left, right = operation.arguments
    sign = operation.operator.value
    text = f"{_text(left)} {sign} {_text(right)}"
    if operation.type in (INTEGER, BIGINT):
        if operation.operator is Operator.DIVIDE:
            text = f"{_text(left)} div {_text(right)}"
        # Sums of numbers of 32 bits stay so; `div` gives 64.
        return f"CAST({text} AS {spark_type(operation.type)})"
    if operation.type is STRING and operation.operator is Operator.ADD:
        return f"concat({_text(left)}, {_text(right)})"
    exact = operation.operator in (Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY)
    if operation.type is DOUBLE and (exact or _is_nonzero(right)):
        return f"({text})"
    if isinstance(operation.type, Decimal) and exact and operation.type.precision < DECIMAL_PRECISION_MAX:
        return f"CAST({text} AS {spark_type(operation.type)})"
    raise _NotNative


def _is_nonzero(divisor: Typed) -> bool:
    """Spark gives NULL for a float divided by zero, Java an infinity."""
    operand = divisor.operand if isinstance(divisor, Cast) else divisor
    return (
        isinstance(operand, Literal) and isinstance(operand.value, int | float | decimal.Decimal) and operand.value != 0
    )


def _cast(operand: Typed, type_: SqlType) -> str:
    source = operand.type
    if source == type_:
        return _text(operand)
    if source is None or (source, type_) in _NATIVE_CASTS or _widens(source, type_):
        return f"CAST({_text(operand)} AS {spark_type(type_)})"
    raise _NotNative


def _widens(source: SqlType, target: SqlType) -> bool:
    if not isinstance(target, Decimal):
        return False
    if source not in (INTEGER, BIGINT) and not isinstance(source, Decimal):
        return False
    # Else Spark gives NULL for what does not fit, and cannot report it.
    return fits(as_decimal(source), target)


def _like(operand: Typed, pattern: Typed, escape: str | None) -> str:
    if not isinstance(pattern, Literal) or pattern.value is None or escape is not None or _NO_ESCAPE in pattern.value:
        raise _NotNative
    return f"coalesce({_text(operand)} LIKE {string_text(pattern.value)} ESCAPE {string_text(_NO_ESCAPE)}, false)"


def _subscript(operand: Typed, index: Typed) -> str:
    collection, place = _text(operand), _text(index)
    if not isinstance(operand.type, Array):
        _require_plain(index)
        return f"try_element_at({collection}, {place})"
    if index.type is not INTEGER:
        raise _NotNative
    return f"get({collection}, CASE WHEN {place} > 0 THEN {place} - 1 ELSE size({collection}) + {place} END)"
