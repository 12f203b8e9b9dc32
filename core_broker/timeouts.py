"""Requests whose clients wait only so long."""

from __future__ import annotations

import asyncio
from typing import Protocol

SWEEP_INTERVAL_S = 0.25
"""Timeouts are tens of seconds; a sweep over what is late costs less than a timer for each request."""


class Expiring(Protocol):
    def expired(self) -> None: ...


class Timeouts:
    """Tells a request when its time is up, at most one sweep late, again and again until it is forgotten."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._deadlines: dict[Expiring, float] = {}
        self._sweep: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        """How many requests wait."""
        return len(self._deadlines)

    def watch(self, timeout_ms: int, item: Expiring) -> None:
        self._deadlines[item] = self._loop.time() + timeout_ms / 1000
        if self._sweep is None:
            self._sweep = self._loop.call_later(SWEEP_INTERVAL_S, self._look)

    def forget(self, item: Expiring) -> None:
        self._deadlines.pop(item, None)

    def _look(self) -> None:
        now = self._loop.time()
        for item in [item for item, deadline in self._deadlines.items() if deadline <= now]:
            item.expired()
        self._sweep = self._loop.call_later(SWEEP_INTERVAL_S, self._look) if self._deadlines else None
