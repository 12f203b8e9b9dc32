"""Rows in an order, all of them or the first ones alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from streams_sql.bounded.memory import Memory
from streams_sql.bounded.operators import Pages, Row
from streams_sql.plan.bounded import OrderBy
from streams_sql.sources import Column
from streams_sql.sql_types import DOUBLE, SqlType

KEPT_ROWS_MIN: Final = 4_096
"""Where the first rows alone are wanted, so many more are gathered before they are sorted and the others dropped."""

_LOW, _VALUE, _HIGH = range(3)


def in_order(
    pages: Pages, columns: Sequence[Column], order: Sequence[OrderBy], first: int | None, memory: Memory
) -> Iterator[Row]:
    """Rows that are equal in all that is ordered by come as they came."""
    passes = _passes(columns, order)
    kept: list[Row] = []
    share = memory.share("ORDER BY")
    for page in pages:
        kept += page
        if first is None:
            share.add(page)
        elif len(kept) > first + max(first, KEPT_ROWS_MIN):
            _sort(kept, passes)
            del kept[first:]
            share.hold(0)
            share.add(kept)
    _sort(kept, passes)
    return iter(kept if first is None else kept[:first])


_Pass: TypeAlias = tuple[Callable[[Row], Any], bool]


def _passes(columns: Sequence[Column], order: Sequence[OrderBy]) -> list[_Pass]:
    """One for each column, the last first: sorting is stable."""
    places = {column.name: (place, column.type) for place, column in enumerate(columns)}
    return [(_key(*places[by.column], by), by.is_descending) for by in reversed(order)]


def _sort(rows: list[Row], passes: Sequence[_Pass]) -> None:
    for key, is_descending in passes:
        rows.sort(key=key, reverse=is_descending)


def _key(place: int, type_: SqlType, by: OrderBy) -> Callable[[Row], Any]:
    # What is sorted in reverse has its NULLs at the other end.
    null = (_LOW if by.has_nulls_first is not by.is_descending else _HIGH,)
    if type_ != DOUBLE:
        return lambda row: null if (value := row[place]) is None else (_VALUE, value)

    def double(row: Row) -> tuple[Any, ...]:
        value = row[place]
        if value is None:
            return null
        # Nothing can be compared with what is no number.
        return (_VALUE, True) if math.isnan(value) else (_VALUE, False, value)

    return double
