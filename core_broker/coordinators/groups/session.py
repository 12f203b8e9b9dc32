"""How long a member may be silent."""

from __future__ import annotations

from collections.abc import Callable

from core_broker.coordinators.groups.surroundings import Surroundings
from core_broker.coordinators.timers import Timer


class Session:
    """Calls once, when nothing was heard for the time-out. Hearing something moves a number, not a timer: heartbeats are many."""

    __slots__ = ("_armed_until_ms", "_deadline_ms", "_now_ms", "_silent", "_timer", "_timers")

    def __init__(self, surroundings: Surroundings, silent: Callable[[], None]) -> None:
        self._now_ms = surroundings.now_ms
        self._timers = surroundings.timers
        self._silent = silent
        self._timer: Timer | None = None
        self._deadline_ms = 0
        self._armed_until_ms = 0

    def extend(self, timeout_ms: int) -> None:
        """Something was heard."""
        deadline_ms = self._now_ms() + timeout_ms
        self._deadline_ms = deadline_ms
        if self._timer is None or deadline_ms < self._armed_until_ms:
            self._arm(timeout_ms)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self, delay_ms: int) -> None:
        self.end()
        self._armed_until_ms = self._deadline_ms
        self._timer = self._timers.after(max(delay_ms, 0), self._ring)

    def _ring(self) -> None:
        self._timer = None
        left_ms = self._deadline_ms - self._now_ms()
        if left_ms > 0:
            self._arm(left_ms)
        else:
            self._silent()
