"""Decimals, dates and times as the numbers that stand for them, as Java has them."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect.data import logical
from connect.data.mismatch import Mismatch


@pytest.mark.parametrize(
    ("value", "scale", "data"),
    [
        (Decimal(0), 0, b"\x00"),
        (Decimal("1.27"), 2, b"\x7f"),
        (Decimal("1.28"), 2, b"\x00\x80"),
        (Decimal("-1.28"), 2, b"\x80"),
        (Decimal("1.5"), 2, b"\x00\x96"),
        (Decimal("1E+3"), 0, b"\x03\xe8"),
        (Decimal(1200), -2, b"\x0c"),
        (Decimal("12345678901234567890.12"), 2, (1234567890123456789012).to_bytes(9, "big")),
    ],
)
def test_decimals_are_bytes(value: Decimal, scale: int, data: bytes) -> None:
    assert logical.decimal_bytes(value, scale) == data
    assert logical.decimal_of(data, scale) == value


@given(st.integers(), st.integers(-20, 20))
def test_decimals_there_and_back(number: int, scale: int) -> None:
    value = logical.scaled(number, scale)
    assert logical.decimal_of(logical.decimal_bytes(value, scale), scale) == value
    assert logical.unscaled(value, scale) == number


@pytest.mark.parametrize(
    ("value", "scale"),
    [
        (Decimal("1.25"), 1),
        (Decimal("NaN"), 2),
        (Decimal("Infinity"), 0),
        (Decimal("1E+200000"), 0),
        (Decimal(1), 1 << 40),
    ],
)
def test_decimals_that_are_refused(value: Decimal, scale: int) -> None:
    with pytest.raises(Mismatch):
        logical.unscaled(value, scale)


@pytest.mark.parametrize(
    ("to_number", "of_number", "value", "number"),
    [
        (logical.days, logical.date_of, date(1970, 1, 1), 0),
        (logical.days, logical.date_of, date(1969, 12, 31), -1),
        (logical.days, logical.date_of, date(9999, 12, 31), 2_932_896),
        (logical.time_ms, logical.time_of, time(23, 59, 59, 999_000), 86_399_999),
        (logical.timestamp_ms, logical.timestamp_of, datetime(1970, 1, 1, tzinfo=UTC), 0),
        (logical.timestamp_ms, logical.timestamp_of, datetime(1969, 12, 31, 23, 59, 59, 999_000, UTC), -1),
    ],
)
def test_times_are_numbers(
    to_number: Callable[[Any], int], of_number: Callable[[int], Any], value: Any, number: int
) -> None:
    assert to_number(value) == number
    assert of_number(number) == value


def test_a_timestamp_of_any_zone_counts_in_utc() -> None:
    east = timezone(timedelta(hours=2))
    assert logical.timestamp_ms(datetime(1970, 1, 1, 2, tzinfo=east)) == 0
    assert logical.timestamp_ms(datetime(1970, 1, 1)) == 0  # noqa: DTZ001, a datetime without zone is what is tested


@pytest.mark.parametrize(
    ("of_number", "number"),
    [(logical.date_of, 1 << 40), (logical.time_of, -1), (logical.timestamp_of, 1 << 62)],
)
def test_numbers_that_are_no_times(of_number: Callable[[int], Any], number: int) -> None:
    with pytest.raises(Mismatch):
        of_number(number)


@pytest.mark.parametrize(("bits", "scale"), [(1, 1 << 31), (1, -(1 << 31)), (500_000, 0)])
def test_decimals_that_nobody_needs(bits: int, scale: int) -> None:
    with pytest.raises(Mismatch):
        logical.scaled((1 << bits) - 1, scale)


def test_no_bytes_are_no_decimal() -> None:
    with pytest.raises(Mismatch, match="no bytes"):
        logical.decimal_of(b"", 2)
