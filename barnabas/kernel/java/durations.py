"""Durations and points in time as Java writes them: `P1DT2H3M4.5S` and `2026-01-31T10:00:00.000+01:00`."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

MS_PER_DAY: Final = 86_400_000
MS_PER_HOUR: Final = 3_600_000
MS_PER_MINUTE: Final = 60_000
LONG_MAX: Final = (1 << 63) - 1

_DURATION: Final = re.compile(
    r"([-+]?)P(?:([-+]?[0-9]+)D)?"
    r"(T(?:([-+]?[0-9]+)H)?(?:([-+]?[0-9]+)M)?(?:([-+]?[0-9]+)(?:[.,]([0-9]{0,9}))?S)?)?",
    re.IGNORECASE,
)
_DATE_TIME: Final = re.compile(r"(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)\.(\d+)(Z|([+-])(\d{2})(?::(\d{2}))?)", re.ASCII)
_OFFSET_MAX_MINUTES: Final = 24 * 60


def parse_duration_ms(text: str) -> int:
    """Milliseconds of an ISO 8601 duration of days and smaller, each part with a sign of its own if need be."""
    found = _DURATION.fullmatch(text)
    if not found or found[3] in ("T", "t") or (found[2] is None and found[3] is None):
        raise ValueError("Text cannot be parsed to a Duration")
    sign, days, _, hours, minutes, seconds, fraction = found.groups()
    total = int(days or 0) * MS_PER_DAY + int(hours or 0) * MS_PER_HOUR + int(minutes or 0) * MS_PER_MINUTE
    nanos = int((fraction or "").ljust(9, "0")) * (-1 if (seconds or "").startswith("-") else 1)
    total_nanos = (total + int(seconds or 0) * 1000) * 1_000_000 + nanos
    if sign == "-":
        total_nanos = -total_nanos
    if abs(total_nanos) // 1_000_000 > LONG_MAX:
        raise ValueError("Text cannot be parsed to a Duration: overflow")
    return total_nanos // 1_000_000


def parse_date_time_ms(text: str) -> int:
    """Milliseconds since the epoch of `YYYY-MM-DDThh:mm:ss.sss`, with an offset or in UTC.

    The milliseconds are not optional, and what follows a whole date and time is not looked at: Kafka's tools read it so.
    """
    before, separator, after = text.partition("T")
    if not separator or not before + after:
        raise ValueError("Error parsing timestamp. It does not contain a 'T' according to ISO8601 format")
    if not set("+-Z") & set(after.partition("T")[0]):
        text += "Z"
    unparseable = ValueError(f'Unparseable date: "{text}"')
    found = _DATE_TIME.match(text)
    if not found:
        raise unparseable
    *numbers, millis = (int(part) for part in found.groups()[:7])
    offset_minutes = int(found[10] or 0) * 60 + int(found[11] or 0)
    if millis > 999 or offset_minutes >= _OFFSET_MAX_MINUTES or int(found[11] or 0) >= 60:
        raise unparseable
    try:
        moment = datetime(*numbers, tzinfo=UTC)  # type: ignore[misc,arg-type]  # six numbers, which mypy cannot count
    except (ValueError, OverflowError):
        raise unparseable from None
    since_epoch_ms = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1) + millis
    return since_epoch_ms - offset_minutes * MS_PER_MINUTE * (-1 if found[9] == "-" else 1)
