"""Decimals, dates, times and timestamps as the numbers and bytes that stand for them.

Decimals are bytes: the number without its point as a signed integer, most significant byte first, in as few bytes as hold it. Dates are
days, timestamps milliseconds since 1970 in UTC, times milliseconds since midnight.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Context, Decimal, DecimalException, Inexact, InvalidOperation, Overflow, Underflow
from typing import Final

from connect.data.mismatch import Mismatch, not_a

DECIMAL_MAX_DIGITS: Final = 100_000
DAY_MS: Final = 86_400_000

_MAX_BITS: Final = int(DECIMAL_MAX_DIGITS * math.log2(10))
_EXACT: Final = Context(prec=DECIMAL_MAX_DIGITS, traps=[InvalidOperation, Inexact, Overflow, Underflow])
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_MILLISECOND: Final = timedelta(milliseconds=1)


def unscaled(value: Decimal, scale: int) -> int:
    """The number without its point; Mismatch when it has more digits behind the point than the scale leaves."""
    moved = _moved(value, scale) if value.is_finite() else value
    if not moved.is_finite() or moved.adjusted() >= DECIMAL_MAX_DIGITS:
        raise not_a(f"a decimal of at most {DECIMAL_MAX_DIGITS} digits", value)
    whole = int(moved)
    if whole != moved:
        raise not_a(f"a decimal of scale {scale}: it has more digits behind the point", value)
    return whole


def scaled(number: int, scale: int) -> Decimal:
    if number.bit_length() > _MAX_BITS:
        raise Mismatch(f"a decimal of more than {DECIMAL_MAX_DIGITS} digits")
    return _moved(Decimal(number), -scale)


def _moved(value: Decimal, places: int) -> Decimal:
    """With its point moved. The context lets no digit get lost."""
    try:
        return value.scaleb(places, _EXACT)
    except DecimalException:
        raise Mismatch(
            f"a decimal of scale {abs(places)} cannot be held: {DECIMAL_MAX_DIGITS} digits are the most"
        ) from None


def signed_bytes(number: int) -> bytes:
    """Two's complement in as few bytes as hold it."""
    return number.to_bytes((number if number >= 0 else ~number).bit_length() // 8 + 1, "big", signed=True)


def decimal_bytes(value: Decimal, scale: int) -> bytes:
    return signed_bytes(unscaled(value, scale))


def decimal_of(data: bytes, scale: int) -> Decimal:
    if not data:
        raise Mismatch("a decimal of no bytes is no number")
    return scaled(int.from_bytes(data, "big", signed=True), scale)


def days(value: date) -> int:
    return value.toordinal() - _EPOCH_DAY


def date_of(number: int) -> date:
    try:
        return date.fromordinal(number + _EPOCH_DAY)
    except (ValueError, OverflowError):
        raise Mismatch(
            f"{number} days since 1970 is no date between the years {date.min.year} and {date.max.year}"
        ) from None


def time_ms(value: time) -> int:
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000


def time_of(number: int) -> time:
    if not 0 <= number < DAY_MS:
        raise Mismatch(f"{number} milliseconds since midnight is no time of a day")
    seconds, milliseconds = divmod(number, 1000)
    return time(seconds // 3600, seconds // 60 % 60, seconds % 60, milliseconds * 1000)


def timestamp_ms(value: datetime) -> int:
    """A datetime that names no zone counts as UTC."""
    if value.tzinfo is None:
        value = value.replace(tzinfo=UTC)
    return (value - _EPOCH) // _MILLISECOND


def timestamp_of(number: int) -> datetime:
    try:
        return _EPOCH + timedelta(milliseconds=number)
    except OverflowError:
        raise Mismatch(
            f"{number} milliseconds since 1970 is no time between the years {date.min.year} and {date.max.year}"
        ) from None
