"""Runs plans of queries over views that do more than choose rows of one: SQLite gives the rows that may count, the rest is done here."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import chain
from typing import Any, Final, Protocol, TypeAlias

from streams_sql.bounded.joining import Joining
from streams_sql.bounded.memory import Memory
from streams_sql.bounded.operators import Grouping, Pages, chosen, computed, distinct, paged, sliced
from streams_sql.bounded.pages import PAGE_ROWS, Account, ResultRow
from streams_sql.bounded.pages import Pages as ReadPages
from streams_sql.bounded.sorting import in_order
from streams_sql.plan.bounded import (
    Bounded,
    Chosen,
    Computed,
    Distinct,
    Groups,
    Look,
    OrderBy,
    Pairs,
    Piped,
    Slice,
    Sorted,
    Together,
)
from streams_sql.plan.conjuncts import conjunction
from streams_sql.plan.nodes import Named, PullPlan
from streams_sql.sources import ROWOFFSET, ROWPARTITION, ROWTIME, Source
from streams_sql.sql_types import BOOLEAN
from streams_sql.typed import Column, Literal, Operation, Operator, Typed
from streams_sql.views.group_query import GroupQuery, group_query
from streams_sql.views.layout import ViewLayout, column_name
from streams_sql.views.pull import OPCODES_BETWEEN_LOOKS, TablePull, note_error
from streams_sql.views.store import Connection

ARRIVAL: Final = (ROWOFFSET, ROWTIME, ROWPARTITION)
"""The order in which rows were written, as far as partitions have one together."""


class LookedInto(Protocol):
    """A view as a query sees it."""

    def new_reader(self) -> Connection: ...

    def failure(self, error: sqlite3.Error) -> Exception: ...

    def is_found_by(self, column: str) -> bool:
        """Whether rows with some value in a column can be had without looking at all."""


ViewOf: TypeAlias = Callable[[Source], LookedInto]
StreamPages: TypeAlias = Callable[[PullPlan], ReadPages]
PipedPages: TypeAlias = Callable[[Piped], ReadPages]


def no_pipes(piped: Piped) -> ReadPages:
    raise AssertionError("queries over tables have no operators that know time")


class BoundedPull:
    """The pages of one query. `view_of` gives the views that it looks into, `stream_pages` the records of streams, `piped_pages` the rows of
    operators that know time."""

    def __init__(
        self,
        node: Bounded,
        view_of: ViewOf,
        stream_pages: StreamPages,
        account: Account,
        memory: Memory,
        piped_pages: PipedPages = no_pipes,
    ) -> None:
        self._piped_pages = piped_pages
        self._view_of = view_of
        self._stream_pages = stream_pages
        self._account = account
        self._memory = memory
        self._is_interrupted = False
        self._streams: list[ReadPages] = []
        self._pages = self._of(node)

    def page(self) -> list[ResultRow] | None:
        if self._is_interrupted:
            return None
        self._account.begin()
        try:
            return next(self._pages, None)
        finally:
            self._account.pause()

    def interrupt(self) -> None:
        self._is_interrupted = True
        for stream in self._streams:
            stream.interrupt()

    def close(self) -> None:
        if isinstance(self._pages, Generator):
            self._pages.close()

    # --- steps ---

    def _of(self, node: Bounded) -> Iterator[list[ResultRow]]:
        match node:
            case Look():
                return self._looked(node)
            case Piped():
                return self._read(self._piped_pages(node))
            case Pairs():
                return self._joined(node)
            case Chosen():
                return chosen(node, self._of(node.input), note_error)
            case Computed():
                return computed(node, self._of(node.input), note_error)
            case Distinct():
                return distinct(node, self._of(node.input), self._memory)
            case Slice():
                return sliced(node, self._of(node.input))
            case Together():
                return chain.from_iterable(self._of(each) for each in node.inputs)
        return self._gathered(node)

    def _gathered(self, node: Groups | Sorted) -> Pages:
        """Nothing is given before all is known."""
        if isinstance(node, Groups) and isinstance(look := node.input, Look) and look.source.is_table:
            pull = table_pull(look, look_plan(look)).bound()
            query = group_query(node, look, pull)
            if query is not None:
                yield from self._asked(look.source, lambda connection: self._grouped(query, connection))
                return
        below = self._of(node.input)
        if isinstance(node, Groups):
            rows = Grouping(node, self._memory, note_error).rows(below)
        else:
            rows = in_order(below, node.columns, node.order, node.first, self._memory)
        yield from paged(rows)

    def _joined(self, node: Pairs) -> Pages:
        joining = Joining(node, self._memory, self._account.take, note_error)
        right = node.right

        def seek(place: int, values: Sequence[Any]) -> Pages | None:
            one, other = node.equal[place]
            if not isinstance(right, Look) or not isinstance(other, Column) or one.type != other.type:
                return None
            name = other.name.removeprefix(right.prefix)
            if not self._view_of(right.source).is_found_by(name):
                return None
            if not values:
                return iter(())
            literals = [Literal(value, other.type) for value in values]
            return self._looked(right, Operation(Operator.IN, (Column(name, other.type), *literals), BOOLEAN))

        return joining.pages(self._of(node.left), lambda: self._of(right), seek)

    # --- rows of sources ---

    def _looked(self, look: Look, also: Typed | None = None) -> Pages:
        plan = look_plan(look, also)
        if not look.source.is_table:
            yield from self._read(self._stream_pages(plan))
            return
        pull = table_pull(look, plan)
        yield from self._asked(look.source, lambda connection: self._scanned(pull, connection, look.first))

    def _asked(self, source: Source, ask: Callable[[Connection], Pages]) -> Pages:
        """What a view answers, by a connection of its own."""
        view = self._view_of(source)
        try:
            connection = view.new_reader()
            try:
                connection.set_progress_handler(self._must_stop, OPCODES_BETWEEN_LOOKS)
                yield from ask(connection)
            finally:
                connection.close()
        except sqlite3.Error as error:
            if self._account.is_late:
                raise self._account.too_late() from None
            if not self._is_interrupted:
                raise view.failure(error) from error

    def _grouped(self, query: GroupQuery, connection: Connection) -> Pages:
        cursor = connection.execute(query.text, query.values)
        while found := cursor.fetchmany(PAGE_ROWS):
            self._account.take(len(found))
            yield list(map(query.row, found))

    def _scanned(self, pull: TablePull, connection: Connection, first: int | None) -> Pages:
        bound = pull.bound()
        query = bound.query
        if query.ordered:
            given = 0
            for page in query.ordered_pages(connection, bound):
                self._account.take(page.looked_at)
                yield page.rows
                given += len(page.rows)
                if first is not None and given >= first:
                    return
            return
        behind: Sequence[Any] | None = None
        while True:
            page = query.page(connection, bound, behind, PAGE_ROWS)
            self._account.take(page.looked_at)
            yield page.rows
            behind = page.last
            if behind is None:
                return

    def _read(self, stream: ReadPages) -> Pages:
        self._streams.append(stream)
        try:
            while (page := stream.page()) is not None:
                yield page
        finally:
            stream.close()

    def _must_stop(self) -> bool:
        return self._is_interrupted or self._account.is_late


def look_plan(look: Look, also: Typed | None = None) -> PullPlan:
    columns = tuple(
        Named(column.name, Column(column.name.removeprefix(look.prefix), column.type)) for column in look.columns
    )
    parts = [part for part in (also, look.condition) if part is not None]
    return PullPlan(look.source, conjunction(parts), columns, (False,) * len(columns), None)


def table_pull(look: Look, plan: PullPlan) -> TablePull:
    layout = ViewLayout.of(look.source)
    if look.is_ordered:
        return TablePull(plan, order=", ".join(column_name(layout.places[name]) for name in ARRIVAL))
    if not look.order:
        return TablePull(plan)
    order = ", ".join(_ordered(by, layout) for by in look.order)
    bounded = TablePull(plan, order=f"{order} LIMIT {look.first}")
    # Where some rows are dropped here, it is not known how many SQLite has to give.
    return TablePull(plan, order=order) if bounded.bound().query.has_rest else bounded


def _ordered(by: OrderBy, layout: ViewLayout) -> str:
    text = f"{column_name(layout.places[by.column])}{' DESC' if by.is_descending else ''}"
    # NULL is less than all values there, too.
    if by.has_nulls_first is by.is_descending:
        text += f" NULLS {'FIRST' if by.has_nulls_first else 'LAST'}"
    return text
