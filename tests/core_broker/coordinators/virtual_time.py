"""Time that stands still until a test moves it, and timers that follow it."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count

START_MS = 1_700_000_000_000


class VirtualTimer:
    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self._callback = None

    @property
    def is_set(self) -> bool:
        return self._callback is not None

    def ring(self) -> None:
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()


class VirtualTime:
    """Clock and timers in one. Timers ring in the order of their times while time passes."""

    def __init__(self) -> None:
        self._now_ms = START_MS
        self._timers: list[tuple[int, int, VirtualTimer]] = []
        self._numbers = count()

    def now_ms(self) -> int:
        return self._now_ms

    def after(self, delay_ms: int, callback: Callable[[], None]) -> VirtualTimer:
        timer = VirtualTimer(callback)
        heapq.heappush(self._timers, (self._now_ms + delay_ms, next(self._numbers), timer))
        return timer

    def pass_ms(self, duration_ms: int) -> None:
        until_ms = self._now_ms + duration_ms
        while self._timers and self._timers[0][0] <= until_ms:
            at_ms, _, timer = heapq.heappop(self._timers)
            self._now_ms = max(self._now_ms, at_ms)
            timer.ring()
        self._now_ms = until_ms

    @property
    def pending_count(self) -> int:
        """Timers that would still ring."""
        return sum(timer.is_set for _, _, timer in self._timers)
