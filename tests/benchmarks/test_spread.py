from __future__ import annotations

import pytest

from benchmarks.spread import Spread, at_least, at_most, percentile, ratio


def test_a_spread_says_median_lowest_and_highest() -> None:
    spread = Spread((5.0, 1.0, 9.0, 2.0))
    assert (spread.median, spread.low, spread.high) == (3.5, 1.0, 9.0)


def test_a_spread_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Spread(())


def test_the_ratio_is_that_of_the_medians() -> None:
    assert ratio(Spread((1.0, 3.0, 100.0)), Spread((2.0, 2.0, 50.0))) == 1.5


def test_there_is_no_ratio_to_zero() -> None:
    assert ratio(Spread((1.0,)), Spread((0.0,))) is None


@pytest.mark.parametrize(
    ("value", "verdict"), [(1.49, "missed"), (1.5, "hit"), (1.99, "hit"), (2.0, "goal hit"), (9.0, "goal hit")]
)
def test_a_target_from_below(value: float, verdict: str) -> None:
    assert at_least(1.5, goal=2.0).verdict(value) == verdict


@pytest.mark.parametrize(("value", "verdict"), [(1.01, "missed"), (1.0, "hit"), (0.81, "hit"), (0.8, "goal hit")])
def test_a_target_from_above(value: float, verdict: str) -> None:
    assert at_most(1.0, goal=0.8).verdict(value) == verdict


def test_a_target_reads_as_it_is_meant() -> None:
    assert str(at_least(1.0, goal=1.2)) == "≥ 1 (goal 1.2)"
    assert str(at_most(0.125)) == "≤ 0.125"


@pytest.mark.parametrize(("fraction", "value"), [(0.01, 1), (0.5, 50), (0.99, 99), (0.999, 100), (1.0, 100)])
def test_a_percentile_is_the_nearest_rank(fraction: float, value: int) -> None:
    assert percentile(range(1, 101), fraction) == value


def test_a_percentile_of_one_measurement_is_that_one() -> None:
    assert percentile([7.0], 0.5) == percentile([7.0], 0.99) == 7.0


@pytest.mark.parametrize("fraction", [0.0, -0.5, 1.01])
def test_a_percentile_outside_of_the_range_is_refused(fraction: float) -> None:
    with pytest.raises(ValueError, match="fraction"):
        percentile([1.0], fraction)
