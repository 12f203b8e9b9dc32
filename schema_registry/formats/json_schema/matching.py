"""Pairs the subschemas of two unions, as many as can be: a maximum matching, found by augmenting paths."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence


def largest_matching(edges: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """The right partner of each left vertex that has one, in a matching than which none is larger."""
    right_of: dict[int, int] = {}
    left_of: dict[int, int] = {}
    for left in edges:
        _augment(left, edges, right_of, left_of)
    return dict(sorted(right_of.items()))


def _augment(start: int, edges: Mapping[int, Sequence[int]], right_of: dict[int, int], left_of: dict[int, int]) -> None:
    """Look for a free right vertex along edges that are in the matching and not in turn; swap them all if there is one."""
    came_from: dict[int, int] = {}
    waiting = deque([start])
    while waiting:
        left = waiting.popleft()
        for right in edges[left]:
            if right in came_from:
                continue
            came_from[right] = left
            if right not in left_of:
                _swap(start, right, came_from, right_of, left_of)
                return
            waiting.append(left_of[right])


def _swap(
    start: int, free: int, came_from: Mapping[int, int], right_of: dict[int, int], left_of: dict[int, int]
) -> None:
    right = free
    while True:
        left = came_from[right]
        previous = right_of.get(left)
        right_of[left], left_of[right] = right, left
        if left == start:
            return
        assert previous is not None, "only the start of the path had no partner"
        right = previous
