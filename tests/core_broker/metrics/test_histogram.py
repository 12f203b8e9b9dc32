"""Histograms against sorted lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core_broker.metrics.histogram import BUCKETS, EXACT_MAX, HALF_WINDOW_S, Histogram, lower_bound

MEDIAN = [0.5]


def bucket_of(value: int) -> int:
    histogram = Histogram()
    histogram.add(value)
    return histogram.buckets.index(1)


def test_buckets_follow_each_other_without_gaps() -> None:
    for bucket in range(BUCKETS - 1):
        assert bucket_of(lower_bound(bucket)) == bucket
        assert bucket_of(lower_bound(bucket + 1) - 1) == bucket


@given(st.integers(-5, 1 << 80))
def test_every_number_has_a_place(value: int) -> None:
    bucket = bucket_of(value)
    if bucket < BUCKETS - 1:
        assert lower_bound(bucket) <= max(0, value) < lower_bound(bucket + 1)


@given(st.lists(st.integers(0, 1 << 30), min_size=1, max_size=300), st.floats(0.01, 1))
def test_a_quantile_is_near_the_true_one(values: list[int], share: float) -> None:
    histogram = Histogram()
    for value in values:
        histogram.add(value)
    found = histogram.quantiles([share], 1000.0)
    assert found is not None
    # The number of that rank lies in the same bucket.
    rank = max(0, -(-round(share * len(values) * 1e9) // 10**9) - 1)
    true = sorted(values)[min(rank, len(values) - 1)]
    low, high = lower_bound(bucket_of(true)), lower_bound(bucket_of(true) + 1)
    assert low - 1 <= found[0] <= high + 1
    assert histogram.count() == len(values)


def test_what_is_old_is_forgotten() -> None:
    histogram = Histogram()
    for _ in range(100):
        histogram.add(1_000_000)
    assert histogram.quantiles(MEDIAN, 1000.0) == pytest.approx([983_040], rel=0.1)
    for _ in range(10):
        histogram.add(EXACT_MAX - 1)
    assert histogram.quantiles(MEDIAN, 1010.0) == pytest.approx([983_040], rel=0.1), "all of it is recent"
    histogram.quantiles(MEDIAN, 1000.0 + HALF_WINDOW_S)
    for _ in range(10):
        histogram.add(EXACT_MAX - 1)
    assert histogram.quantiles(MEDIAN, 1000.0 + 2 * HALF_WINDOW_S) == [EXACT_MAX - 1]
    assert histogram.quantiles(MEDIAN, 1000.0 + 4 * HALF_WINDOW_S) is None
