"""Trying again for ever, without a flood of work or of log lines."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Final

PAUSE_MS: Final = 50
PAUSE_MAX_MS: Final = 1_000
REPORT_INTERVAL_S: Final = 30.0


class Recovery:
    """Counts failures in a row: each waits longer, and the log tells of the first, then of one every half minute."""

    def __init__(self, what: str, logger: logging.Logger, clock_s: Callable[[], float] = time.monotonic) -> None:
        self.error: str | None = None
        """What is wrong, as long as it is."""
        self._what = what
        self._logger = logger
        self._clock_s = clock_s
        self._failures = 0
        self._reported_s = 0.0

    async def after(self, failure: Exception) -> None:
        """Note a failure and wait before the next attempt."""
        self._note(failure)
        await asyncio.sleep(min(PAUSE_MS << min(self._failures - 1, 16), PAUSE_MAX_MS) / 1000)

    def _note(self, failure: Exception) -> None:
        self.error = str(failure) or type(failure).__name__
        self._failures += 1
        now_s = self._clock_s()
        if self._failures == 1 or now_s - self._reported_s >= REPORT_INTERVAL_S:
            self._reported_s = now_s
            self._logger.warning("%s: %s (failure %d in a row)", self._what, self.error, self._failures)

    def succeeded(self) -> None:
        if self._failures:
            self._logger.info("%s: works again after %d failures", self._what, self._failures)
        self.forget()

    def forget(self) -> None:
        """Nobody tries any more, so nothing is wrong."""
        self._failures = 0
        self.error = None
