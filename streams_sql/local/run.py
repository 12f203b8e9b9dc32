"""Queries over topics in this process: from records to the rows of a result, without a JVM."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, TypeAlias

from streams_sql.evaluation.compiler import OnError
from streams_sql.formats.serde import RegistryAccess
from streams_sql.local.interleaving import in_order
from streams_sql.local.pipeline import Leaf, Pipeline
from streams_sql.local.reading import Figures, Input, Reading
from streams_sql.plan.nodes import PushPlan
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.plan.records import OnProblem
from streams_sql.plan.spans import Span
from streams_sql.sources import ROWTIME

ResultRow: TypeAlias = tuple[tuple[Any, ...], bool]
"""The values of the columns, and whether the row is told to be gone."""

PAGE_ROWS: Final = 5_000
"""Rows after which a page is full; the rows that one run of records makes are never taken apart."""


class LocalRun:
    """One query. A bounded one ends at the ends that the topics had when it began, another one follows them from there on. Used by one
    thread; `interrupt` may be called by another one."""

    def __init__(
        self,
        plan: PushPlan,
        settings: Mapping[str, Any],
        registry: RegistryAccess | None,
        on_problem: OnProblem,
        on_error: OnError,
        spans: Mapping[str, Span] | None = None,
        is_bounded: bool = True,
        is_ordered: bool = False,
        idle_s: float = 0.0,
    ) -> None:
        self._pipeline = pipeline = Pipeline(plan.node, on_error)
        self._is_table = plan.node.shape.is_table
        self._pick = _picker(columns_of(plan.node), [column.name for column in plan.columns])
        self._left = plan.limit
        self._feed = pipeline.feed_prepared if pipeline.has_state else pipeline.feed
        self._reading = Reading(
            [_input(leaf, is_prepared=pipeline.has_state) for leaf in pipeline.leaves],
            settings,
            registry,
            on_problem,
            spans or {},
            is_bounded,
            is_ordered=is_ordered or pipeline.has_state,
            idle_s=idle_s,
        )
        self._is_interrupted = False
        self._is_over = False

    @property
    def figures(self) -> Figures:
        return self._reading.figures

    @property
    def has_reached_limit(self) -> bool:
        return self._left == 0

    def page(self) -> list[ResultRow] | None:
        """The next rows, each with whether it is told to be gone; none of them if nothing came within a while; None at the end."""
        if self._is_interrupted or self._left == 0:
            return None
        rows = self._rows()
        if rows:
            return rows
        if self._reading.is_finished:
            return self._finished()
        self._reading.read()
        return self._rows()

    @property
    def pipeline(self) -> Pipeline:
        return self._pipeline

    def _finished(self) -> list[ResultRow] | None:
        """The rows that come of the end."""
        if self._is_over:
            return None
        self._is_over = True
        return self._picked(self._pipeline.finish()) or None

    def _rows(self) -> list[ResultRow]:
        found: list[Row] = []
        for place, rows in in_order(self._reading.lines):
            found += self._feed(place, rows)
            if len(found) >= PAGE_ROWS or self._is_interrupted:
                break
        return self._picked(found)

    def _picked(self, found: list[Row]) -> list[ResultRow]:
        """The rows of the result. Records of a stream that have no value are no rows."""
        if not self._is_table:
            found = [row for row in found if not row[-1][0]]
        if self._left is not None:
            found = found[: self._left]
            self._left -= len(found)
        pick = self._pick
        return [(pick(row), row[-1][0]) for row in found]

    def interrupt(self) -> None:
        self._is_interrupted = True

    def close(self) -> None:
        self._reading.close()


def _input(leaf: Leaf, *, is_prepared: bool) -> Input:
    """With state, rows that do not pass a condition before it take no part in the order of rows: Spark never sends them on either."""
    if not is_prepared:
        return Input(leaf.read, (), columns_of(leaf.read).index(ROWTIME))
    return Input(leaf.read, leaf.before, columns_of(leaf.fed).index(ROWTIME))


def _picker(columns: Sequence[str], wanted: Sequence[str]) -> Callable[[Row], tuple[Any, ...]]:
    places = [columns.index(name) for name in wanted]
    if len(places) == 1:
        (place,) = places
        return lambda row: (row[place],)
    return itemgetter(*places)
