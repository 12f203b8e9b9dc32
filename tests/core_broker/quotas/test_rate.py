"""Rates and credits, against simple models that keep every event."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core_broker.quotas.rate import THROTTLE_MAX_MS, Rate, TokenBucket, Windows

WINDOWS = Windows(count=11, size_ms=1000)
steps = st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 100_000)), min_size=1, max_size=60)
"""Pauses in milliseconds, each with what is recorded after it."""


@given(steps)
def test_a_rate_counts_what_lies_in_its_windows(events: list[tuple[int, int]]) -> None:
    now_ms = 1_000_000
    rate = Rate(WINDOWS, now_ms)
    history: list[tuple[int, int]] = []
    for pause_ms, value in events:
        now_ms += pause_ms
        rate.record(value, now_ms)
        history.append((now_ms, value))
        # A sample may reach back one window further than the windows, and no event in them is lost.
        recent = sum(value for at_ms, value in history if now_ms - at_ms < WINDOWS.span_ms)
        older = sum(value for at_ms, value in history if now_ms - at_ms < WINDOWS.span_ms + WINDOWS.size_ms)
        total = rate.measure(now_ms) * 10  # at least ten seconds are assumed
        assert total <= older + 1e-6
        assert rate.measure(now_ms) * (WINDOWS.span_ms + WINDOWS.size_ms) / 1000 >= recent - 1e-6


@given(steps, st.floats(1, 1e6))
def test_after_the_pause_the_rate_is_down_at_its_limit(events: list[tuple[int, int]], limit: float) -> None:
    now_ms = 0.0
    rate = Rate(WINDOWS, now_ms)
    for pause_ms, value in events:
        now_ms += pause_ms
        rate.record(value, now_ms)
    throttle_ms = rate.throttle_ms(limit, now_ms)
    assert (throttle_ms > 0) == (rate.measure(now_ms) > limit + limit * 0.5 / 11_000) or throttle_ms <= 1
    assert rate.throttle_ms(limit, now_ms + throttle_ms + WINDOWS.span_ms) == 0
    if 0 < throttle_ms < 1000:  # no sample ends meanwhile
        assert rate.measure(now_ms + throttle_ms) <= limit * 1.2


def test_the_numbers_of_kafka() -> None:
    """A burst of twice what ten windows allow, in the first of them: eleven windows are too few to forgive it."""
    rate = Rate(WINDOWS, 0)
    rate.record(20_000, 0)
    assert rate.measure(0) == 2000
    assert rate.throttle_ms(1000, 0) == 10_000
    assert rate.measure(500) == pytest.approx(20_000 / 10.5)
    assert rate.throttle_ms(2000, 0) == 0
    # After eleven seconds without an event the sample is dropped as a whole.
    assert rate.measure(10_999) > 1000
    assert rate.measure(11_000) == 0


def test_what_was_counted_can_be_taken_back() -> None:
    rate = Rate(WINDOWS, 0)
    rate.record(500, 0)
    rate.record(7000, 10)
    rate.record(-7000, 10)
    assert rate.measure(10) == pytest.approx(500 * 1000 / 10_010)


def test_a_pause_fits_the_field_that_tells_of_it() -> None:
    rate = Rate(WINDOWS, 0)
    rate.record(1e18, 0)
    assert rate.throttle_ms(1, 0) == THROTTLE_MAX_MS


@given(steps, st.floats(0.1, 1000))
def test_a_bucket_is_the_credit_that_a_model_keeps(events: list[tuple[int, int]], limit: float) -> None:
    now_ms = 5_000_000
    bucket = TokenBucket(WINDOWS, now_ms)
    burst = credit = limit * 11
    for pause_ms, count in events:
        now_ms += pause_ms
        credit = min(burst, credit + limit * pause_ms / 1000)
        assert bucket.tokens(limit, now_ms) == pytest.approx(credit, abs=1e-6)
        if credit >= 0:
            bucket.take(count, limit, now_ms)
            credit -= count
        throttle_ms = bucket.throttle_ms(limit, now_ms)
        assert throttle_ms == pytest.approx(max(0, -credit / limit * 1000), abs=1)
    assert bucket.tokens(limit, now_ms + bucket.throttle_ms(limit, now_ms) + 1) >= 0


def test_a_bucket_that_grows_keeps_its_debt() -> None:
    bucket = TokenBucket(WINDOWS, 0)
    bucket.take(21, 1, 0)
    assert bucket.throttle_ms(1, 0) == 10_000
    assert bucket.throttle_ms(10, 0) == 1000
