"""Push queries: rows as they come, until the client leaves."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from typing import Final

from streams_sql.engine.client_queries.local_tail import LocalTail
from streams_sql.engine.client_queries.push_jobs import PushJobs, PushSettings
from streams_sql.engine.client_queries.push_rows import PushRows, reads_alone
from streams_sql.engine.client_queries.results import Result, ResultKind, RowBatch
from streams_sql.engine.client_queries.topic_tail import Start, TopicTail
from streams_sql.engine.failures import EngineError, Stopping, TooManyPushQueries, Unavailable
from streams_sql.engine.queries.error_log import ErrorLog
from streams_sql.engine.queries.query_settings import QuerySettings, starting_offsets, task_idle_ms
from streams_sql.engine.queries.query_status import PushStatus
from streams_sql.plan.expression_problems import expression_problem
from streams_sql.plan.nodes import PushPlan, reads_of
from streams_sql.plan.records import Problem
from streams_sql.spark.driver import messages
from streams_sql.spark.driver.messages import Event, Progress, QueryFailed

ID_BITS: Final = 63
"""Of the number in an id, which no other query has, of whatever server."""
WAITS_NOTE: Final = "The query starts at the end of its topics and waits for new records. SET 'auto.offset.reset' = 'earliest'; reads those that are there."


class PushQueries:
    """A query without state reads its topic in this process. One with state is a job of Spark's for as long as its client reads; what Spark
    has no operator for runs in this process, too, with its state in memory."""

    def __init__(self, settings: PushSettings, jobs: PushJobs, queries: QuerySettings, errors: ErrorLog) -> None:
        self.errors = errors
        self.started = 0
        self._settings = settings
        self._jobs = jobs
        self._queries = queries
        self._running: dict[str, _Push] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def sweep(self) -> None:
        """Remove what a server that was killed left behind. StoreFailure."""
        await self._jobs.sweep()

    async def start(self, plan: PushPlan, properties: Mapping[str, str], statement: str) -> Result:
        """SqlProblem; TooManyPushQueries; Unavailable when the topic cannot be read."""
        running, most = len(self._running), self._settings.queries_max
        if running >= most:
            raise TooManyPushQueries(
                "Not executing statement(s) as it would cause the number of active, push queries to exceed the configured limit. "
                "Terminate existing PUSH queries, or increase the 'ksql.max.push.queries' setting via the 'ksql-server.properties' "
                f"file. Current push query count: {running}. Configured limit: {most}."
            )
        source = next(reads_of(plan.node)).source.name
        query_id = f"transient_{source}_{secrets.randbits(ID_BITS)}"
        found = self._queries.overridden(properties)
        start = Start(starting_offsets(found) == "earliest")
        push = self._running[query_id] = _Push(query_id, self, plan, statement)
        try:
            if reads_alone(plan) and not plan.spans:
                await push.open(plan, start, self._settings)
            elif plan.is_local:
                await push.open_local(plan, start, self._settings, task_idle_ms(found))
            else:
                results = await self._jobs.start(query_id, plan, found)
                await push.open(results, Start(is_beginning=True), self._settings)
        except BaseException:
            await push.close()
            raise
        self.started += 1
        waits = bool(plan.limit) and not start.is_beginning and not plan.spans
        return Result(
            query_id,
            ResultKind.PUSH,
            plan.columns,
            (False,) * len(plan.columns),
            push.batches(),
            lambda: push.has_reached_limit,
            push.close,
            (WAITS_NOTE,) if waits else (),
        )

    async def close(self, query_id: str) -> bool:
        """False when there is no such query."""
        push = self._running.get(query_id)
        if push is None:
            return False
        await push.close()
        return True

    async def stop(self) -> None:
        """Clients learn that the server stops, and that the query has not reached its end."""
        for push in self._running.values():
            push.fail(Stopping())
        await asyncio.gather(*(push.close() for push in tuple(self._running.values())))
        await asyncio.gather(*self._ending)

    def on_event(self, event: Event) -> None:
        """Events of the queries that Spark runs for clients."""
        match event:
            case QueryFailed(query_id) if (push := self._running.get(query_id)) is not None:
                self.errors.note_failure(query_id, event.cause, event.record)
                push.fail(EngineError(event.cause))
            case Progress(query_id) if query_id in self._running:
                for example in event.examples:
                    self.errors.note(query_id, example)
            case messages.Unavailable(reason):
                for query_id, push in self._running.items():
                    if query_id in self._jobs:
                        push.fail(Unavailable(f"Spark does not run, and this query needs it: {reason}"))
        self._jobs.on_event(event)

    def find(self, query_id: str) -> str | None:
        """The id of a query, whose letters may be given in any case."""
        wanted = query_id.upper()
        return next((each for each in self._running if each.upper() == wanted), None)

    def statuses(self) -> list[PushStatus]:
        return [PushStatus(push.query_id, push.statement) for push in self._running.values()]

    def forget(self, query_id: str) -> None:
        """The query is over. Its job, if it has one, ends by itself, and is not waited for."""
        if self._running.pop(query_id, None) is not None and query_id in self._jobs:
            ending = asyncio.create_task(self._jobs.end(query_id), name=f"end {query_id}")
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)


class _Push:
    """One push query."""

    def __init__(self, query_id: str, owner: PushQueries, plan: PushPlan, statement: str) -> None:
        self.query_id = query_id
        self.statement = statement
        self.has_reached_limit = False
        self._owner = owner
        topics = {each.source.topic for each in reads_of(plan.node)}
        self._topic = topics.pop() if len(topics) == 1 else ""
        self._left = plan.limit
        self._tail: TopicTail[RowBatch] | LocalTail | None = None
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def open(self, plan: PushPlan, start: Start, settings: PushSettings) -> None:
        """The plan reads one topic, and has no state."""
        rows = PushRows(plan, settings.registry, self._note, self._note_error)
        self._tail = TopicTail(rows.topic, settings.consumer, start, rows.of)
        await self._tail.open()

    async def open_local(self, plan: PushPlan, start: Start, settings: PushSettings, idle_ms: int) -> None:
        """The plan may have state, and read several topics."""
        self._tail = LocalTail(plan, settings.consumer, settings.registry, start, self._note, self._note_error, idle_ms)
        await self._tail.open()

    async def batches(self) -> AsyncIterator[RowBatch]:
        assert self._tail is not None, "the query has been opened"
        if self._left == 0:
            self.has_reached_limit = True
            return
        taking = aiter(self._tail)
        try:
            while (batch := await self._next(taking)) is not None:
                yield self._within_limit(batch)
                if self.has_reached_limit:
                    return
        finally:
            await self.close()

    def fail(self, problem: Exception) -> None:
        if not self._failed.done():
            self._failed.set_exception(problem)

    async def close(self) -> None:
        if not self._failed.done():
            self._failed.cancel()
        if self._tail is not None:
            await self._tail.close()
        self._owner.forget(self.query_id)

    async def _next(self, taking: AsyncIterator[RowBatch]) -> RowBatch | None:
        """None when the query was closed meanwhile."""
        step = asyncio.ensure_future(anext(taking, None))
        try:
            await asyncio.wait((step, self._failed), return_when=asyncio.FIRST_COMPLETED)
            if step.done() and (batch := step.result()) is not None:
                return batch
            if not self._failed.done() or self._failed.cancelled():
                return None
            return self._failed.result()
        finally:
            step.cancel()

    def _within_limit(self, batch: RowBatch) -> RowBatch:
        if self._left is None:
            return batch
        if len(batch.rows) >= self._left:
            self.has_reached_limit = True
            batch = RowBatch(batch.rows[: self._left], [place for place in batch.deleted if place < self._left])
        self._left -= len(batch.rows)
        return batch

    def _note(self, problem: Problem) -> None:
        self._owner.errors.note(self.query_id, problem)

    def _note_error(self, error: Exception) -> None:
        self._note(expression_problem(error, self._topic))
