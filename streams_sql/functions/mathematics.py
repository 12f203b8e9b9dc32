"""Numbers: sizes, signs and roundings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from functools import reduce
from typing import Any, Final

from streams_sql.evaluation import decimals
from streams_sql.evaluation.integers import BIGINT_MAX, saturate, wrap_bigint, wrap_integer
from streams_sql.function_declaration import Group
from streams_sql.functions.registration import scalar
from streams_sql.problem import SqlProblem
from streams_sql.sql_types import Decimal as DecimalType
from streams_sql.sql_types import SqlType

_ORDERED: Final = ("INTEGER", "BIGINT", "DOUBLE", "STRING", "BYTES", "DATE", "TIME", "TIMESTAMP")
_ANY_NUMBER_OF: Final = tuple(f"{type_}, {type_}... -> {type_}" for type_ in _ORDERED)

_ABS_DOC: Final = "The absolute value of its argument."


@scalar("Abs", "INTEGER -> INTEGER", group=Group.MATH, doc=_ABS_DOC, parameters=("val",), spark="abs({0})")
def absolute_integer(value: int) -> int:
    return wrap_integer(abs(value))


@scalar("Abs", "BIGINT -> BIGINT", group=Group.MATH, doc=_ABS_DOC, parameters=("val",), spark="abs({0})")
def absolute_bigint(value: int) -> int:
    return wrap_bigint(abs(value))


@scalar("Abs", "DOUBLE -> DOUBLE", group=Group.MATH, doc=_ABS_DOC, parameters=("val",), spark="abs({0})")
def absolute(value: float) -> float:
    return abs(value)


def same_type(types: Sequence[SqlType | None]) -> SqlType:
    """The type of the first argument is that of the result."""
    if types[0] is None:
        raise SqlProblem("The type of NULL is not known: CAST it to one")
    return types[0]


def whole_decimal(types: Sequence[SqlType | None]) -> SqlType:
    """What is left of a decimal without its fraction."""
    decimal = same_type(types)
    return DecimalType(max(1, decimal.precision - decimal.scale), 0) if isinstance(decimal, DecimalType) else decimal


@scalar(
    "Abs",
    "DECIMAL -> DECIMAL",
    group=Group.MATH,
    doc=_ABS_DOC,
    parameters=("val",),
    returns=same_type,
    spark="abs({0})",
)
def absolute_decimal(value: Decimal) -> Decimal:
    return value.copy_abs()


_CEIL_DOC: Final = "The smallest whole number that is not below the value."
_FLOOR_DOC: Final = "The largest whole number that is not above the value."


@scalar(
    "Ceil",
    "INTEGER -> INTEGER",
    "BIGINT -> BIGINT",
    group=Group.MATH,
    doc=_CEIL_DOC,
    parameters=("val",),
    spark="{0}",
)
@scalar(
    "Floor",
    "INTEGER -> INTEGER",
    "BIGINT -> BIGINT",
    group=Group.MATH,
    doc=_FLOOR_DOC,
    parameters=("val",),
    spark="{0}",
)
def whole_number(value: int) -> int:
    return value


@scalar("Ceil", "DOUBLE -> DOUBLE", group=Group.MATH, doc=_CEIL_DOC, parameters=("val",))
def ceiling(value: float) -> float:
    return math.copysign(math.ceil(value), value) if math.isfinite(value) else value


@scalar("Floor", "DOUBLE -> DOUBLE", group=Group.MATH, doc=_FLOOR_DOC, parameters=("val",))
def floor(value: float) -> float:
    return math.copysign(math.floor(value), value) if math.isfinite(value) else value


def _rounded_decimal(result: SqlType, rounding: Callable[[Decimal], str]) -> Callable[..., Decimal]:
    """What rounds decimals to so many places, as values of the type of the result."""
    if not isinstance(result, DecimalType):
        raise TypeError(f"{result} is no decimal")

    def rounded(value: Decimal, places: int = 0) -> Decimal:
        return decimals.fit(decimals.rescale(value, places, rounding(value)), result)

    return rounded


def _half_up(value: Decimal) -> str:
    """Halves go up, towards the larger number: -2.5 becomes -2."""
    return ROUND_HALF_UP if value > 0 else ROUND_HALF_DOWN


def _down(_: Decimal) -> str:
    return ROUND_DOWN


def _up_always(_: Decimal) -> str:
    return ROUND_CEILING


def _down_always(_: Decimal) -> str:
    return ROUND_FLOOR


@scalar(
    "Ceil",
    "DECIMAL -> DECIMAL",
    group=Group.MATH,
    doc=_CEIL_DOC,
    parameters=("val",),
    returns=same_type,
    is_typed=True,
)
def ceiling_decimal(_: Sequence[SqlType | None], result: SqlType) -> Callable[..., Decimal]:
    return _rounded_decimal(result, _up_always)


@scalar(
    "Floor",
    "DECIMAL -> DECIMAL",
    group=Group.MATH,
    doc=_FLOOR_DOC,
    parameters=("val",),
    returns=same_type,
    is_typed=True,
)
def floor_decimal(_: Sequence[SqlType | None], result: SqlType) -> Callable[..., Decimal]:
    return _rounded_decimal(result, _down_always)


_ROUND_DOC: Final = (
    "Rounds a value to so many decimal places, none by default; with a negative number to the left of the point. Halves are rounded up, "
    "in the positive direction."
)
_TRUNC_DOC: Final = (
    "Cuts a value off after so many decimal places, none by default; with a negative number to the left of the point."
)
_PLACES: Final = ("val", "decimalPlaces")


@scalar(
    "Round",
    "BIGINT -> BIGINT",
    "INTEGER -> BIGINT",
    group=Group.MATH,
    doc=_ROUND_DOC,
    parameters=_PLACES,
    spark="bigint({0})",
)
@scalar(
    "trunc",
    "BIGINT -> BIGINT",
    "INTEGER -> BIGINT",
    group=Group.MATH,
    doc=_TRUNC_DOC,
    parameters=_PLACES,
    spark="bigint({0})",
)
def whole_bigint(value: int) -> int:
    return value


@scalar("Round", "DOUBLE -> BIGINT", group=Group.MATH, doc=_ROUND_DOC, parameters=_PLACES)
def rounded(value: float) -> int:
    if not math.isfinite(value):
        return saturate(value, BIGINT_MAX)
    below = math.floor(value)
    return max(-BIGINT_MAX - 1, min(BIGINT_MAX, below + (value - below >= 0.5)))


@scalar("trunc", "DOUBLE -> BIGINT", group=Group.MATH, doc=_TRUNC_DOC, parameters=_PLACES, spark="bigint({0})")
def truncated(value: float) -> int:
    return saturate(value, BIGINT_MAX)


@scalar("Round", "DOUBLE, INTEGER -> DOUBLE", group=Group.MATH, doc=_ROUND_DOC, parameters=_PLACES)
def rounded_to_places(value: float, places: int) -> float:
    exact = Decimal(repr(value))
    return float(decimals.rescale(exact, places, _half_up(exact)))


@scalar("trunc", "DOUBLE, INTEGER -> DOUBLE", group=Group.MATH, doc=_TRUNC_DOC, parameters=_PLACES)
def truncated_to_places(value: float, places: int) -> float:
    return float(decimals.rescale(Decimal(repr(value)), places, ROUND_DOWN))


@scalar(
    "Round",
    "DECIMAL -> DECIMAL",
    group=Group.MATH,
    doc=_ROUND_DOC,
    parameters=_PLACES,
    returns=whole_decimal,
    is_typed=True,
)
@scalar(
    "Round",
    "DECIMAL, INTEGER -> DECIMAL",
    group=Group.MATH,
    doc=_ROUND_DOC,
    parameters=_PLACES,
    returns=same_type,
    is_typed=True,
)
def rounded_decimal(_: Sequence[SqlType | None], result: SqlType) -> Callable[..., Decimal]:
    return _rounded_decimal(result, _half_up)


@scalar(
    "trunc",
    "DECIMAL -> DECIMAL",
    group=Group.MATH,
    doc=_TRUNC_DOC,
    parameters=_PLACES,
    returns=whole_decimal,
    is_typed=True,
)
@scalar(
    "trunc",
    "DECIMAL, INTEGER -> DECIMAL",
    group=Group.MATH,
    doc=_TRUNC_DOC,
    parameters=_PLACES,
    returns=same_type,
    is_typed=True,
)
def truncated_decimal(_: Sequence[SqlType | None], result: SqlType) -> Callable[..., Decimal]:
    return _rounded_decimal(result, _down)


@scalar(
    "sign",
    "INTEGER -> INTEGER",
    "BIGINT -> INTEGER",
    "DOUBLE -> INTEGER",
    group=Group.MATH,
    doc="The sign of a value: 1, 0 or -1.",
    parameters=("value",),
    spark="int(sign({0}))",
)
def sign(value: float) -> int:
    return (value > 0) - (value < 0)


_GREATEST_DOC: Final = "The highest value that is not NULL among any number of values."
_LEAST_DOC: Final = "The lowest value that is not NULL among any number of values."
_VALUES: Final = ("val", "vals")


def _rank(value: Any) -> tuple[bool, Any]:
    """NaN is above all numbers."""
    return value != value, value


@scalar(
    "greatest",
    *_ANY_NUMBER_OF,
    group=Group.MATH,
    doc=_GREATEST_DOC,
    parameters=_VALUES,
    takes_null=True,
    spark="greatest({0}, {*})",
)
def greatest(*values: Any) -> Any:
    return max((value for value in values if value is not None), key=_rank, default=None)


@scalar(
    "least",
    *_ANY_NUMBER_OF,
    group=Group.MATH,
    doc=_LEAST_DOC,
    parameters=_VALUES,
    takes_null=True,
    spark="least({0}, {*})",
)
def least(*values: Any) -> Any:
    return min((value for value in values if value is not None), key=_rank, default=None)


def widest_decimal(types: Sequence[SqlType | None]) -> SqlType:
    """The decimal that holds the values of all of these."""
    found = [type_ for type_ in types if isinstance(type_, DecimalType)]
    if not found:
        raise SqlProblem("The type of NULL is not known: CAST it to one")
    return reduce(_wider, found)


def _wider(left: DecimalType, right: DecimalType) -> DecimalType:
    scale = max(left.scale, right.scale)
    return DecimalType(max(left.precision - left.scale, right.precision - right.scale) + scale, scale)


def _chosen_decimal(result: SqlType, choose: Callable[..., Any]) -> Callable[..., Decimal | None]:
    if not isinstance(result, DecimalType):
        raise TypeError(f"{result} is no decimal")

    def chosen(*values: Decimal | None) -> Decimal | None:
        value = choose(*values)
        return None if value is None else decimals.fit(value, result)

    return chosen


@scalar(
    "greatest",
    "DECIMAL, DECIMAL... -> DECIMAL",
    group=Group.MATH,
    doc=_GREATEST_DOC,
    parameters=_VALUES,
    takes_null=True,
    returns=widest_decimal,
    is_typed=True,
)
def greatest_decimal(_: Sequence[SqlType | None], result: SqlType) -> Callable[..., Decimal | None]:
    return _chosen_decimal(result, greatest)


@scalar(
    "least",
    "DECIMAL, DECIMAL... -> DECIMAL",
    group=Group.MATH,
    doc=_LEAST_DOC,
    parameters=_VALUES,
    takes_null=True,
    returns=widest_decimal,
    is_typed=True,
)
def least_decimal(_: Sequence[SqlType | None], result: SqlType) -> Callable[..., Decimal | None]:
    return _chosen_decimal(result, least)
