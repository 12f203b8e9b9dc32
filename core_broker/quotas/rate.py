"""How much somebody used lately, measured as Kafka measures it, and for how long they must pause when that was too much.

Times are given by the caller, in milliseconds of any clock that does not go backwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

THROTTLE_MAX_MS: Final = (1 << 31) - 1
"""An answer has 32 bits for it."""


@dataclass(frozen=True, slots=True)
class Windows:
    """The time that a rate is measured over: so many windows of a length."""

    count: int
    size_ms: int

    @property
    def span_ms(self) -> int:
        return self.count * self.size_ms


class _Sample:
    __slots__ = ("last_ms", "start_ms", "value")

    def __init__(self, now_ms: float) -> None:
        self.reset(now_ms)

    def reset(self, now_ms: float) -> None:
        self.start_ms = now_ms
        self.last_ms = now_ms
        self.value = 0.0


class Rate:
    """A sum over sliding windows, per second. One sample more than there are windows is kept: the oldest still overlaps them."""

    __slots__ = ("_current", "_samples", "_windows", "used_ms")

    def __init__(self, windows: Windows, now_ms: float) -> None:
        self._windows = windows
        self._samples = [_Sample(now_ms)]
        self._current = 0
        self.used_ms = now_ms
        """When something was last recorded. After `Windows.span_ms` without, it is as good as new."""

    def record(self, value: float, now_ms: float) -> None:
        self.used_ms = now_ms
        sample = self._samples[self._current]
        if now_ms - sample.start_ms >= self._windows.size_ms:
            sample = self._advance(now_ms)
        sample.value += value
        sample.last_ms = now_ms

    def _advance(self, now_ms: float) -> _Sample:
        self._current = (self._current + 1) % (self._windows.count + 1)
        if self._current >= len(self._samples):
            self._samples.append(_Sample(now_ms))
        else:
            self._samples[self._current].reset(now_ms)
        return self._samples[self._current]

    def measure(self, now_ms: float) -> float:
        """The rate per second."""
        span_ms = self._span_ms(now_ms)
        return sum(sample.value for sample in self._samples) * 1000 / span_ms

    def throttle_ms(self, limit: float, now_ms: float) -> int:
        """How long nothing may be recorded until the rate is down at the limit; 0 when it is not above."""
        rate = self.measure(now_ms)
        if rate <= limit:
            return 0
        return _bounded((rate - limit) / limit * self._span_ms(now_ms))

    def _span_ms(self, now_ms: float) -> float:
        """The time that the samples cover. While there are few, as many windows as there will be are assumed, so that a client that
        has just begun is not measured by its first burst."""
        oldest_ms = now_ms
        for sample in self._samples:
            if now_ms - sample.last_ms >= self._windows.span_ms:
                sample.reset(now_ms)
            oldest_ms = min(oldest_ms, sample.start_ms)
        elapsed_ms = now_ms - oldest_ms
        missing = self._windows.count - 1 - elapsed_ms // self._windows.size_ms
        return max(1.0, elapsed_ms + max(0.0, missing) * self._windows.size_ms)


class TokenBucket:
    """Credit that grows with time up to a burst, and can be overdrawn once: then it must grow back to zero."""

    __slots__ = ("_filled_ms", "_tokens", "_windows", "used_ms")

    def __init__(self, windows: Windows, now_ms: float) -> None:
        self._windows = windows
        self._tokens = math.inf  # cut down to the burst when it is first looked at
        self._filled_ms = now_ms
        self.used_ms = now_ms

    def tokens(self, limit: float, now_ms: float) -> float:
        burst = limit * self._windows.span_ms / 1000
        self._tokens = min(burst, self._tokens + limit * (now_ms - self._filled_ms) / 1000)
        self._filled_ms = now_ms
        return self._tokens

    def take(self, count: float, limit: float, now_ms: float) -> None:
        self._tokens = self.tokens(limit, now_ms) - count
        self.used_ms = now_ms

    def throttle_ms(self, limit: float, now_ms: float) -> int:
        """The time until the credit is back at zero."""
        tokens = self.tokens(limit, now_ms)
        return _bounded(-tokens / limit * 1000) if tokens < 0 else 0


def _bounded(milliseconds: float) -> int:
    return min(THROTTLE_MAX_MS, math.floor(milliseconds + 0.5))
