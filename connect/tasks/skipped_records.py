"""A word in the log about records that are passed over where nobody asked for a line on each."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

from connect.tasks.dead_letter_queue import Origin, Stage
from connect.tasks.spec import TaskId

TELL_INTERVAL_S: Final = 30.0
"""Between two lines of a task: all records of a topic may be bad, and the log must not fill the disk."""

logger = logging.getLogger(__name__)


class SkippedRecords:
    """The first is told at once, those after it together."""

    def __init__(self, task: TaskId, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._task = task
        self._clock_s = clock_s
        self._untold = 0
        self._last = ""
        self._next_at_s = 0.0

    def note(self, origin: Origin, stage: Stage, error: BaseException) -> None:
        self._untold += 1
        self._last = f"{stage.value} of a record of {origin}: {str(error) or type(error).__name__}"
        self.tell_if_due()

    def tell_if_due(self) -> None:
        if self._untold and self._clock_s() >= self._next_at_s:
            self.tell()

    def tell(self) -> None:
        """Whatever is not told yet."""
        if not self._untold:
            return
        self._next_at_s = self._clock_s() + TELL_INTERVAL_S
        logger.warning(
            "task %s has passed over %d bad record%s (errors.tolerance=all), the last one in %s; "
            "errors.log.enable=true tells of each, and errors.deadletterqueue.topic.name keeps them",
            self._task, self._untold, "" if self._untold == 1 else "s", self._last,
        )  # fmt: skip
        self._untold = 0
