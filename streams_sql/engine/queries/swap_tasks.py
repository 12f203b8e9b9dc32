"""Swaps as they become due: one at a time for each query."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

AGAIN_S: Final = 60.0
"""After a query could not take the place of another one."""


class SwapTasks:
    """`swap` returns whether nothing is left to do."""

    def __init__(self, swap: Callable[[str], Awaitable[bool]]) -> None:
        self._swap = swap
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def running(self) -> list[asyncio.Task[None]]:
        return list(self._tasks.values())

    def begin(self, query_id: str) -> None:
        """The query may take the place of the one beside which it was built."""
        if query_id not in self._tasks:
            task = asyncio.create_task(self._run(query_id), name=f"swap {query_id}")
            self._tasks[query_id] = task
            task.add_done_callback(lambda _: self._tasks.pop(query_id))

    async def _run(self, query_id: str) -> None:
        if not await self._swap(query_id):
            # Queries that stop and start again must not be all that there is.
            await asyncio.sleep(AGAIN_S)
