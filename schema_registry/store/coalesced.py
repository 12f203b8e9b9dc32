"""One call for all who ask at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

ResultT = TypeVar("ResultT")


class Coalesced(Generic[ResultT]):
    """Who asks while a call runs shares the next one: the running call may have missed what the caller wants to see."""

    def __init__(self, call: Callable[[], Awaitable[ResultT]]) -> None:
        self._call = call
        self._running: asyncio.Task[ResultT] | None = None
        self._next: asyncio.Task[ResultT] | None = None

    async def __call__(self) -> ResultT:
        if self._next is None:
            self._next = asyncio.create_task(self._run_after(self._running))
        return await asyncio.shield(self._next)

    async def close(self) -> None:
        tasks = [task for task in (self._running, self._next) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run_after(self, former: asyncio.Task[ResultT] | None) -> ResultT:
        if former is not None:
            await asyncio.wait([former])
        self._running, self._next = self._next, None
        return await self._call()
