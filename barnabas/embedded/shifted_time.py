"""Time that goes on as it does, and can be put forward."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable


class ShiftedTime:
    """The time of day and the timers of a broker. Belongs to its event loop, but for `time_ms`, which any thread may ask."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._shift_ms = 0
        self._pending: set[_ShiftedTimer] = set()

    def time_ms(self) -> int:
        return time.time_ns() // 1_000_000 + self._shift_ms

    def now_ms(self) -> int:
        return int(self._loop.time() * 1000) + self._shift_ms

    def after(self, delay_ms: int, callback: Callable[[], None]) -> _ShiftedTimer:
        timer = _ShiftedTimer(self.now_ms() + delay_ms, callback, self._pending.discard)
        self._pending.add(timer)
        timer.handle = self._loop.call_later(delay_ms / 1000, timer.ring)
        return timer

    def advance(self, by_ms: int) -> None:
        """Put it forward. Timers whose time has come ring, in their order; the others ring that much sooner."""
        self._shift_ms += by_ms
        now_ms = self.now_ms()
        for timer in sorted(self._pending, key=lambda timer: timer.at_ms):
            if timer not in self._pending:
                # One that rang before it has cancelled it.
                continue
            if timer.at_ms <= now_ms:
                timer.ring()
            else:
                timer.move(self._loop.call_later((timer.at_ms - now_ms) / 1000, timer.ring))


class _ShiftedTimer:
    __slots__ = ("_callback", "_forget", "at_ms", "handle")

    def __init__(self, at_ms: int, callback: Callable[[], None], forget: Callable[[_ShiftedTimer], None]) -> None:
        self.at_ms = at_ms
        self.handle: asyncio.TimerHandle | None = None
        self._callback = callback
        self._forget = forget

    def ring(self) -> None:
        self.cancel()
        self._callback()

    def move(self, handle: asyncio.TimerHandle) -> None:
        self._unset()
        self.handle = handle

    def cancel(self) -> None:
        self._unset()
        self._forget(self)

    def _unset(self) -> None:
        if self.handle is not None:
            self.handle.cancel()
            self.handle = None
