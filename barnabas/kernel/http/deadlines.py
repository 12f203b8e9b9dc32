"""How long requests may take, watched by one timer for all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


class LateError(Exception):
    """The time is up."""


class Deadlines:
    """Ends what takes longer than the limit with a LateError.

    A timer for each request would be set and taken back thousands of times a second. Since all have the same limit, whoever began first is
    the first to be late, and one timer that waits for it will do.
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._begun_s: dict[asyncio.Task[object], float] = {}
        self._late: set[asyncio.Task[object]] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def keep(self, work: Awaitable[T]) -> T:
        """Waits for the work of the running task."""
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task is not None, "requests are tasks"
        self._begun_s[task] = loop.time()
        if self._timer is None:
            self._timer = loop.call_later(self._limit_s, self._sweep, loop)
        try:
            return await work
        except asyncio.CancelledError:
            if task not in self._late or task.uncancel():
                raise
            raise LateError from None
        finally:
            del self._begun_s[task]
            self._late.discard(task)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        now_s = loop.time()
        for task, begun_s in self._begun_s.items():
            left_s = begun_s + self._limit_s - now_s
            if left_s > 0:
                self._timer = loop.call_later(left_s, self._sweep, loop)
                return
            if task not in self._late:
                self._late.add(task)
                task.cancel()
