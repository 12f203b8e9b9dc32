"""Pull queries: what a table holds now."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Final

from streams_sql.analysis.pull import plan_pull
from streams_sql.engine.catalogue import Catalogue
from streams_sql.engine.failures import Busy, StatementFailed
from streams_sql.engine.results import Result, ResultKind, RowBatch
from streams_sql.language.parsing import parse_statement
from streams_sql.language.problem import SqlProblem
from streams_sql.language.statements import Query
from streams_sql.plan.nodes import PullPlan
from streams_sql.sources import Column
from streams_sql.sql_types import STRING
from streams_sql.views.pages import Budget
from streams_sql.views.prepared import PreparedPulls, ReadyPull
from streams_sql.views.views import Views

_VARIABLE: Final = "${"


class Pulling:
    """At most `queries_max` at once: each may hold a thread and a page of rows."""

    def __init__(self, views: Views, catalogue: Catalogue, budget: Budget, queries_max: int) -> None:
        self._views = views
        self._catalogue = catalogue
        self._budget = budget
        self._queries_max = queries_max
        self._running = 0
        self._numbers = itertools.count(1)
        self._prepared = PreparedPulls(self._analysed, catalogue.source)

    def known(self, text: str) -> ReadyPull | None:
        """A query that needs no more analysis than one like it before."""
        return None if _VARIABLE in text else self._prepared.find(text)

    def start(self, text: str, query: Query) -> Result:
        """SqlProblem, Busy."""
        return self.run(self._prepared.learn(text, plan_pull(query, self._catalogue)), text)

    def run(self, ready: ReadyPull, text: str) -> Result:
        if self._running >= self._queries_max:
            raise Busy(
                f"{self._queries_max} pull queries run already, and ksql.query.pull.max.concurrent.requests allows no more: "
                "try again in a moment."
            )
        plan, rows = ready.plan, _Rows(self, ready, text)
        columns = tuple(Column(named.name, named.expression.type or STRING) for named in plan.columns)
        query_id = f"query_{next(self._numbers)}"
        kind = ResultKind.PULL if plan.source.is_table else ResultKind.SCAN
        notes = self._notes(plan.source.name)
        return Result(query_id, kind, columns, plan.keys, rows.batches(), rows.limit_reached, rows.close, notes)

    def _notes(self, name: str) -> tuple[str, ...]:
        """Why rows may be missing or old, where that is so."""
        view = self._views.view(name)
        if view is None or (view.progress.is_caught_up and view.progress.problem is None):
            return ()
        progress = view.progress
        if progress.problem is not None:
            return (f"{name} does not get on: {progress.problem}",)
        return (f"{name} is still being read from its topic: {progress.lag} records are to come.",)

    def _analysed(self, text: str) -> PullPlan:
        statement = parse_statement(text)
        assert isinstance(statement, Query), "the text has the form of a query"
        return plan_pull(statement, self._catalogue)

    async def pages(self, ready: ReadyPull, text: str) -> AsyncGenerator[RowBatch, None]:
        self._running += 1
        try:
            async with aclosing(self._views.pull(ready, self._budget)) as pages:
                async for rows in pages:
                    yield RowBatch(rows)
        except SqlProblem as problem:
            raise StatementFailed(text, problem) from None
        finally:
            self._running -= 1


class _Rows:
    """The rows of one query on their way."""

    def __init__(self, pulling: Pulling, ready: ReadyPull, text: str) -> None:
        self._limit = ready.plan.limit
        self._count = 0
        self._pages = pulling.pages(ready, text)

    async def batches(self) -> AsyncIterator[RowBatch]:
        async for batch in self._pages:
            self._count += len(batch.rows)
            yield batch

    def limit_reached(self) -> bool:
        return self._limit is not None and self._count >= self._limit

    async def close(self) -> None:
        await self._pages.aclose()
