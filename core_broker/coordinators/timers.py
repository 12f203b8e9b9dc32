"""Things that a coordinator does later: session timeouts, rebalance timeouts. Tests bring their own clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    def cancel(self) -> None: ...


class Timers(Protocol):
    def after(self, delay_ms: int, callback: Callable[[], None]) -> Timer:
        """Calls back once, from the event loop, unless the timer is cancelled first."""


class SteadyTimers(Timers, Protocol):
    def now_ms(self) -> int:
        """The time by which they ring, which never jumps."""


class LoopTimers:
    """Timers of an event loop, by its own time."""

    __slots__ = ("_loop",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def now_ms(self) -> int:
        return int(self._loop.time() * 1000)

    def after(self, delay_ms: int, callback: Callable[[], None]) -> Timer:
        return self._loop.call_later(delay_ms / 1000, callback)
