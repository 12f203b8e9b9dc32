"""What several measurements of one quantity say: median, lowest, highest; how two compare; whether a target is hit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

Verdict = Literal["hit", "goal hit", "missed"]


@dataclass(frozen=True, slots=True)
class Spread:
    """The measurements of one quantity, in the order in which they were taken."""

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError("a spread needs at least one measurement")

    @property
    def median(self) -> float:
        return median(self.values)

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)


@dataclass(frozen=True, slots=True)
class Target:
    """A bound, most often on the ratio ours : theirs. `goal` is the better value that is wished for and not demanded."""

    bound: float
    direction: Literal["at least", "at most"]
    goal: float | None = None

    def __str__(self) -> str:
        sign = "≥" if self.direction == "at least" else "≤"
        goal = f" (goal {self.goal:g})" if self.goal is not None else ""
        return f"{sign} {self.bound:,g}{goal}"

    def verdict(self, ratio: float) -> Verdict:
        if not self._meets(ratio, self.bound):
            return "missed"
        if self.goal is not None and self._meets(ratio, self.goal):
            return "goal hit"
        return "hit"

    def _meets(self, ratio: float, bound: float) -> bool:
        return ratio >= bound if self.direction == "at least" else ratio <= bound


def at_least(bound: float, *, goal: float | None = None) -> Target:
    return Target(bound, "at least", goal)


def at_most(bound: float, *, goal: float | None = None) -> Target:
    return Target(bound, "at most", goal)


def ratio(ours: Spread, theirs: Spread) -> float | None:
    """Median over median; None where theirs is zero and a ratio means nothing."""
    return ours.median / theirs.median if theirs.median else None


def percentile(ordered: Sequence[float], fraction: float) -> float:
    """The value that `fraction` of an ascending sequence does not exceed (nearest rank)."""
    if not ordered:
        raise ValueError("a percentile needs at least one measurement")
    if not 0 < fraction <= 1:
        raise ValueError(f"the fraction of a percentile lies above 0 and up to 1, not at {fraction}")
    rank = -(-len(ordered) * round(fraction * 1_000_000) // 1_000_000)
    return ordered[rank - 1]
