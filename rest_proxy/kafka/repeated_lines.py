"""librdkafka's log lines, which say the same thing twenty times a second while a broker is away."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

SAID_AGAIN_AFTER_S: Final = 300.0
LINES_KEPT_MAX: Final = 100

_VARIABLE_END: Final = " (after "
"""What follows says how long a connection lasted, and differs each time."""


class RepeatedLines(logging.Filter):
    """Lets a line through that was not said lately. What requests suffer from is told to them each time."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock_s = clock_s
        self._said_s: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        line = record.getMessage().partition(_VARIABLE_END)[0]
        now_s = self._clock_s()
        said_s = self._said_s.get(line)
        if said_s is not None and now_s - said_s < SAID_AGAIN_AFTER_S:
            return False
        if len(self._said_s) >= LINES_KEPT_MAX:
            self._said_s.clear()
        self._said_s[line] = now_s
        return True
