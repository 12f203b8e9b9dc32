"""Aggregates whose state is a number or two, or one of the values.

States are values that never change: to add a record gives a new one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, Final

from streams_sql.evaluation import decimals
from streams_sql.evaluation.integers import wrap_bigint, wrap_integer
from streams_sql.function_declaration import Accumulator
from streams_sql.functions.registration import aggregate
from streams_sql.sql_types import DECIMAL_PRECISION_MAX, SqlType
from streams_sql.sql_types import Decimal as DecimalType

NATIVE_PRECISION_MAX: Final = 18
"""Sums of longer decimals are left to the accumulator. Spark makes NULL of a sum of more than 38 digits and cannot report it; below this
precision a sum gets there after 10^20 values, more than topics hold."""
_NATIVE_ADDENDS: Final = DECIMAL_PRECISION_MAX - 10
"""Digits of what Spark adds up: its sums have ten more."""
AVERAGE_DIGITS: Final = 4
"""After the point, more than the values have."""
_COMPARABLE: Final = ("INTEGER", "BIGINT", "DOUBLE", "DATE", "TIME", "TIMESTAMP", "STRING", "BYTES")
_COMPARABLE_SIGNATURES: Final = tuple(f"{name} -> {name}" for name in _COMPARABLE)


def type_of_first(types: Sequence[SqlType | None]) -> SqlType:
    """A result of the same type as the first argument."""
    first = types[0]
    assert first is not None, "an aggregate of NULL alone has no type"
    return first


# -- COUNT ----------------------------------------------------------------------------------------


@aggregate("COUNT", "-> BIGINT", doc="The number of records of a group.", spark="count(*)")
class CountRecords:
    def start(self) -> int:
        return 0

    def add(self, state: int) -> int:
        return state + 1

    def undo(self, state: int) -> int:
        return state - 1

    def merge(self, one: int, other: int) -> int:
        return one + other

    def result(self, state: int) -> int:
        return state


@aggregate(
    "COUNT",
    "T -> BIGINT",
    doc="The number of records of a group whose value is not NULL.",
    parameters=("val",),
    spark="count({0})",
)
class Count:
    def start(self) -> int:
        return 0

    def add(self, state: int, value: Any) -> int:
        return state if value is None else state + 1

    def undo(self, state: int, value: Any) -> int:
        return state if value is None else state - 1

    def merge(self, one: int, other: int) -> int:
        return one + other

    def result(self, state: int) -> int:
        return state


# -- SUM ------------------------------------------------------------------------------------------


class Sum:
    """NULLs are left out; the sum of nothing is 0."""

    def __init__(self, zero: Any, wrap: Callable[[Any], Any]) -> None:
        self._zero = zero
        self._wrap = wrap

    def start(self) -> Any:
        return self._zero

    def add(self, state: Any, value: Any) -> Any:
        return state if value is None else self._wrap(state + value)

    def undo(self, state: Any, value: Any) -> Any:
        return state if value is None else self._wrap(state - value)

    def merge(self, one: Any, other: Any) -> Any:
        return self._wrap(one + other)

    def result(self, state: Any) -> Any:
        return state


_SUM_DOC: Final = (
    f"The sum of the values of a group. That of DECIMAL(p, s) is exact and a DECIMAL({DECIMAL_PRECISION_MAX}, s); where it has more digits "
    "it is NULL, which is reported, until it fits again."
)


@aggregate("SUM", "INTEGER -> INTEGER", doc=_SUM_DOC, parameters=("val",), spark="cast(coalesce(sum({0}), 0) AS INT)")
def sum_of_integers() -> Accumulator:
    return Sum(0, wrap_integer)


@aggregate("SUM", "BIGINT -> BIGINT", doc=_SUM_DOC, parameters=("val",), spark="coalesce(sum({0}), 0)")
def sum_of_bigints() -> Accumulator:
    return Sum(0, wrap_bigint)


@aggregate("SUM", "DOUBLE -> DOUBLE", doc=_SUM_DOC, parameters=("val",), spark="coalesce(sum({0}), 0D)")
def sum_of_doubles() -> Accumulator:
    return Sum(0.0, float)


class DecimalSum:
    """The state is exact, however long it gets, so that the order of the values does not matter and each can be undone. A sum that its type
    cannot hold is an error of the result, until the sum fits again."""

    def __init__(self, type_: DecimalType) -> None:
        self._type = type_

    def start(self) -> Decimal:
        return Decimal(0)

    def add(self, state: Decimal, value: Decimal | None) -> Decimal:
        return state if value is None else decimals.plus(state, value)

    def undo(self, state: Decimal, value: Decimal | None) -> Decimal:
        return state if value is None else decimals.minus(state, value)

    def merge(self, one: Decimal, other: Decimal) -> Decimal:
        return decimals.plus(one, other)

    def result(self, state: Decimal) -> Decimal:
        return decimals.fit(state, self._type)


def _decimal_of_first(types: Sequence[SqlType | None]) -> DecimalType:
    first = type_of_first(types)
    assert isinstance(first, DecimalType), "the signature accepts decimals only"
    return first


def _type_of_sum(types: Sequence[SqlType | None]) -> SqlType:
    """As many digits as there are, so that no sum of practical length overflows."""
    return DecimalType(DECIMAL_PRECISION_MAX, _decimal_of_first(types).scale)


def _native_form(spark: str, types: Sequence[SqlType | None]) -> str | None:
    """The form of an aggregate that Spark computes from a sum."""
    type_ = _decimal_of_first(types)
    if type_.precision > NATIVE_PRECISION_MAX:
        return None
    return f"coalesce({spark}(CAST({{0}} AS DECIMAL({_NATIVE_ADDENDS}, {type_.scale}))), 0)"


@aggregate(
    "SUM",
    "DECIMAL -> DECIMAL",
    doc=_SUM_DOC,
    parameters=("val",),
    returns=_type_of_sum,
    spark=partial(_native_form, "sum"),
    is_typed=True,
)
def sum_of_decimals(type_: DecimalType) -> Accumulator:
    return DecimalSum(type_)


# -- AVG ------------------------------------------------------------------------------------------


class Average:
    """State: sum and count. The average of nothing is 0."""

    def __init__(self, zero: Any, wrap: Callable[[Any], Any]) -> None:
        self._zero = zero
        self._wrap = wrap

    def start(self) -> tuple[Any, int]:
        return self._zero, 0

    def add(self, state: tuple[Any, int], value: Any) -> tuple[Any, int]:
        return state if value is None else (self._wrap(state[0] + value), state[1] + 1)

    def undo(self, state: tuple[Any, int], value: Any) -> tuple[Any, int]:
        return state if value is None else (self._wrap(state[0] - value), state[1] - 1)

    def merge(self, one: tuple[Any, int], other: tuple[Any, int]) -> tuple[Any, int]:
        return self._wrap(one[0] + other[0]), one[1] + other[1]

    def result(self, state: tuple[Any, int]) -> float:
        total, count = state
        return float(total) / count if count else 0.0


_AVG_DOC: Final = (
    "The average of the values of a group. That of DECIMAL(p, s) is a DECIMAL"
    f"(p + {AVERAGE_DIGITS}, s + {AVERAGE_DIGITS}), rounded half up from the exact sum."
)
_SPARK_AVERAGE: Final = "CASE WHEN count({0}) = 0 THEN 0D ELSE cast(%s AS DOUBLE) / count({0}) END"


@aggregate(
    "avg", "INTEGER -> DOUBLE", doc=_AVG_DOC, parameters=("val",), spark=_SPARK_AVERAGE % "cast(sum({0}) AS INT)"
)
def average_of_integers() -> Accumulator:
    """The sum wraps around as an INTEGER does, as in ksqlDB."""
    return Average(0, wrap_integer)


@aggregate("avg", "BIGINT -> DOUBLE", doc=_AVG_DOC, parameters=("val",), spark=_SPARK_AVERAGE % "sum({0})")
def average_of_bigints() -> Accumulator:
    return Average(0, wrap_bigint)


@aggregate("avg", "DOUBLE -> DOUBLE", doc=_AVG_DOC, parameters=("val",), spark=_SPARK_AVERAGE % "sum({0})")
def average_of_doubles() -> Accumulator:
    return Average(0.0, float)


class DecimalAverage:
    """State: the exact sum, and the count. The average of nothing is 0."""

    def __init__(self, type_: DecimalType) -> None:
        self._type = type_

    def start(self) -> tuple[Decimal, int]:
        return Decimal(0), 0

    def add(self, state: tuple[Decimal, int], value: Decimal | None) -> tuple[Decimal, int]:
        return state if value is None else (decimals.plus(state[0], value), state[1] + 1)

    def undo(self, state: tuple[Decimal, int], value: Decimal | None) -> tuple[Decimal, int]:
        return state if value is None else (decimals.minus(state[0], value), state[1] - 1)

    def merge(self, one: tuple[Decimal, int], other: tuple[Decimal, int]) -> tuple[Decimal, int]:
        return decimals.plus(one[0], other[0]), one[1] + other[1]

    def result(self, state: tuple[Decimal, int]) -> Decimal:
        total, count = state
        return decimals.fit(decimals.quotient(total, Decimal(count or 1)), self._type)


def _type_of_average(types: Sequence[SqlType | None]) -> SqlType:
    """More digits after the point where there are as many, and as many before it: an average is never too large for it."""
    type_ = _decimal_of_first(types)
    more = min(AVERAGE_DIGITS, DECIMAL_PRECISION_MAX - type_.precision)
    return DecimalType(type_.precision + more, type_.scale + more)


@aggregate(
    "avg",
    "DECIMAL -> DECIMAL",
    doc=_AVG_DOC,
    parameters=("val",),
    returns=_type_of_average,
    spark=partial(_native_form, "avg"),
    is_typed=True,
)
def average_of_decimals(type_: DecimalType) -> Accumulator:
    return DecimalAverage(type_)


# -- MIN, MAX -------------------------------------------------------------------------------------


class Extreme:
    """The value that comes before all others by `is_before`. NULLs are left out."""

    def __init__(self, is_before: Callable[[Any, Any], bool]) -> None:
        self._is_before = is_before

    def start(self) -> Any:
        return None

    def add(self, state: Any, value: Any) -> Any:
        if value is None or (state is not None and not self._is_before(value, state)):
            return state
        return value

    def merge(self, one: Any, other: Any) -> Any:
        return self.add(one, other)

    def result(self, state: Any) -> Any:
        return state


def is_less(left: Any, right: Any) -> bool:
    """What is no number is greater than all numbers."""
    if isinstance(right, float) and math.isnan(right):
        return not math.isnan(left)
    return bool(left < right)


def is_greater(left: Any, right: Any) -> bool:
    return is_less(right, left)


_declare_minimum = partial(aggregate, "MIN", doc="The least value of a group.", parameters=("val",), spark="min({0})")
_declare_maximum = partial(
    aggregate, "MAX", doc="The greatest value of a group.", parameters=("val",), spark="max({0})"
)


@_declare_minimum(*_COMPARABLE_SIGNATURES)
@_declare_minimum("DECIMAL -> DECIMAL", returns=type_of_first)
def minimum() -> Accumulator:
    return Extreme(is_less)


@_declare_maximum(*_COMPARABLE_SIGNATURES)
@_declare_maximum("DECIMAL -> DECIMAL", returns=type_of_first)
def maximum() -> Accumulator:
    return Extreme(is_greater)
