"""When something that failed is tried again."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from connect.worker.restarts import RestartPolicy, Restarts


@dataclass
class Clock:
    now_s: float = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.mark.parametrize(
    ("attempts_max", "expected"),
    [
        (-1, [1, 2, 4, 8, 10, 10]),
        (2, [1, 2, None, None, None, None]),
        (0, [None] * 6),
    ],
)
def test_pauses_grow_up_to_a_cap(attempts_max: int, expected: list[float | None]) -> None:
    restarts = Restarts(RestartPolicy(attempts_max, 1_000, 10_000), Clock())
    assert [restarts.delay_s() for _ in expected] == expected


def test_who_has_run_for_long_starts_again_quickly() -> None:
    clock = Clock()
    restarts = Restarts(RestartPolicy(-1, 1_000, 10_000), clock)
    assert [restarts.delay_s() for _ in range(3)] == [1, 2, 4]
    restarts.started()
    clock.now_s += 9
    assert restarts.delay_s() == 8
    restarts.started()
    clock.now_s += 10
    assert restarts.delay_s() == 1
