"""How busy the event loop is."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Final

WINDOW_S: Final = 60.0
LOOK_EVERY_S: Final = 5.0


class LoopShare:
    """Compares the processor time of the loop's thread with the time that has passed: it costs nothing until somebody asks.

    It belongs to the thread that makes it. Waiting for a slow disk inside a small write counts as idle.
    """

    def __init__(self) -> None:
        self._clock = time.pthread_getcpuclockid(threading.get_ident())
        self._looks: deque[tuple[float, float]] = deque([self._look()])

    def _look(self) -> tuple[float, float]:
        return time.monotonic(), time.clock_gettime(self._clock)

    def idle(self) -> float:
        """The share of the last minute, or of the time since the question before if that is longer, in which there was nothing to do."""
        now_s, busy_s = self._look()
        while len(self._looks) > 1 and now_s - self._looks[1][0] >= WINDOW_S:
            self._looks.popleft()
        then_s, busy_then_s = self._looks[0]
        if now_s - self._looks[-1][0] >= LOOK_EVERY_S:
            self._looks.append((now_s, busy_s))
        passed_s = now_s - then_s
        return 1.0 if passed_s <= 0 else min(1.0, max(0.0, 1.0 - (busy_s - busy_then_s) / passed_s))
