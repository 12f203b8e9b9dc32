"""TIME, DATE and TIMESTAMP from and to ISO 8601 texts, as casts do it. Parts at the end of a text may be missing."""

from __future__ import annotations

import datetime
import re
from typing import Final

MS_PER_SECOND: Final = 1000
MS_PER_MINUTE: Final = 60 * MS_PER_SECOND
MS_PER_HOUR: Final = 60 * MS_PER_MINUTE
MS_PER_DAY: Final = 24 * MS_PER_HOUR

_EPOCH_ORDINAL: Final = datetime.date(1970, 1, 1).toordinal()
# The calendar repeats: Python knows the years 1 to 9999 only, so others are moved by whole cycles.
_CYCLE_YEARS: Final = 400
_CYCLE_DAYS: Final = 146_097

_DATE: Final = re.compile(r"([+-]?[0-9]{4,9})-([0-9]{2})-([0-9]{2})")
_TIME: Final = re.compile(r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?")
_ZONE: Final = re.compile(r"([+-])([0-9]{1,2})(?::?([0-9]{2}))?")
_COMPLETE_TIME: Final = "00:00:00.000"
_TIMESTAMP_HELP: Final = (
    "Required format is: \"yyyy-MM-dd'T'HH:mm:ss.SSS\", with an optional numeric 4-digit timezone, for example: "
    "'2020-05-26T23:59:58.000' or with tz: '2020-05-26T23:59:58.000+0200'. A trailing 'Z' instead of tz indicates the "
    'zero UTC offset. Partials are also supported, for example "2020-05-26"'
)
_DATE_HELP: Final = (
    "Required format is: \"yyyy-MM-dd\", for example '2020-05-26'. Partials are also supported, for example '2020-05'"
)
_TIME_HELP: Final = (
    "Required format is: \"HH:mm:ss.SSS\", for example: '01:34:20.123' or '01:34:20'. Partials are also supported, for "
    "example '01:34'"
)


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01; ValueError if there is no such day."""
    cycles = (year - 1) // _CYCLE_YEARS
    ordinal = datetime.date(year - cycles * _CYCLE_YEARS, month, day).toordinal()
    return ordinal - _EPOCH_ORDINAL + cycles * _CYCLE_DAYS


def civil_from_days(days: int) -> tuple[int, int, int]:
    cycles, rest = divmod(days, _CYCLE_DAYS)
    date = datetime.date.fromordinal(_EPOCH_ORDINAL + rest)
    return date.year + cycles * _CYCLE_YEARS, date.month, date.day


def date_text(days: int) -> str:
    year, month, day = civil_from_days(days)
    return f"{year:04d}-{month:02d}-{day:02d}"


def time_text(ms: int) -> str:
    """As Java's LocalTime of whole seconds: these are left out where there are none."""
    seconds = ms // MS_PER_SECOND
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}"
    return f"{text}:{seconds % 60:02d}" if seconds % 60 else text


def timestamp_text(ms: int) -> str:
    days, rest = divmod(ms, MS_PER_DAY)
    seconds = rest // MS_PER_SECOND
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{rest % MS_PER_SECOND:03d}"
    return f"{date_text(days)}T{clock}"


def parse_date(text: str) -> int:
    missing = {1: "-01-01", 2: "-01"}.get(len(text.split("-")), "")
    days = _days(text + missing)
    if days is None:
        raise ValueError(f"Failed to parse date {text[:80]!r}. {_DATE_HELP}")
    return days


def parse_time(text: str) -> int:
    ms = _clock_ms(text)
    if ms is None:
        raise ValueError(f"Failed to parse time {text[:80]!r}. {_TIME_HELP}")
    return ms


def parse_timestamp(text: str) -> int:
    date, is_complete, clock = text.partition("T")
    if not is_complete:
        return parse_date(text) * MS_PER_DAY
    zone_at = max(clock.find("+"), clock.find("-"))
    zone = clock[zone_at:] if zone_at >= 0 else ""
    clock = clock.removesuffix(zone).removesuffix("Z")
    days = _days(date)
    ms = _clock_ms(clock + _COMPLETE_TIME[len(clock) :])
    offset = _offset_ms(zone)
    if days is None or ms is None or offset is None:
        raise ValueError(f"Failed to parse timestamp {text[:80]!r}. {_TIMESTAMP_HELP}")
    return days * MS_PER_DAY + ms - offset


def _days(text: str) -> int | None:
    match = _DATE.fullmatch(text)
    try:
        return days_from_civil(int(match[1]), int(match[2]), int(match[3])) if match else None
    except ValueError:
        return None


def _clock_ms(text: str) -> int | None:
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    hour, minute, second = int(match[1]), int(match[2]), int(match[3] or 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    fraction = int((match[4] or "").ljust(3, "0")[:3])
    return hour * MS_PER_HOUR + minute * MS_PER_MINUTE + second * MS_PER_SECOND + fraction


def _offset_ms(zone: str) -> int | None:
    if not zone:
        return 0
    match = _ZONE.fullmatch(zone)
    if match is None:
        return None
    ms = int(match[2]) * MS_PER_HOUR + int(match[3] or 0) * MS_PER_MINUTE
    return -ms if match[1] == "-" else ms
