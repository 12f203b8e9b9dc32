"""Pull queries: what a table holds now."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final, Protocol

from streams_sql.analysis.pull import plan_pull
from streams_sql.bounded.pages import Budget
from streams_sql.engine.catalogue.catalogue import Catalogue, PersistentQuery
from streams_sql.engine.client_queries.counted_rows import CountedRows
from streams_sql.engine.client_queries.results import Result, ResultKind, RowBatch
from streams_sql.engine.failures import Busy, StatementFailed
from streams_sql.engine.queries.query_status import QueryState, QueryStatus
from streams_sql.language.binding import bound
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import Query
from streams_sql.plan.bounded import BoundedPlan
from streams_sql.plan.nodes import PullPlan
from streams_sql.problem import SqlProblem
from streams_sql.sources import Column, Source
from streams_sql.sql_types import STRING
from streams_sql.views.prepared import PreparedPulls, ReadyPull
from streams_sql.views.view_follower import ViewFollower
from streams_sql.views.views import Views

_VARIABLE: Final = "${"


class QueryStates(Protocol):
    """How persistent queries do: all that is known, or only whether one runs, which costs less."""

    def status(self, query: PersistentQuery) -> QueryStatus: ...

    def state(self, query: PersistentQuery) -> QueryState: ...


class PullQueries:
    """At most `queries_max` at once: each may hold a thread and a page of rows. `queries` has the state of the query of a table,
    `incompleteness` why rows of a source may be missing although that runs."""

    def __init__(
        self,
        views: Views,
        follower: ViewFollower,
        catalogue: Catalogue,
        budget: Budget,
        queries_max: int,
        queries: QueryStates,
        incompleteness: Callable[[Source], tuple[str, ...]],
    ) -> None:
        self._views = views
        self._follower = follower
        self._queries = queries
        self._incompleteness = incompleteness
        self._catalogue = catalogue
        self._budget = budget
        self._queries_max = queries_max
        self.running = 0
        self.started = 0
        self._numbers = itertools.count(1)
        self._made = catalogue.types, catalogue.functions
        self._prepared = PreparedPulls(self._analysed, catalogue.source, views.indexed)

    def known(self, text: str) -> ReadyPull | None:
        """A query that needs no more analysis than one like it before."""
        return None if _VARIABLE in text else self._current().find(text)

    async def start(self, text: str, query: Query, *, is_kept: bool = True) -> Result:
        """`is_kept`: the same text is the same query the next time. SqlProblem, Busy."""
        plan, prepared = plan_pull(query, self._catalogue), self._current()
        return await self.run(prepared.learn(text, plan) if is_kept else prepared.once(plan), text)

    def _current(self) -> PreparedPulls:
        """What is remembered was made with the types and functions that there were."""
        types, functions = self._catalogue.types, self._catalogue.functions
        if self._made[0] is not types or self._made[1] is not functions:
            self._made = types, functions
            self._prepared = PreparedPulls(self._analysed, self._catalogue.source, self._views.indexed)
        return self._prepared

    async def run(self, ready: ReadyPull, text: str) -> Result:
        if self.running >= self._queries_max:
            raise Busy(
                f"{self._queries_max} pull queries run already, and ksql.query.pull.max.concurrent.requests allows no more: "
                "try again in a moment."
            )
        self.started += 1
        plan, rows = ready.plan, CountedRows(self.pages(ready, text), ready.plan.limit)
        if isinstance(plan, BoundedPlan):
            columns, sources = plan.columns, plan.sources
        else:
            columns = tuple(Column(named.name, named.expression.type or STRING) for named in plan.columns)
            sources = (plan.source,)
        await self._follower.opened(sources)
        query_id = f"query_{next(self._numbers)}"
        kind = ResultKind.PULL if sources[0].is_table else ResultKind.SCAN
        notes = tuple(note for source in sources for note in self._notes(source))
        return Result(query_id, kind, columns, plan.keys, rows.batches(), rows.limit_reached, rows.close, notes)

    def _notes(self, source: Source) -> tuple[str, ...]:
        """Why rows may be missing or old, where that is so."""
        return self._own_notes(source) or self._incompleteness(source)

    def _own_notes(self, source: Source) -> tuple[str, ...]:
        view = self._views.view(source.name)
        if view is None:
            return ()
        progress = view.progress
        if progress.is_caught_up and progress.problem is None and progress.has_read:
            return () if source.query_id is None else self._stopped(source, source.query_id)
        if progress.problem is not None:
            return (f"{source.name} does not get on: {progress.problem}",)
        if not progress.is_caught_up and (progress.lag or source.query_id is None):
            return (f"{source.name} is still being read from its topic: {progress.lag} records are to come.",)
        return () if source.query_id is None else self._silent(source, source.query_id)

    def _stopped(self, source: Source, query_id: str) -> tuple[str, ...]:
        """The view is as its topic is, to which no query may be writing just now."""
        query = self._catalogue.queries.get(query_id)
        state = QueryState.RUNNING if query is None else self._queries.state(query)
        if state in (QueryState.RUNNING, QueryState.UNRESPONSIVE):
            return ()
        return (f"The query {query_id} is {state}: {source.name} is as it was left.",)

    def _silent(self, source: Source, query_id: str) -> tuple[str, ...]:
        query = self._catalogue.queries.get(query_id)
        if query is None:
            return (f"The query {query_id} has ended without writing to {source.name}.",)
        status = self._queries.status(query)
        if status.state is QueryState.STARTING and not status.error:
            return (
                f"The query {query_id} has not begun yet: Spark is starting it, and {source.name} is empty until then.",
            )
        is_unknown = status.state is QueryState.UNRESPONSIVE
        state = "" if is_unknown else f" It is {status.state}{f': {status.error}' if status.error else ''}."
        return (f"The query {query_id} has not written to {source.name} yet.{state}", *self._incompleteness(source))

    def _analysed(self, text: str) -> PullPlan | BoundedPlan:
        statement = bound(parse_statement(text), self._catalogue.types, self._catalogue.functions)
        assert isinstance(statement, Query), "the text has the form of a query"
        return plan_pull(statement, self._catalogue)

    async def pages(self, ready: ReadyPull, text: str) -> AsyncGenerator[RowBatch, None]:
        self.running += 1
        try:
            async with aclosing(self._views.pull(ready, self._budget)) as pages:
                async for rows in pages:
                    yield RowBatch(rows)
        except SqlProblem as problem:
            raise StatementFailed(text, problem) from None
        finally:
            self.running -= 1
