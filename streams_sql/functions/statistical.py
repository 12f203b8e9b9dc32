"""The rest of the aggregates: ATTR, CORRELATION, HISTOGRAM, STDDEV_SAMP, STDDEV_SAMPLE, SUM_LIST."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from operator import add, sub
from typing import Any, Final

from streams_sql.evaluation.integers import wrap_bigint, wrap_integer
from streams_sql.function_declaration import Accumulator
from streams_sql.functions.registration import aggregate

HISTOGRAM_ENTRIES_MAX: Final = 1000

_NUMBERS: Final = ("INTEGER", "BIGINT", "DOUBLE")


@aggregate(
    "ATTR",
    "T -> T",
    doc="The value that all records of a group have, or NULL if they have different ones.",
    parameters=("val",),
)
class OnlyValue:
    """State: the values that were found, of which two are enough."""

    def start(self) -> list[Any]:
        return []

    def add(self, state: list[Any], value: Any) -> list[Any]:
        return state if len(state) > 1 or value in state else [*state, value]

    def merge(self, one: list[Any], other: list[Any]) -> list[Any]:
        return reduce(self.add, other, one)

    def result(self, state: list[Any]) -> Any:
        return state[0] if len(state) == 1 else None


@aggregate(
    "histogram",
    "STRING -> MAP<STRING, BIGINT>",
    doc=f"How often each value is in a group, for the first {HISTOGRAM_ENTRIES_MAX} different ones.",
    parameters=("val",),
)
class Histogram:
    def start(self) -> dict[str, int]:
        return {}

    def add(self, state: dict[str, int], value: str) -> dict[str, int]:
        if value in state or len(state) < HISTOGRAM_ENTRIES_MAX:
            state[value] = state.get(value, 0) + 1
        return state

    def undo(self, state: dict[str, int], value: str) -> dict[str, int]:
        if state.get(value, 0) > 1:
            state[value] -= 1
        else:
            state.pop(value, None)
        return state

    def merge(self, one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
        for value, count in other.items():
            if value in one or len(one) < HISTOGRAM_ENTRIES_MAX:
                one[value] = one.get(value, 0) + count
        return one

    def result(self, state: dict[str, int]) -> dict[str, int]:
        return dict(state)


@aggregate(
    "correlation",
    *[f"{name}, {name} -> DOUBLE" for name in _NUMBERS],
    doc="Pearson's correlation of two columns.",
    parameters=("x", "y"),
)
class Correlation:
    """State: the sums of x, y, x², y² and xy, and how many pairs there are."""

    def start(self) -> tuple[float, ...]:
        return (0.0,) * 6

    def add(self, state: tuple[float, ...], x: float | None, y: float | None) -> tuple[float, ...]:
        if x is None or y is None:
            return state
        return tuple(map(add, state, _moments(x, y)))

    def undo(self, state: tuple[float, ...], x: float | None, y: float | None) -> tuple[float, ...]:
        if x is None or y is None:
            return state
        return tuple(map(sub, state, _moments(x, y)))

    def merge(self, one: tuple[float, ...], other: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(map(add, one, other))

    def result(self, state: tuple[float, ...]) -> float:
        x, y, xx, yy, xy, count = state
        square = (count * xx - x * x) * (count * yy - y * y)
        return (count * xy - x * y) / math.sqrt(square) if square > 0 else math.nan


def _moments(x: float, y: float) -> tuple[float, ...]:
    x, y = float(x), float(y)
    return x, y, x * x, y * y, x * y, 1.0


class Spread:
    """State: count, sum, and the sum of the squares of the differences from the mean. Fewer than two values have no spread."""

    def __init__(self, from_variance: Callable[[float], float]) -> None:
        self._from_variance = from_variance

    def start(self) -> tuple[int, float, float]:
        return 0, 0, 0.0

    def add(self, state: tuple[int, float, float], value: float | None) -> tuple[int, float, float]:
        if value is None:
            return state
        count, total, squares = state[0] + 1, state[1] + value, state[2]
        if count > 1:
            squares += float(value * count - total) ** 2 / (count * (count - 1))
        return count, total, squares

    def undo(self, state: tuple[int, float, float], value: float | None) -> tuple[int, float, float]:
        if value is None:
            return state
        count, total, squares = state
        if count <= 1:
            return self.start()
        return count - 1, total - value, squares - float(value * count - total) ** 2 / (count * (count - 1))

    def merge(self, one: tuple[int, float, float], other: tuple[int, float, float]) -> tuple[int, float, float]:
        count, total, squares = (first + second for first, second in zip(one, other, strict=True))
        if one[0] and other[0]:
            squares += (one[1] / one[0] - other[1] / other[0]) ** 2 * one[0] * other[0] / count
        return int(count), total, squares

    def result(self, state: tuple[int, float, float]) -> float:
        count, _, squares = state
        return self._from_variance(squares / (count - 1)) if count > 1 else 0.0


_SPREAD_SIGNATURES: Final = tuple(f"{name} -> DOUBLE" for name in _NUMBERS)


@aggregate(
    "STDDEV_SAMP",
    *_SPREAD_SIGNATURES,
    doc="The variance of a sample: ksqlDB's function of this name takes no root. STDDEV_SAMPLE does.",
    parameters=("val",),
    spark="coalesce(var_samp({0}), 0D)",
)
def variance_of_sample() -> Accumulator:
    return Spread(float)


@aggregate(
    "STDDEV_SAMPLE",
    *_SPREAD_SIGNATURES,
    doc="The standard deviation of a sample.",
    parameters=("val",),
    spark="coalesce(stddev_samp({0}), 0D)",
)
def deviation_of_sample() -> Accumulator:
    return Spread(math.sqrt)


class SumOfLists:
    def __init__(self, zero: Any, wrap: Callable[[Any], Any]) -> None:
        self._zero = zero
        self._wrap = wrap

    def start(self) -> Any:
        return self._zero

    def add(self, state: Any, values: list[Any] | None) -> Any:
        return state if values is None else self._wrap(state + sum(value for value in values if value is not None))

    def undo(self, state: Any, values: list[Any] | None) -> Any:
        return state if values is None else self._wrap(state - sum(value for value in values if value is not None))

    def merge(self, one: Any, other: Any) -> Any:
        return self._wrap(one + other)

    def result(self, state: Any) -> Any:
        return state


_SUM_LIST_DOC: Final = "The sum of all elements of the arrays of a group."
_SPARK_SUM_LIST: Final = "coalesce(sum(aggregate({0}, %s, (total, x) -> total + coalesce(x, %s))), %s)"


@aggregate(
    "sum_list",
    "ARRAY<INTEGER> -> INTEGER",
    doc=_SUM_LIST_DOC,
    parameters=("val",),
    spark=f"cast({_SPARK_SUM_LIST % ('0L', '0', '0L')} AS INT)",
)
def sum_of_integer_lists() -> Accumulator:
    return SumOfLists(0, wrap_integer)


@aggregate(
    "sum_list",
    "ARRAY<BIGINT> -> BIGINT",
    doc=_SUM_LIST_DOC,
    parameters=("val",),
    spark=_SPARK_SUM_LIST % ("0L", "0L", "0L"),
)
def sum_of_bigint_lists() -> Accumulator:
    return SumOfLists(0, wrap_bigint)


@aggregate(
    "sum_list",
    "ARRAY<DOUBLE> -> DOUBLE",
    doc=_SUM_LIST_DOC,
    parameters=("val",),
    spark=_SPARK_SUM_LIST % ("0D", "0D", "0D"),
)
def sum_of_double_lists() -> Accumulator:
    return SumOfLists(0.0, float)
