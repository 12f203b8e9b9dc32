"""Pull queries over tables: a plan becomes a query to SQLite, and what is done here with the rows that it gives."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from streams_sql.bounded.pages import PAGE_ROWS, Account, ResultRow
from streams_sql.evaluation.comparisons import Evaluate
from streams_sql.evaluation.compiler import compile_column
from streams_sql.plan.conjuncts import columns_in
from streams_sql.plan.expression_problems import require_aggregates
from streams_sql.plan.nodes import PullPlan
from streams_sql.typed import Column, Typed
from streams_sql.views.codecs import converted
from streams_sql.views.conditions import SqlCondition, translate
from streams_sql.views.layout import TABLE, ViewLayout, column_name
from streams_sql.views.store import Connection

KEYS_MAX: Final = 100
"""Queries for so many keys are answered at once, on the event loop; it takes well below a millisecond."""
SHORT_ROWS: Final = 200
"""How many rows (windows of keys) are read there before a thread goes on."""
OPCODES_BETWEEN_LOOKS: Final = 20_000
"""Steps of SQLite's machine, a fraction of a millisecond, after which it is asked whether a query may go on."""

_logger = logging.getLogger(__name__)


class TablePull:
    """A plan made ready. `parameters` are names of columns in it that stand for literals: what is given with each use. `order` is the
    text of an ORDER BY for those who read the rows in one go. `indexed` are columns that have an index: rows may come in its order."""

    def __init__(
        self,
        plan: PullPlan,
        parameters: Sequence[str] = (),
        order: str = "",
        indexed: frozenset[str] = frozenset(),
    ) -> None:
        self.plan = plan
        self.indexed = indexed
        self._parameters = tuple(parameters)
        self._order = order
        self._layout = ViewLayout.of(plan.source)
        condition = translate(plan.condition, self._layout, self._parameters)
        paging = _paging(condition, self._layout, indexed)
        self._query = _Query(plan, self._layout, condition, parameters, order, paging)
        self._by_hand: _Query | None = None

    def bound(self, literals: Sequence[Any] = ()) -> BoundPull:
        query = self._query
        try:
            values = [bound.value(literals) for bound in query.condition.bounds]
        except Exception:  # noqa: BLE001 - what is wrong with a value matters only where the condition comes to it
            query, values = self._query_by_hand(), []
        return BoundPull(query, values, tuple(literals))

    def _query_by_hand(self) -> _Query:
        """The same with the whole condition looked at here."""
        if self._by_hand is None:
            condition = SqlCondition("", (), self.plan.condition, None)
            paging = range(self._layout.key_count)
            self._by_hand = _Query(self.plan, self._layout, condition, self._parameters, self._order, paging)
        return self._by_hand


class BoundPull(NamedTuple):
    query: _Query
    values: Sequence[Any]
    literals: tuple[Any, ...]

    @property
    def is_short(self) -> bool:
        """Whether the first page may be read on the event loop."""
        return self.query.is_short


class Page(NamedTuple):
    """`last` is the key behind which the next page begins; None: there is none."""

    rows: list[ResultRow]
    looked_at: int
    last: Sequence[Any] | None


class _Query:
    """`paging` are the places of the columns in whose order rows come page by page."""

    def __init__(
        self,
        plan: PullPlan,
        layout: ViewLayout,
        condition: SqlCondition,
        parameters: Sequence[str],
        order: str,
        paging: Sequence[int],
    ) -> None:
        self.condition = condition
        self.limit = plan.limit
        self.has_rest = condition.rest is not None
        self.is_short = condition.key_choices is not None and condition.key_choices <= KEYS_MAX
        self.is_single = condition.key_choices == 1 and layout.source.key_window is None
        projections = [named.expression for named in plan.columns]
        wanted = _wanted(projections, condition.rest, layout)
        self.finish = _finishing(projections, condition.rest, wanted, layout, parameters)
        self._width = len(wanted)
        self._texts(wanted, order, paging)

    def _texts(self, wanted: Sequence[int], in_order: str, paging: Sequence[int]) -> None:
        key = [column_name(place) for place in paging]
        selected = [column_name(place) for place in wanted] + ([] if self.is_single else key)
        count = len(self.condition.bounds)
        behind = ", ".join(f"?{count + number}" for number in range(1, len(key) + 1))
        following = f"({', '.join(key)}) > ({behind})"
        condition = self.condition.text
        select = f"SELECT {', '.join(selected)} FROM {TABLE}"  # noqa: S608 - names and conditions are made here, values are bound
        self.single = f"{select} WHERE {condition}"
        self.ordered = f"{select} WHERE {condition or '1'} ORDER BY {in_order}" if in_order else ""
        order = f"ORDER BY {', '.join(key)} LIMIT ?"
        self._first = f"{select} WHERE {condition or '1'} {order}{count + 1}"
        self._next = f"{select} WHERE {condition or '1'} AND {following} {order}{count + len(key) + 1}"

    def page(self, connection: Connection, pull: BoundPull, behind: Sequence[Any] | None, rows_max: int) -> Page:
        if self.is_single:
            found = connection.execute(self.single, pull.values).fetchall()
            return Page(self.finish(found, pull.literals)[: self.limit], len(found), None)
        if behind is None:
            found = connection.execute(self._first, [*pull.values, rows_max]).fetchall()
        else:
            found = connection.execute(self._next, [*pull.values, *behind, rows_max]).fetchall()
        last = found[-1][self._width :] if found and len(found) == rows_max else None
        return Page(self.finish([row[: self._width] for row in found], pull.literals), len(found), last)

    def ordered_pages(self, connection: Connection, pull: BoundPull) -> Iterator[Page]:
        """All rows in the order that was asked for, in one look."""
        cursor = connection.execute(self.ordered, pull.values)
        try:
            while found := cursor.fetchmany(PAGE_ROWS):
                yield Page(self.finish([row[: self._width] for row in found], pull.literals), len(found), None)
        finally:
            cursor.close()

    @property
    def text(self) -> str:
        """What SQLite is asked first."""
        if self.ordered:
            return self.ordered
        return self.single if self.is_single else self._first


class TableScan:
    """The pages of a pull query, from a connection of its own. Each page is a look of its own: a row that changes between two of them
    may be seen as it was or as it is; none is seen twice, and no long look keeps the database from tidying up."""

    def __init__(
        self,
        connection: Connection,
        pull: BoundPull,
        account: Account,
        given: int = 0,
        behind: Sequence[Any] | None = None,
    ) -> None:
        self._connection = connection
        self._pull = pull
        self._account = account
        self._given = given
        self._behind = behind
        self._is_over = False
        self._is_interrupted = False
        connection.set_progress_handler(self._must_stop, OPCODES_BETWEEN_LOOKS)

    def page(self) -> list[ResultRow] | None:
        if self._is_over or self._left() == 0:
            return None
        self._account.begin()
        try:
            page = self._pull.query.page(self._connection, self._pull, self._behind, self._page_rows())
        except sqlite3.OperationalError:
            if self._account.is_late:
                raise self._account.too_late() from None
            if self._is_interrupted:
                return None
            raise
        self._account.end(page.looked_at)
        rows = page.rows[: self._left()]
        self._given += len(rows)
        self._behind = page.last
        self._is_over = page.last is None
        return rows

    def _left(self) -> int | None:
        """How many rows are wanted; None: all."""
        limit = self._pull.query.limit
        return None if limit is None else limit - self._given

    def _page_rows(self) -> int:
        left = self._left()
        return PAGE_ROWS if left is None or self._pull.query.has_rest else min(PAGE_ROWS, left)

    def _must_stop(self) -> bool:
        return self._is_interrupted or self._account.is_late

    def interrupt(self) -> None:
        self._is_interrupted = True

    def close(self) -> None:
        self._connection.close()


def _paging(condition: SqlCondition, layout: ViewLayout, indexed: frozenset[str]) -> Sequence[int]:
    """The key, unless rows between two values of another column are found by its index."""
    key = range(layout.key_count)
    first = layout.columns[0].name
    column = next((name for name in sorted(condition.ranged) if name in indexed), None)
    if column is None or first in condition.fixed | condition.ranged or condition.fixed & indexed:
        return key
    return [layout.places[column], *key]


Finish = Callable[[list[tuple[Any, ...]], tuple[Any, ...]], list[ResultRow]]


def _wanted(projections: Sequence[Typed], rest: Typed | None, layout: ViewLayout) -> list[int]:
    """The places of the columns that SQLite is asked for. Where nothing is computed, they are the result itself."""
    if rest is None and all(isinstance(projection, Column) for projection in projections):
        return [layout.places[name] for projection in projections for name in columns_in(projection)]
    names = dict.fromkeys(name for part in (*projections, rest) for name in columns_in(part))
    # SQLite gives no row without columns.
    return [layout.places[name] for name in names if name in layout.places] or [0]


def _finishing(
    projections: Sequence[Typed],
    rest: Typed | None,
    wanted: Sequence[int],
    layout: ViewLayout,
    parameters: Sequence[str],
) -> Finish:
    """What makes rows of the result from those of SQLite, and from the literals of the query."""
    decode = _decoding(wanted, layout)
    if rest is None and all(isinstance(projection, Column) for projection in projections):
        return lambda rows, literals: decode(rows)
    names = [layout.columns[place].name for place in wanted] + list(parameters)
    compute = [compile_column(projection, names, note_error) for projection in projections]
    condition = None if rest is None else compile_column(rest, names, note_error)

    def finish(rows: list[tuple[Any, ...]], literals: tuple[Any, ...]) -> list[ResultRow]:
        whole = [row + literals for row in decode(rows)]
        return computed([row for row in whole if condition(row)] if condition else whole, compute)

    return finish


def _decoding(wanted: Sequence[int], layout: ViewLayout) -> Callable[[list[tuple[Any, ...]]], list[tuple[Any, ...]]]:
    decoders = [(index, convert) for index, place in enumerate(wanted) if (convert := layout.codecs[place].decode)]
    if not decoders:
        return lambda rows: rows

    def decode(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        if not rows:
            return rows
        columns: list[Any] = list(zip(*rows, strict=True))
        for index, convert in decoders:
            columns[index] = converted(columns[index], convert)
        return list(zip(*columns, strict=True))

    return decode


def computed(rows: Sequence[tuple[Any, ...]], compute: Sequence[Evaluate]) -> list[ResultRow]:
    return list(zip(*[map(function, rows) for function in compute], strict=True))


def note_error(error: Exception) -> None:
    """The value is NULL, as the language has it."""
    require_aggregates(error)
    _logger.debug("an expression of a pull query gave no value: %s", error)
