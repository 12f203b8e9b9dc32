"""Aggregates whose state is a number or two, or one of the values.

States are values that never change: to add a record gives a new one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import partial
from typing import Any, Final

from streams_sql.evaluation.integers import wrap_bigint, wrap_integer
from streams_sql.functions.declaration import Accumulator
from streams_sql.functions.registration import aggregate
from streams_sql.sql_types import DECIMAL_PRECISION_MAX, SqlType

_DECIMALS: Final = Context(prec=DECIMAL_PRECISION_MAX, rounding=ROUND_HALF_UP)
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


_SUM_DOC: Final = "The sum of the values of a group."


@aggregate("SUM", "INTEGER -> INTEGER", doc=_SUM_DOC, parameters=("val",), spark="cast(coalesce(sum({0}), 0) AS INT)")
def sum_of_integers() -> Accumulator:
    return Sum(0, wrap_integer)


@aggregate("SUM", "BIGINT -> BIGINT", doc=_SUM_DOC, parameters=("val",), spark="coalesce(sum({0}), 0)")
def sum_of_bigints() -> Accumulator:
    return Sum(0, wrap_bigint)


@aggregate("SUM", "DOUBLE -> DOUBLE", doc=_SUM_DOC, parameters=("val",), spark="coalesce(sum({0}), 0D)")
def sum_of_doubles() -> Accumulator:
    return Sum(0.0, float)


@aggregate(
    "SUM",
    "DECIMAL -> DECIMAL",
    doc=_SUM_DOC,
    parameters=("val",),
    returns=type_of_first,
    spark="coalesce(sum({0}), 0)",
)
def sum_of_decimals() -> Accumulator:
    return Sum(Decimal(0), _DECIMALS.plus)


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


_AVG_DOC: Final = "The average of the values of a group."
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
