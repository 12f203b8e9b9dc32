"""TOPK and TOPKDISTINCT: the greatest values of a group, with other columns of their records."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import Any, Final

from streams_sql.functions.aggregates import is_greater, type_of_first
from streams_sql.functions.ordered_aggregates import checked_count
from streams_sql.functions.registration import aggregate
from streams_sql.sql_types import Array, Field, SqlType, Struct

OTHER_COLUMNS_MAX: Final = 5
SORT_FIELD: Final = "sort_col"

_SORTED: Final = ("INTEGER", "BIGINT", "DOUBLE", "STRING")
_LETTERS: Final = "ABCDE"
_DISTINCT: Final = (*_SORTED, "DATE", "TIME", "TIMESTAMP", "BYTES")


def _insert(values: list[Any], value: Any, place: int, count: int) -> list[Any]:
    return [*values[:place], value, *values[place : count - 1]]


def _place(keys: Sequence[Any], key: Any) -> int:
    """Behind all keys that are not less."""
    return next((place for place, other in enumerate(keys) if is_greater(key, other)), len(keys))


# -- TOPK -----------------------------------------------------------------------------------------


class TopValues:
    def __init__(self, count: int) -> None:
        self.count = checked_count(count, "k")

    def start(self) -> list[Any]:
        return []

    def add(self, state: list[Any], value: Any) -> list[Any]:
        if value is None:
            return state
        place = _place(state, value)
        return state if place == self.count else _insert(state, value, place, self.count)

    def merge(self, one: list[Any], other: list[Any]) -> list[Any]:
        return reduce(self.add, other, one)

    def result(self, state: list[Any]) -> list[Any]:
        return state


class TopRecords:
    """The values of the records with the greatest first columns; of equal ones, those that came first."""

    def __init__(self, count: int) -> None:
        self.count = checked_count(count, "k")

    def start(self) -> list[dict[str, Any]]:
        return []

    def add(self, state: list[dict[str, Any]], value: Any, *others: Any) -> list[dict[str, Any]]:
        if value is None:
            return state
        place = _place([record[SORT_FIELD] for record in state], value)
        if place == self.count:
            return state
        record = dict(zip(_names(len(others)), (value, *others), strict=True))
        return _insert(state, record, place, self.count)

    def merge(self, one: list[dict[str, Any]], other: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return reduce(lambda state, record: self.add(state, *record.values()), other, one)

    def result(self, state: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return state


def _names(others: int) -> list[str]:
    return [SORT_FIELD, *[f"col{number}" for number in range(others)]]


def _records(types: Sequence[SqlType | None]) -> SqlType:
    columns = types[:-1]
    fields = [
        Field(name, type_) for name, type_ in zip(_names(len(columns) - 1), columns, strict=True) if type_ is not None
    ]
    return Array(Struct(tuple(fields)))


def _spark_records(others: int) -> str:
    parts = ", ".join(f"'{name}', {{{number}}}" for number, name in enumerate(_names(others)))
    return f"coalesce(max_by(named_struct({parts}), {{0}}, {{{others + 1}}}), array())"


_topk = partial(
    aggregate,
    "TOPK",
    doc="The k greatest values of a column, or with more columns, these of the records that have them.",
    constants=1,
)

_topk_values = partial(
    _topk, parameters=("sortColVal", "k: how many values"), spark="coalesce(max_by({0}, {0}, {1}), array())"
)


def _array_of_first(types: Sequence[SqlType | None]) -> SqlType:
    return Array(type_of_first(types))


_topk_values(*[f"{name}, INTEGER -> ARRAY<{name}>" for name in _SORTED])(TopValues)
_topk_values("DECIMAL, INTEGER -> ARRAY<DECIMAL>", returns=_array_of_first)(TopValues)

for _others in range(1, OTHER_COLUMNS_MAX + 1):
    _letters = ", ".join(_LETTERS[:_others])
    _topk(
        *[f"{name}, {_letters}, INTEGER -> ARRAY<STRUCT>" for name in (*_SORTED, "DECIMAL")],
        parameters=("sortColVal", *[f"otherColVals{number}" for number in range(_others)], "k: how many records"),
        returns=_records,
        spark=_spark_records(_others),
    )(TopRecords)


# -- TOPKDISTINCT ---------------------------------------------------------------------------------

_topkdistinct = partial(
    aggregate,
    "TOPKDISTINCT",
    doc="The k greatest different values of a column.",
    parameters=("val", "k: how many values"),
    constants=1,
    spark="slice(sort_array(collect_set({0}), false), 1, {1})",
)


@_topkdistinct(*[f"{name}, INTEGER -> ARRAY<{name}>" for name in _DISTINCT])
@_topkdistinct("DECIMAL, INTEGER -> ARRAY<DECIMAL>", returns=_array_of_first)
class TopDistinctValues(TopValues):
    def add(self, state: list[Any], value: Any) -> list[Any]:
        return state if value in state else super().add(state, value)
