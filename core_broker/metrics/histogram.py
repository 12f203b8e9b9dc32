"""A distribution of numbers that costs one integer addition a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

EXACT_MAX: Final = 8
"""Below this each whole number has a bucket of its own; above it each power of two has four: a value is known to a quarter of itself."""
BUCKETS: Final = 160
HALF_WINDOW_S: Final = 150.0
"""Quantiles are over the last one to two of these, like Kafka's, which forget in about five minutes."""


class Histogram:
    """Counts whole numbers. `add` is for hot paths; everything else is paid by whoever asks."""

    __slots__ = ("_base", "_older_base", "_rotated_s", "buckets")

    def __init__(self) -> None:
        self.buckets = [0] * BUCKETS
        self._base = self._older_base = tuple(self.buckets)
        self._rotated_s = 0.0

    def add(self, value: int) -> None:
        if value < EXACT_MAX:
            self.buckets[value if value > 0 else 0] += 1
        else:
            shift = value.bit_length() - 3
            self.buckets[min(4 * shift + (value >> shift), BUCKETS - 1)] += 1

    def count(self) -> int:
        return sum(self.buckets)

    def quantiles(self, wanted: Sequence[float], now_s: float) -> list[float] | None:
        """Values below which the wanted shares of the recent numbers lie; None if there were none lately."""
        if now_s - self._rotated_s >= HALF_WINDOW_S:
            # The first question is about everything so far, and so is a rare one about everything since the one before.
            self._older_base, self._base, self._rotated_s = self._base, tuple(self.buckets), now_s
        recent = [now - before for now, before in zip(self.buckets, self._older_base, strict=True)]
        total = sum(recent)
        return [_quantile(recent, share * total) for share in wanted] if total else None


def lower_bound(bucket: int) -> int:
    """The least number that is counted in a bucket."""
    if bucket < EXACT_MAX:
        return bucket
    shift = bucket // 4 - 1
    return (bucket - 4 * shift) << shift


def _quantile(counts: Sequence[int], rank: float) -> float:
    seen = 0
    for bucket, count in enumerate(counts):
        if count and seen + count >= rank:
            low, high = lower_bound(bucket), lower_bound(bucket + 1)
            return low + (high - low - (bucket < EXACT_MAX)) * (rank - seen) / count
        seen += count
    return float(lower_bound(len(counts) - 1))
