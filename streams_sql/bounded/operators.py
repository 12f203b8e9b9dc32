"""Steps over pages of rows: what is chosen, computed, told apart and grouped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final, TypeAlias

from streams_sql.bounded.memory import ENTRY_BYTES, Memory, estimated
from streams_sql.evaluation.compiler import OnError, compile_column
from streams_sql.plan.bounded import Chosen, Computed, Distinct, Groups, Slice
from streams_sql.processors.accumulation import Accumulation
from streams_sql.processors.keys import frozen
from streams_sql.sources import Column
from streams_sql.sql_types import DOUBLE, Array, Map, Struct

Row: TypeAlias = tuple[Any, ...]
Pages: TypeAlias = Iterator[list[Row]]

PAGE_ROWS: Final = 1_000


def names_of(columns: Sequence[Column]) -> list[str]:
    return [column.name for column in columns]


def chosen(node: Chosen, pages: Pages, on_error: OnError) -> Pages:
    condition = compile_column(node.condition, names_of(node.input.columns), on_error)
    for page in pages:
        yield [row for row in page if condition(row)]


def computed(node: Computed, pages: Pages, on_error: OnError) -> Pages:
    below = names_of(node.input.columns)
    functions = [compile_column(named.expression, below, on_error) for named in node.named]
    for page in pages:
        yield list(zip(*[map(function, page) for function in functions], strict=True))


def distinct(node: Distinct, pages: Pages, memory: Memory) -> Pages:
    is_plain = not _needs_freezing(node.columns)
    share = memory.share("SELECT DISTINCT")
    seen: set[Any] = set()
    for page in pages:
        new = []
        for row in page:
            key = row if is_plain else tuple(map(frozen, row))
            if key not in seen:
                seen.add(key)
                new.append(row)
        share.add(new)
        yield new


def sliced(node: Slice, pages: Pages) -> Pages:
    """Nothing below is asked for more once there is enough."""
    passed_over, left = node.offset, node.limit
    if left == 0:
        return
    for page in pages:
        rows = page[passed_over:]
        passed_over = max(0, passed_over - len(page))
        if left is not None:
            rows = rows[:left]
            left -= len(rows)
        yield rows
        if left == 0:
            return


def paged(rows: Iterator[Row]) -> Pages:
    while page := list(islice(rows, PAGE_ROWS)):
        yield page


class Grouping:
    """The groups of a query, one after the other in the order in which they first came."""

    def __init__(self, node: Groups, memory: Memory, on_error: OnError) -> None:
        below = names_of(node.input.columns)
        self._keys = [compile_column(key.expression, below, on_error) for key in node.keys]
        self._is_plain = not _needs_freezing(node.columns[: len(node.keys)])
        self._accumulation = Accumulation(node.aggregates, below, 0, on_error)
        self._share = memory.share("GROUP BY")
        self._groups: dict[Any, tuple[Row, list[Any]]] = {}
        self._pages = 0

    def rows(self, pages: Pages) -> Iterator[Row]:
        if not self._keys:
            self._groups[()] = (), self._accumulation.start()
        for page in pages:
            self._add(page)
        results = self._accumulation.results
        return ((*values, *results(state)) for values, state in self._groups.values())

    def _add(self, page: list[Row]) -> None:
        groups, keys, accumulation = self._groups, self._keys, self._accumulation
        for row in page:
            values = tuple([key(row) for key in keys])
            key = values if self._is_plain else tuple(map(frozen, values))
            group = groups.get(key)
            if group is None:
                group = groups[key] = values, accumulation.start()
            accumulation.add(group[1], row)
        self._pages += 1
        # States may grow with each row: they are measured again whenever there are twice as many.
        if self._pages & (self._pages - 1) == 0:
            self._share.hold(estimated(groups.values(), len(groups)) + ENTRY_BYTES * len(groups))


def _needs_freezing(columns: Sequence[Column]) -> bool:
    return any(isinstance(column.type, Array | Map | Struct) or column.type == DOUBLE for column in columns)
