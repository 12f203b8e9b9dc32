"""The parts of patterns that tell the zone or its offset from UTC."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final
from zoneinfo import available_timezones

from streams_sql.functions.java_time.elements import Reading, digits_end, value_of
from streams_sql.functions.java_time.fields import DateProblem, Field, Moment
from streams_sql.functions.java_time.zones import NO_REGIONS, zone

_OFFSET_HEAD: Final = re.compile(r"[+-]\d", re.ASCII)
_REGION_HEAD: Final = re.compile(r"[A-Za-z][A-Za-z0-9~/._+-]*")
_ZONE_OFFSET: Final = re.compile(r"[+-]\d\d:\d\d(?::\d\d)?", re.ASCII)

# What is read where a text has only the word that people use: the zone it most often means.
ABBREVIATIONS: Final[Mapping[str, str]] = {
    "PST": "America/Los_Angeles",
    "PDT": "America/Los_Angeles",
    "MST": "America/Denver",
    "MDT": "America/Denver",
    "CST": "America/Chicago",
    "CDT": "America/Chicago",
    "EST": "America/New_York",
    "EDT": "America/New_York",
    "AKST": "America/Anchorage",
    "AKDT": "America/Anchorage",
    "HST": "Pacific/Honolulu",
    "BRT": "America/Sao_Paulo",
    "BST": "Europe/London",
    "WET": "Europe/Lisbon",
    "WEST": "Europe/Lisbon",
    "CET": "Europe/Paris",
    "CEST": "Europe/Paris",
    "EET": "Europe/Bucharest",
    "EEST": "Europe/Bucharest",
    "MSK": "Europe/Moscow",
    "IST": "Asia/Kolkata",
    "SGT": "Asia/Singapore",
    "HKT": "Asia/Hong_Kong",
    "JST": "Asia/Tokyo",
    "KST": "Asia/Seoul",
    "ACST": "Australia/Adelaide",
    "AEST": "Australia/Sydney",
    "AEDT": "Australia/Sydney",
    "AWST": "Australia/Perth",
    "NZST": "Pacific/Auckland",
    "NZDT": "Pacific/Auckland",
}

FULL_NAMES: Final[Mapping[str, str]] = {
    "UTC": "Coordinated Universal Time",
    "GMT": "Greenwich Mean Time",
    "PST": "Pacific Standard Time",
    "PDT": "Pacific Daylight Time",
    "MST": "Mountain Standard Time",
    "MDT": "Mountain Daylight Time",
    "CST": "Central Standard Time",
    "CDT": "Central Daylight Time",
    "EST": "Eastern Standard Time",
    "EDT": "Eastern Daylight Time",
    "BST": "British Summer Time",
    "WET": "Western European Standard Time",
    "WEST": "Western European Summer Time",
    "CET": "Central European Standard Time",
    "CEST": "Central European Summer Time",
    "EET": "Eastern European Standard Time",
    "EEST": "Eastern European Summer Time",
    "MSK": "Moscow Standard Time",
    "IST": "India Standard Time",
    "JST": "Japan Standard Time",
    "KST": "Korean Standard Time",
    "AEST": "Australian Eastern Standard Time",
    "AEDT": "Australian Eastern Daylight Time",
    "NZST": "New Zealand Standard Time",
    "NZDT": "New Zealand Daylight Time",
}


@dataclass(frozen=True, slots=True)
class Offset:
    """+01, +0130, +01:30 … with `zero` for no offset at all. Minutes and seconds are left out, if they may, where they are 0."""

    zero: str
    separator: str
    minutes: str
    seconds: str
    """One of "never", "if any", "always"."""

    def write(self, moment: Moment, is_optional: bool) -> str | None:
        total = value_of(moment, Field.OFFSET_SECONDS, is_optional)
        if total is None:
            return None
        hours, minutes, seconds = abs(total) // 3600, abs(total) // 60 % 60, abs(total) % 60
        text = f"{'-' if total < 0 else '+'}{hours:02}"
        shown = hours
        if self.minutes == "always" or minutes:
            text += f"{self.separator}{minutes:02}"
            shown += minutes
            if self.seconds == "if any" and seconds:
                text += f"{self.separator}{seconds:02}"
                shown += seconds
        return text if shown else self.zero

    def read(self, reading: Reading, position: int) -> int:
        text = reading.text
        if reading.has(self.zero, position):
            return reading.put(Field.OFFSET_SECONDS, 0, position, position + len(self.zero))
        if _OFFSET_HEAD.match(text, position):
            parts = self._parts(text, position + 1)
            if parts is None:
                return ~position
            *numbers, end = parts
            total = numbers[0] * 3600 + numbers[1] * 60 + numbers[2]
            return reading.put(Field.OFFSET_SECONDS, -total if text[position] == "-" else total, position, end)
        return ~position

    def _parts(self, text: str, position: int) -> tuple[int, int, int, int] | None:
        """Hours, minutes, seconds and where they end."""
        numbers = [0, 0, 0]
        needed = 1 if self.minutes == "if any" else 2
        wanted = 3 if self.seconds == "if any" else 2
        for part in range(wanted):
            start = position + (len(self.separator) if part else 0)
            is_there = not part or text.startswith(self.separator, position)
            if not is_there or digits_end(text, start, 2) != start + 2 or int(text[start : start + 2]) > 59:
                if part < needed:
                    return None
                break
            numbers[part] = int(text[start : start + 2])
            position = start + 2
        return numbers[0], numbers[1], numbers[2], position


@dataclass(frozen=True, slots=True)
class LocalizedOffset:
    """GMT+1, GMT+01:30; with `is_full` always two digits of hours, and minutes."""

    is_full: bool

    def write(self, moment: Moment, is_optional: bool) -> str | None:
        total = value_of(moment, Field.OFFSET_SECONDS, is_optional)
        if total is None:
            return None
        if total == 0:
            return "GMT"
        hours, minutes, seconds = abs(total) // 3600, abs(total) // 60 % 60, abs(total) % 60
        text = f"GMT{'-' if total < 0 else '+'}{hours:02}" if self.is_full else f"GMT{'-' if total < 0 else '+'}{hours}"
        if self.is_full or minutes or seconds:
            text += f":{minutes:02}"
        return f"{text}:{seconds:02}" if seconds else text

    def read(self, reading: Reading, position: int) -> int:
        if not reading.has("GMT", position):
            return ~position
        text, start = reading.text, position + 3
        sign = text[start : start + 1]
        if sign not in ("+", "-") or not sign:
            return reading.put(Field.OFFSET_SECONDS, 0, position, start)
        end = digits_end(text, start + 1, 2)
        if end == start + 1 or (self.is_full and end != start + 3):
            return ~position
        total = int(text[start + 1 : end]) * 3600
        for unit in (60, 1):
            if not text.startswith(":", end) or digits_end(text, end + 1, 2) != end + 3:
                if self.is_full and unit == 60:
                    return ~position
                break
            total += int(text[end + 1 : end + 3]) * unit
            end += 3
        return reading.put(Field.OFFSET_SECONDS, -total if sign == "-" else total, position, end)


@dataclass(frozen=True, slots=True)
class ZoneName:
    """The zone by its id, or with `words` by what people call it: a short word, or its full name."""

    words: str
    """One of "id", "short", "full"."""

    def write(self, moment: Moment, is_optional: bool) -> str | None:
        if moment.zone_id is None or moment.zone_text is None:
            if is_optional:
                return None
            raise DateProblem("Unable to extract ZoneId from temporal")
        if self.words == "id":
            return moment.zone_id
        return FULL_NAMES.get(moment.zone_text, moment.zone_text) if self.words == "full" else moment.zone_text

    def read(self, reading: Reading, position: int) -> int:
        text = reading.text
        if text[position : position + 1] in ("+", "-"):
            return _read_offset(reading, position, "") or ~position
        for prefix in ("UTC", "GMT", "UT"):
            end = position + len(prefix)
            if reading.has(prefix, position) and text[end : end + 1] in ("+", "-"):
                found = _read_offset(reading, end, prefix)
                if found is not None:
                    return found
        return self._read_region(reading, position)

    def _read_region(self, reading: Reading, position: int) -> int:
        """The longest name of a zone that the text has here."""
        match = _REGION_HEAD.match(reading.text, position)
        word = match.group() if match else ""
        names = _names(self.words != "id")
        for length in range(len(word), 0, -1):
            found = names.get(word[:length].upper())
            if found is not None:
                reading.zone = found
                return position + length
        return ~position


def _read_offset(reading: Reading, position: int, prefix: str) -> int | None:
    match = _ZONE_OFFSET.match(reading.text, position)
    if match is None:
        return None
    try:
        reading.zone = zone(prefix + match.group()).id
    except DateProblem:
        return None
    return match.end()


@cache
def _names(with_words: bool) -> Mapping[str, str]:
    """Zones by their names in upper case."""
    names = {name: name for name in (*available_timezones(), "UTC", "GMT", "UT", "Z")}
    if with_words:
        names |= ABBREVIATIONS
    return {name.upper(): found for name, found in names.items() if found not in NO_REGIONS}
