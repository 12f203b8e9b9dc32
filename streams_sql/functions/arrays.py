"""Arrays. Two elements are the same if they are equal; NULL is one like others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from streams_sql.evaluation.casts import text_function
from streams_sql.evaluation.integers import wrap_bigint, wrap_integer
from streams_sql.function_declaration import Group
from streams_sql.functions.registration import scalar
from streams_sql.problem import SqlProblem
from streams_sql.sql_types import BIGINT, BOOLEAN, DOUBLE, INTEGER, STRING, Array, SqlType
from streams_sql.sql_types import Decimal as DecimalType

SERIES_LENGTH_MAX: Final = 1_000_000
"""Elements that GENERATE_SERIES makes at most: bounds that come with a record must not fill the memory."""

_ONE: Final = ("array: the array",)
_INPUT: Final = ("input: the array",)
_TWO: Final = ("left: the first array", "right: the second array")
_JOINABLE: Final = (BOOLEAN, INTEGER, BIGINT, DOUBLE, STRING)


def _frozen(value: Any) -> Any:
    """What stands for an element in a set."""
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    if isinstance(value, dict):
        return frozenset((key, _frozen(held)) for key, held in value.items())
    return value


def _distinct(values: Iterable[Any]) -> list[Any]:
    first: dict[Any, Any] = {}
    for value in values:
        first.setdefault(_frozen(value), value)
    return list(first.values())


@scalar(
    "array_concat",
    "ARRAY<T>, ARRAY<T> -> ARRAY<T>",
    group=Group.ARRAY,
    doc="The elements of two arrays, one array after the other. NULL is taken as an empty one, unless both are.",
    parameters=_TWO,
    takes_null=True,
    spark="coalesce(concat({0}, {1}), {0}, {1})",
)
def array_concat(left: list[Any] | None, right: list[Any] | None) -> list[Any] | None:
    return None if left is None and right is None else (left or []) + (right or [])


@scalar(
    "ARRAY_CONTAINS",
    "ARRAY<T>, T -> BOOLEAN",
    group=Group.ARRAY,
    doc="Whether an array has an element.",
    parameters=(*_ONE, "val: the element"),
    takes_null=True,
)
def array_contains(values: list[Any] | None, searched: Any) -> bool:
    return values is not None and searched in values


@scalar(
    "array_distinct",
    "ARRAY<T> -> ARRAY<T>",
    group=Group.ARRAY,
    doc="The distinct elements of an array, in the order of their first places.",
    parameters=_INPUT,
)
def array_distinct(values: list[Any]) -> list[Any]:
    return _distinct(values)


@scalar(
    "array_except",
    "ARRAY<T>, ARRAY<T> -> ARRAY<T>",
    group=Group.ARRAY,
    doc="The distinct elements of an array that are not in a second one.",
    parameters=_TWO,
)
def array_except(left: list[Any], right: list[Any]) -> list[Any]:
    others = set(map(_frozen, right))
    return [value for value in _distinct(left) if _frozen(value) not in others]


@scalar(
    "array_intersect",
    "ARRAY<T>, ARRAY<T> -> ARRAY<T>",
    group=Group.ARRAY,
    doc="The distinct elements that are in both arrays, in the order of the first.",
    parameters=_TWO,
)
def array_intersect(left: list[Any], right: list[Any]) -> list[Any]:
    others = set(map(_frozen, right))
    return [value for value in _distinct(left) if _frozen(value) in others]


@scalar(
    "array_union",
    "ARRAY<T>, ARRAY<T> -> ARRAY<T>",
    group=Group.ARRAY,
    doc="The distinct elements of both arrays.",
    parameters=_TWO,
)
def array_union(left: list[Any], right: list[Any]) -> list[Any]:
    return _distinct([*left, *right])


def joined_type(types: Sequence[SqlType | None]) -> SqlType:
    """Always a text, of elements that have no parts and no time in them."""
    array = types[0]
    if isinstance(array, Array) and array.element not in _JOINABLE and not isinstance(array.element, DecimalType):
        raise SqlProblem(f"ARRAY_JOIN joins booleans, numbers and texts, but the elements are {array.element}")
    return STRING


@scalar(
    "ARRAY_JOIN",
    "ARRAY<T> -> STRING",
    "ARRAY<T>, STRING -> STRING",
    group=Group.ARRAY,
    doc="The elements of an array as one text, with a delimiter between them.",
    parameters=(*_ONE, "delimiter: a comma if it is left out"),
    takes_null=True,
    is_typed=True,
    returns=joined_type,
)
def array_join(types: Sequence[SqlType | None], _: SqlType) -> Callable[..., str | None]:
    array = types[0]
    text = text_function(array.element if isinstance(array, Array) else STRING)

    def join(values: list[Any] | None, delimiter: str | None = ",") -> str | None:
        if values is None:
            return None
        return (delimiter or "").join("null" if value is None else text(value) for value in values)

    return join


@scalar(
    "ARRAY_LENGTH",
    "ARRAY<T> -> INTEGER",
    group=Group.ARRAY,
    doc="How many elements an array has.",
    parameters=_ONE,
    spark="array_size({0})",
)
def array_length(values: list[Any]) -> int:
    return len(values)


@scalar(
    "array_max",
    "ARRAY<T> -> T",
    group=Group.ARRAY,
    doc="The highest element of an array that is not NULL.",
    parameters=_INPUT,
    spark="array_max({0})",
)
def array_max(values: list[Any]) -> Any:
    return max((value for value in values if value is not None), default=None)


@scalar(
    "array_min",
    "ARRAY<T> -> T",
    group=Group.ARRAY,
    doc="The lowest element of an array that is not NULL.",
    parameters=_INPUT,
    spark="array_min({0})",
)
def array_min(values: list[Any]) -> Any:
    return min((value for value in values if value is not None), default=None)


@scalar(
    "array_remove",
    "ARRAY<T>, T -> ARRAY<T>",
    group=Group.ARRAY,
    doc="The elements of an array that do not equal a value.",
    parameters=(*_ONE, "victim: the value"),
    takes_null=True,
)
def array_remove(values: list[Any] | None, victim: Any) -> list[Any] | None:
    return None if values is None else [value for value in values if value != victim]


@scalar(
    "array_sort",
    "ARRAY<T> -> ARRAY<T>",
    "ARRAY<T>, STRING -> ARRAY<T>",
    group=Group.ARRAY,
    doc="The elements of an array in their order, NULL at the end.",
    parameters=(*_INPUT, "direction: 'ASC', which is meant if it is left out, or 'DESC'"),
)
def array_sort(values: list[Any], direction: str = "ASC") -> list[Any] | None:
    is_descending = {"ASC": False, "ASCENDING": False, "DESC": True, "DESCENDING": True}.get(direction.upper())
    if is_descending is None:
        return None
    known = sorted((value for value in values if value is not None), reverse=is_descending)
    return known + [None] * (len(values) - len(known))


@scalar(
    "GENERATE_SERIES",
    "INTEGER, INTEGER -> ARRAY<INTEGER>",
    "INTEGER, INTEGER, INTEGER -> ARRAY<INTEGER>",
    "BIGINT, BIGINT -> ARRAY<BIGINT>",
    "BIGINT, BIGINT, INTEGER -> ARRAY<BIGINT>",
    group=Group.ARRAY,
    doc="The numbers from a beginning to an end, which is among them.",
    parameters=("start: the beginning", "end: the end", "step: the difference of two numbers"),
    is_typed=True,
)
def generate_series(types: Sequence[SqlType | None], _: SqlType) -> Callable[..., list[int]]:
    wrap = wrap_integer if types[0] == INTEGER else wrap_bigint

    def series(start: int, end: int, step: int | None = None) -> list[int]:
        difference = wrap(end - start)
        step = (1 if difference > 0 else -1) if step is None else step
        if step == 0 or difference * step < 0:
            raise ValueError(f"GENERATE_SERIES step {step} does not lead from {start} to {end}")
        length = difference // step + 1
        if length > SERIES_LENGTH_MAX:
            raise ValueError(f"GENERATE_SERIES makes {SERIES_LENGTH_MAX} elements at most, not {length}")
        return [start + index * step for index in range(length)]

    return series


@scalar(
    "slice",
    "ARRAY<T>, INTEGER, INTEGER -> ARRAY<T>",
    group=Group.ARRAY,
    doc="The elements of an array from one place to another, counted from 1. NULL where there are no such places.",
    parameters=("in: the array", "from: the first place, or NULL", "to: the last place, or NULL"),
    takes_null=True,
)
def array_slice(values: list[Any] | None, first: int | None, last: int | None) -> list[Any] | None:
    if values is None:
        return None
    start = 0 if first is None else first - 1
    end = len(values) if last is None else last
    return values[start:end] if 0 <= start <= end <= len(values) else None
