"""The rows of a query that runs in this process, made page by page on a thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from streams_sql.bounded.pages import each_page
from streams_sql.engine.client_queries.results import RowBatch
from streams_sql.engine.client_queries.topic_tail import Start
from streams_sql.formats.serde import RegistryAccess
from streams_sql.local.run import LocalRun
from streams_sql.plan.nodes import PushPlan, reads_of
from streams_sql.plan.pipeline import OnError
from streams_sql.plan.records import OnProblem
from streams_sql.plan.spans import ALL, FROM_NOW_ON, Span


class LocalTail:
    """Iterate over it once; that ends when the tail is closed."""

    def __init__(
        self,
        plan: PushPlan,
        consumer: Mapping[str, Any],
        registry: RegistryAccess | None,
        start: Start,
        on_problem: OnProblem,
        on_error: OnError,
        idle_ms: int = 0,
    ) -> None:
        # A table is what all its records have made of it, wherever the streams begin.
        spans = {
            each.source.topic: _live(plan.spans.get(each.source.topic, ALL), start, is_table=each.source.is_table)
            for each in reads_of(plan.node)
        }
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="local query")
        self._make = lambda: LocalRun(
            plan, consumer, registry, on_problem, on_error, spans, is_bounded=False, idle_s=idle_ms / 1000
        )
        self._run: LocalRun | None = None
        self._pages: AsyncGenerator[list[tuple[tuple[Any, ...], bool]], None] | None = None
        self._turn = asyncio.Lock()

    async def open(self) -> None:
        """SqlProblem when a topic cannot be read."""
        self._run = await asyncio.get_running_loop().run_in_executor(self._threads, self._make)
        self._pages = each_page(self._run, self._threads)

    def __aiter__(self) -> LocalTail:
        return self

    async def __anext__(self) -> RowBatch:
        assert self._pages is not None, "the tail has been opened"
        async with self._turn:
            page = await anext(self._pages)
        return RowBatch([row for row, _ in page], [place for place, (_, is_gone) in enumerate(page) if is_gone])

    async def close(self) -> None:
        """May be called more than once, and while a reader waits for rows: the page that is being made is ended first."""
        if self._run is not None and self._pages is not None:
            self._run.interrupt()
            async with self._turn:
                await self._pages.aclose()
        self._threads.shutdown(wait=False)


def _live(asked: Span, start: Start, *, is_table: bool) -> Span:
    """From where the query says, else from where the session does."""
    begins = asked.last is not None or asked.from_offset is not None or asked.from_time_ms is not None
    return asked if begins or start.is_beginning or is_table else asked.narrowed(FROM_NOW_ON)
