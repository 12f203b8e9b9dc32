"""How many lines of one kind the log takes: while something is away every request is a problem, and the log must not fill the disk."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

LINES_MAX: Final = 10
PERIOD_S: Final = 10


class LineBudget:
    """So many lines in ten seconds. Those that are left out are counted, and told with the next one."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._period = -1
        self._told = 0
        self._left_out = 0

    def has_room(self) -> bool:
        """Whether one more line may be written; if not, it counts as left out."""
        period = int(self._clock_s() / PERIOD_S)
        if period != self._period:
            self._period, self._told = period, 0
        self._told += 1
        if self._told <= LINES_MAX:
            return True
        self._left_out += 1
        return False

    def left_out(self) -> str:
        """The end of a line that is written: how many before it were not."""
        count, self._left_out = self._left_out, 0
        return f"; {count} such lines were left out before it" if count else ""
