"""Results that come page by page: made on threads, given to the event loop, never more in memory than a page."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from streams_sql.bounded.memory import MEMORY_BYTES
from streams_sql.problem import SqlProblem

ResultRow: TypeAlias = tuple[Any, ...]

PAGE_ROWS: Final = 1_000
BUDGET_ROWS: Final = 10_000_000
BUDGET_S: Final = 300.0
ROWS_SETTING: Final = "sql.pull.scan.max.rows"
TIME_SETTING: Final = "sql.pull.scan.max.ms"

_ADVICE: Final = "Ask for fewer rows with a condition on the key, or with LIMIT."


@dataclass(frozen=True, slots=True)
class Budget:
    """How many rows a query may take out of its view, or records out of its topic, and for how long; the time that its client takes is not
    counted. What SQLite passes over by itself costs time alone. `memory_bytes` is for sorting, grouping and joining."""

    rows: int = BUDGET_ROWS
    seconds: float = BUDGET_S
    memory_bytes: int = MEMORY_BYTES


class BudgetSpent(SqlProblem):
    """A query that would look at more than it may."""


class Account:
    """What is left of a budget."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._rows = 0
        self._seconds = 0.0
        self._since_s = 0.0
        self._begun = 0

    def begin(self) -> None:
        """Work begins, perhaps as part of other work."""
        if self._begun == 0:
            self._since_s = time.monotonic()
        self._begun += 1

    @property
    def is_late(self) -> bool:
        return self._seconds + time.monotonic() - self._since_s > self._budget.seconds

    def end(self, rows: int) -> None:
        """Work ends for now, after so many rows. BudgetSpent."""
        self.pause()
        self.take(rows)

    def pause(self) -> None:
        self._begun -= 1
        if self._begun == 0:
            now_s = time.monotonic()
            self._seconds += now_s - self._since_s
            self._since_s = now_s

    def take(self, rows: int) -> None:
        """So many rows more have been looked at. BudgetSpent."""
        self._rows += rows
        if self._rows > self._budget.rows:
            raise BudgetSpent(
                f"The query looks at more than {self._budget.rows} rows, which is all that {ROWS_SETTING} allows. {_ADVICE}"
            )
        if self._seconds + (time.monotonic() - self._since_s if self._begun else 0) > self._budget.seconds:
            raise self.too_late()

    def too_late(self) -> BudgetSpent:
        return BudgetSpent(
            f"The query takes longer than {self._budget.seconds:g} s, which is all that {TIME_SETTING} allows. {_ADVICE}"
        )


class Pages(Protocol):
    """Used by one thread at a time, though not always by the same."""

    def page(self) -> list[ResultRow] | None:
        """The next rows, perhaps none; None: there are no more."""

    def interrupt(self) -> None:
        """Let `page` return soon, from another thread."""

    def close(self) -> None: ...


async def each_page(pages: Pages, threads: ThreadPoolExecutor) -> AsyncGenerator[list[ResultRow], None]:
    """All pages that have rows. Whoever stops before the end must close the iterator."""
    working: Future[list[ResultRow] | None] | None = None
    try:
        while True:
            working = threads.submit(pages.page)
            rows = await asyncio.wrap_future(working)
            if rows is None:
                return
            if rows:
                yield rows
    finally:
        if working is None or working.done():
            await asyncio.shield(asyncio.wrap_future(threads.submit(pages.close)))
        else:
            pages.interrupt()
            working.add_done_callback(lambda _: pages.close())
