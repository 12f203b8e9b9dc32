"""The subscribers of one topic by their load: who takes the next partition, and who gives one up."""

from __future__ import annotations

from collections.abc import Sequence


class LoadLevels:
    """Two ranges of the subscribers, sorted by load: the least loaded grows from the left, the most loaded from the right.

    Within a range everybody has the same load. Once everybody in it has taken (or given) one partition, its level rises (or
    falls) by one and the range grows by those who stand at that level. It is over when the levels are one apart, not when the
    ranges meet.
    """

    def __init__(self, numbers: Sequence[int], loads: list[int]) -> None:
        self._loads = loads
        self._sorted = sorted(numbers, key=lambda number: (loads[number], number))
        lowest, highest = loads[self._sorted[0]], loads[self._sorted[-1]]
        self.imbalance = highest - lowest
        self._least_end = 0
        self._least_level = lowest - 1
        self._next_least = 0
        self._most_start = self._most_end = len(self._sorted)
        self._most_level = highest + 1
        self._next_most = len(self._sorted) - 1

    def are_level(self) -> bool:
        return self._most_level - self._least_level <= 1

    def next_least_loaded(self) -> int:
        """Counts on the partition being given to it."""
        if self._next_least >= self._least_end:
            self._least_level += 1
            while self._least_end < len(self._sorted) and self._load_at(self._least_end) == self._least_level:
                self._least_end += 1
            self._next_least = 0
        self._next_least += 1
        return self._sorted[self._next_least - 1]

    def next_most_loaded(self) -> int | None:
        """Counts on a partition being taken from it; None when nobody can give one."""
        if self._next_most < self._most_start:
            if self._most_end <= self._most_start and self._most_start > 0:
                # Everybody in the range was excluded: go on with the next level that there is.
                self._most_level = self._load_at(self._most_start - 1)
            else:
                self._most_level -= 1
            while self._most_start > 0 and self._load_at(self._most_start - 1) == self._most_level:
                self._most_start -= 1
            self._next_most = self._most_end - 1
        if self._next_most < 0:
            return None
        self._next_most -= 1
        return self._sorted[self._next_most + 1]

    def exclude_most_loaded(self) -> None:
        """Who was named last has no partition of this topic: it leaves the range."""
        here, last = self._next_most + 1, self._most_end - 1
        self._sorted[here], self._sorted[last] = self._sorted[last], self._sorted[here]
        self._most_end -= 1

    def _load_at(self, position: int) -> int:
        return self._loads[self._sorted[position]]
