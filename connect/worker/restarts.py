"""When something that failed is tried again: soon at first, then less and less often."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

MS_PER_S: Final = 1000
NO_LIMIT: Final = -1
_DOUBLINGS_MAX: Final = 30


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """`attempts_max` restarts in a row, -1 without a limit; the first after `backoff_ms`, each next after twice the time, up to a cap."""

    attempts_max: int = NO_LIMIT
    backoff_ms: int = 1_000
    backoff_max_ms: int = 300_000


class Restarts:
    """Counts failures in a row. Whoever has run for as long as the longest pause counts as sound again."""

    def __init__(self, policy: RestartPolicy, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._policy = policy
        self._clock_s = clock_s
        self._failures = 0
        self._started_s = clock_s()

    def started(self) -> None:
        self._started_s = self._clock_s()

    def forget(self) -> None:
        """Somebody has asked for a start: what was before does not count."""
        self._failures = 0

    def delay_s(self) -> float | None:
        """How long to wait after a failure; None: it is given up."""
        policy = self._policy
        if (self._clock_s() - self._started_s) * MS_PER_S >= policy.backoff_max_ms:
            self._failures = 0
        self._failures += 1
        if policy.attempts_max != NO_LIMIT and self._failures > policy.attempts_max:
            return None
        doublings = min(self._failures - 1, _DOUBLINGS_MAX)
        return min(policy.backoff_ms << doublings, policy.backoff_max_ms) / MS_PER_S

    def note(self, delay_s: float | None) -> str:
        """What people are told about the next attempt."""
        if delay_s is None:
            if self._policy.attempts_max == 0:
                return "It is not started again by itself, since task.restart.attempts.max is 0."
            return f"It was started again {self._policy.attempts_max} times in a row, and is not any more."
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + delay_s))
        return f"Automatic restart {self._failures} follows at {at}, {delay_s:g} s after this failure."
