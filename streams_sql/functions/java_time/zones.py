"""Time zones by Java's names: regions of the tz database, offsets, and offsets after UTC, GMT or UT."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from streams_sql.functions.java_time.fields import SECONDS_PER_DAY, DateProblem, civil

ZONES_CACHED: Final = 1000
OFFSET_SECONDS_MAX: Final = 18 * 3600

_OFFSET: Final = re.compile(r"([+-])(?:(\d)|(\d\d)(?:(\d\d)(\d\d)?|:(\d\d)(?::(\d\d))?)?)", re.ASCII)
_REGION: Final = re.compile(r"[A-Za-z][A-Za-z0-9~/._+-]+")
_PREFIXES: Final = ("UTC", "GMT", "UT")
# Java leaves these to abbreviations or has no rules for them.
NO_REGIONS: Final = frozenset({"EST", "MST", "HST", "ROC", "Factory", "localtime", "posixrules"})
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LOCAL_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  # of whatever zone it is then looked at in
# Days for which Python's calendar can be asked, with room for any offset.
_DAYS: Final = range(-719_100, 2_932_800)
_DAYS_PER_400_YEARS: Final = 146_097


@dataclass(frozen=True, slots=True)
class Zone:
    """`region` is None where the offset is always the same."""

    id: str
    region: ZoneInfo | None = None
    fixed_seconds: int = 0

    def offset_at(self, epoch_seconds: int) -> int:
        """Seconds before UTC at that time of UTC."""
        if self.region is None:
            return self.fixed_seconds
        offset = (_EPOCH + timedelta(seconds=_known(epoch_seconds))).astimezone(self.region).utcoffset()
        return _seconds(offset)

    def offset_of_local(self, local_seconds: int) -> int:
        """Seconds before UTC at that time of the zone's clocks: the earlier one where they show it twice, the one before the gap where
        they never show it."""
        if self.region is None:
            return self.fixed_seconds
        return _seconds(
            (_LOCAL_EPOCH + timedelta(seconds=_known(local_seconds))).replace(tzinfo=self.region).utcoffset()
        )

    def abbreviation_at(self, epoch_seconds: int) -> str:
        """What people call the zone at that time: CET, CEST; its name where they have no word for it."""
        if self.region is None:
            return self.id
        text = (_EPOCH + timedelta(seconds=_known(epoch_seconds))).astimezone(self.region).tzname() or ""
        return text if text.isalpha() else self.id


@lru_cache(ZONES_CACHED)
def zone(name: str) -> Zone:
    """By the rules of Java's ZoneId.of."""
    if name == "Z":
        return Zone("Z")
    if len(name) < 2 or name[0] in "+-":
        seconds = offset_seconds(name)
        return Zone(offset_id(seconds), fixed_seconds=seconds)
    if name in _PREFIXES:
        return Zone(name)
    for prefix in _PREFIXES:
        if name.startswith((f"{prefix}+", f"{prefix}-")):
            return _offset_after(prefix, name)
    if not _REGION.fullmatch(name):
        raise DateProblem(f"Invalid ID for region-based ZoneId, invalid format: {name}")
    try:
        region = None if name in NO_REGIONS else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        region = None
    if region is None:
        raise DateProblem(f"Unknown time-zone ID: {name}")
    return Zone(name, region)


def offset_seconds(text: str) -> int:
    """By the rules of Java's ZoneOffset.of: +h, +hh, +hhmm, +hh:mm, +hhmmss, +hh:mm:ss."""
    match = _OFFSET.fullmatch(text)
    if match is None:
        raise DateProblem(f"Invalid ID for ZoneOffset, invalid format: {text}")
    sign, hour, hours, *rest = match.groups()
    minutes, seconds = rest[0] or rest[2] or 0, rest[1] or rest[3] or 0
    return checked_offset(sign, int(hour or hours), int(minutes), int(seconds))


def checked_offset(sign: str, hours: int, minutes: int, seconds: int) -> int:
    if minutes > 59 or seconds > 59:
        raise DateProblem(f"Zone offset minutes and seconds not in valid range 0 to 59: {minutes}, {seconds}")
    total = hours * 3600 + minutes * 60 + seconds
    if total > OFFSET_SECONDS_MAX:
        raise DateProblem("Zone offset not in valid range: -18:00 to +18:00")
    return -total if sign == "-" else total


def offset_id(seconds: int) -> str:
    """Z, +01:00, -00:30:15."""
    if seconds == 0:
        return "Z"
    total = abs(seconds)
    text = f"{'-' if seconds < 0 else '+'}{total // 3600:02}:{total // 60 % 60:02}"
    return f"{text}:{total % 60:02}" if total % 60 else text


def _offset_after(prefix: str, name: str) -> Zone:
    try:
        seconds = offset_seconds(name[len(prefix) :])
    except DateProblem:
        raise DateProblem(f"Invalid ID for offset-based ZoneId: {name}") from None
    return Zone(prefix + offset_id(seconds) if seconds else prefix, fixed_seconds=seconds)


def _known(seconds: int) -> int:
    """The same point of the calendar, which repeats itself every 400 years, within what Python's dates reach."""
    day, second = divmod(seconds, SECONDS_PER_DAY)
    if day not in _DAYS:
        cycles = (civil(day).year - 2000) // 400 if day > 0 else (civil(day).year - 1) // 400
        day -= cycles * _DAYS_PER_400_YEARS
    return day * SECONDS_PER_DAY + second


def _seconds(offset: timedelta | None) -> int:
    return 0 if offset is None else offset.days * SECONDS_PER_DAY + offset.seconds
