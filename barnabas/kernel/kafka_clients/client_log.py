"""The log of Kafka clients."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

REPEAT_S: Final = 30.0
"""How often the same kind of event is told: librdkafka tells of every attempt to connect, many times a second."""


class OneOfAKind(logging.Filter):
    """Passes an event unless one of its kind, which is its first word, has just passed."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock_s = clock_s
        self._passed_s: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        kind = record.getMessage().partition(" ")[0]
        now_s = self._clock_s()
        if now_s - self._passed_s.get(kind, -REPEAT_S) < REPEAT_S:
            return False
        self._passed_s[kind] = now_s
        return True
