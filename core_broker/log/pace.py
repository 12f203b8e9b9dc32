"""How fast the cleaner may go: it shares the interpreter with the event loop, and the disk with everybody."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Final

SLICE_S: Final = 0.00025
"""A thread that computes keeps the event loop from running for so long at most..."""

PAUSE_S: Final = 0.0001
"""...and then sleeps for so long: giving the interpreter up for no time at all would have it back before another one wakes."""

_WAIT_STEP_S: Final = 0.1  # how soon a throttled thread hears that it should stop


class CleaningAborted(Exception):
    """The cleaning is no longer wanted: the broker stops, or the partition has changed under it."""


class IoThrottle:
    """An upper limit for the bytes that all cleaner threads move in a second."""

    def __init__(self, bytes_per_second: float = math.inf, clock_s: Callable[[], float] = time.monotonic) -> None:
        self.bytes_per_second = bytes_per_second
        self._clock_s = clock_s
        self._lock = threading.Lock()
        self._free_at_s = 0.0

    def take(self, size_bytes: int) -> float:
        """Count bytes that were moved; returns the seconds to wait before the next ones."""
        with self._lock:
            now_s = self._clock_s()
            self._free_at_s = max(self._free_at_s, now_s) + size_bytes / self.bytes_per_second
            return self._free_at_s - now_s


class Pace:
    """What a cleaner thread asks again and again. `stop` is called from outside; all else belongs to the thread."""

    def __init__(
        self,
        throttle: IoThrottle,
        clock_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._throttle = throttle
        self._clock_s = clock_s
        self._sleep = sleep
        self._stopped = False
        self._since_s = 0.0

    def stop(self) -> None:
        self._stopped = True

    def breathe(self) -> None:
        """Let others run, if it is time. To be called at least every hundred records."""
        if self._clock_s() - self._since_s >= SLICE_S:
            self._pause(PAUSE_S)
            self._since_s = self._clock_s()

    def rest(self) -> None:
        """The same for what must be done even after `stop`."""
        self._sleep(0)

    def moved(self, size_bytes: int) -> None:
        """Bytes were read or written."""
        wait_s = self._throttle.take(size_bytes)
        while wait_s > 0:
            self._pause(min(wait_s, _WAIT_STEP_S))
            wait_s -= _WAIT_STEP_S

    def _pause(self, seconds: float) -> None:
        if self._stopped:
            raise CleaningAborted("the cleaning was stopped")
        self._sleep(seconds)
