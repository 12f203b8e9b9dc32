"""SELECT without EMIT over streams and topics: what their records are now."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import partial
from typing import Any, Final

from streams_sql.analysis.scan import plan_scan
from streams_sql.bounded.pages import Budget, each_page
from streams_sql.engine.client_queries.counted_rows import CountedRows
from streams_sql.engine.client_queries.resolution import ResolvedQuery
from streams_sql.engine.client_queries.results import Result, ResultKind, RowBatch, ScanMetrics
from streams_sql.engine.client_queries.topic_scan import Scan
from streams_sql.engine.failures import Busy, StatementFailed
from streams_sql.formats.serde import RegistryAccess
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import Query
from streams_sql.plan.bounded import ScanPlan
from streams_sql.plan.expression_problems import require_aggregates
from streams_sql.plan.records import Problem
from streams_sql.problem import SqlProblem
from streams_sql.sources import Source
from streams_sql.sql_types import quoted

THREADS_MAX: Final = 16
"""Scans that read at the same moment; others wait for the next page of one of them."""

SAMPLE_ROWS: Final = 100
"""Of a stream whose times are asked for."""

_logger = logging.getLogger(__name__)


class Scans:
    """At most `queries_max` at once: each has a consumer, and what it keeps of its rows."""

    def __init__(
        self,
        settings: Mapping[str, Any],
        registry: RegistryAccess | None,
        budget: Budget,
        queries_max: int,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._settings = settings
        self._registry = registry
        self._budget = budget
        self._queries_max = queries_max
        self._now_ms = now_ms
        self._running = 0
        self._numbers = itertools.count(1)
        self._threads = ThreadPoolExecutor(THREADS_MAX, "scan")

    def plan(self, resolved: ResolvedQuery) -> ScanPlan:
        """SqlProblem."""
        return plan_scan(resolved.query, resolved, self._now_ms())

    def start(self, resolved: ResolvedQuery, text: str) -> Result:
        """SqlProblem, Busy."""
        plan = self.plan(resolved)
        if self._running >= self._queries_max:
            raise Busy(
                f"{self._queries_max} queries look at topics already, and ksql.query.pull.max.concurrent.requests allows no more: try again "
                "in a moment."
            )
        began_s = time.monotonic()
        scan = self.opened(plan)
        rows = CountedRows(self.pages(scan, text), plan.plan.limit)
        keys = (False,) * len(plan.columns)
        return Result(
            f"scan_{next(self._numbers)}",
            ResultKind.SCAN,
            plan.columns,
            keys,
            rows.batches(),
            rows.limit_reached,
            rows.close,
            resolved.notes,
            partial(_metrics, scan, rows, began_s),
        )

    async def earliest_rowtime(self, source: Source) -> int | None:
        """Among the first records of a stream; None where it has none. SqlProblem, Busy."""
        text = f"SELECT ROWTIME FROM {quoted(source.name)} LIMIT {SAMPLE_ROWS};"  # noqa: S608 - the name is quoted
        query = parse_statement(text)
        assert isinstance(query, Query), "it is a SELECT"
        result = self.start(ResolvedQuery(query, {source.name: source}), text)
        try:
            return min([row[0] async for batch in result.batches for row in batch.rows], default=None)
        finally:
            await result.close()

    def stop(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def opened(self, plan: ScanPlan) -> Scan:
        return Scan(plan, self._settings, self._registry, self._budget, _note, _note_error)

    async def pages(self, scan: Scan, text: str) -> AsyncGenerator[RowBatch, None]:
        self._running += 1
        try:
            async with aclosing(each_page(scan, self._threads)) as pages:
                async for rows in pages:
                    yield RowBatch(rows)
        except SqlProblem as problem:
            raise StatementFailed(text, problem) from None
        finally:
            self._running -= 1


def _metrics(scan: Scan, rows: CountedRows, began_s: float) -> ScanMetrics:
    read = scan.figures
    elapsed_ms = round(1000 * (time.monotonic() - began_s))
    return ScanMetrics(rows.count, read.records, read.bytes, read.problems, elapsed_ms)


def _note(problem: Problem) -> None:
    _logger.debug("a look passes over a record: %s", problem)


def _note_error(error: Exception) -> None:
    """The value is NULL, as the language has it."""
    require_aggregates(error)
    _logger.debug("an expression of a look gave no value: %s", error)
