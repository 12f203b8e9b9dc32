"""Dates, times and timestamps as texts of Java's patterns, and back.

A pattern is compiled once. Words are English and weeks begin with Sunday, as for a Java whose language is English.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from streams_sql.functions.java_time.elements import Element, Reading
from streams_sql.functions.java_time.fields import (
    NANOS_PER_MILLI,
    NANOS_PER_SECOND,
    SECONDS_PER_DAY,
    DateProblem,
    Field,
    Moment,
)
from streams_sql.functions.java_time.patterns import compile_pattern
from streams_sql.functions.java_time.resolution import Resolved, completed, resolve
from streams_sql.functions.java_time.zones import Zone, offset_id, zone

PATTERNS_CACHED: Final = 1000
# A message shows no more of a text than this.
_TEXT_SHOWN: Final = 64


class DatePattern:
    __slots__ = ("_elements",)

    def __init__(self, pattern: str) -> None:
        self._elements: tuple[Element, ...] = compile_pattern(pattern)

    def text(self, moment: Moment) -> str:
        return "".join([element.write(moment, False) or "" for element in self._elements])

    def read(self, text: str) -> tuple[Resolved, str | None]:
        """What is told, and the zone."""
        reading = Reading(text)
        shown = text if len(text) <= _TEXT_SHOWN else f"{text[:_TEXT_SHOWN]}..."
        position = 0
        for element in self._elements:
            position = element.read(reading, position)
            if position < 0:
                raise DateProblem(f"Text '{shown}' could not be parsed at index {~position}")
        if position < len(text):
            raise DateProblem(f"Text '{shown}' could not be parsed, unparsed text found at index {position}")
        try:
            return resolve(reading.fields), reading.zone
        except DateProblem as problem:
            raise DateProblem(f"Text '{shown}' could not be parsed: {problem}") from None


@lru_cache(PATTERNS_CACHED)
def date_pattern(pattern: str) -> DatePattern:
    return DatePattern(pattern)


def date_text(epoch_day: int, pattern: str) -> str:
    return date_pattern(pattern).text(Moment(epoch_day))


def time_text(millis: int, pattern: str) -> str:
    return date_pattern(pattern).text(Moment(None, Field.MILLI_OF_DAY.checked(millis) * NANOS_PER_MILLI))


def timestamp_text(millis: int, pattern: str, zone_name: str) -> str:
    where = zone(zone_name)
    seconds, milli = divmod(millis, 1000)
    offset = where.offset_at(seconds)
    day, second = divmod(seconds + offset, SECONDS_PER_DAY)
    nanos = second * NANOS_PER_SECOND + milli * NANOS_PER_MILLI
    return date_pattern(pattern).text(Moment(day, nanos, offset, where.id, where.abbreviation_at(seconds)))


def date_of(text: str, pattern: str) -> int:
    resolved, _ = date_pattern(pattern).read(text)
    if resolved.epoch_day is None:
        raise DateProblem("Unable to obtain LocalDate: year, month and day are needed")
    return resolved.epoch_day


def time_of(text: str, pattern: str) -> int:
    resolved, _ = date_pattern(pattern).read(text)
    if resolved.has_date_field:
        raise DateProblem("Time format contains date field.")
    if resolved.nano_of_day is None:
        raise DateProblem("Unable to obtain LocalTime: hours are needed, and no unit may be missing between those told")
    return resolved.nano_of_day // NANOS_PER_MILLI


def timestamp_of(text: str, pattern: str, zone_name: str) -> int:
    """Milliseconds since the epoch. What the text does not tell is that of 1970-01-01T00:00; a zone in the text comes before the one
    given."""
    resolved, name = date_pattern(pattern).read(text)
    offset = resolved.rest.get(Field.OFFSET_SECONDS)
    if offset is not None:
        Field.OFFSET_SECONDS.checked(offset)
    day, nanos = completed(resolved)
    local_second = day * SECONDS_PER_DAY + nanos // NANOS_PER_SECOND
    if name is not None:
        where = zone(name)
    else:
        where = zone(zone_name) if offset is None else Zone(offset_id(offset), fixed_seconds=offset)
    if name is not None and offset is not None and None not in (resolved.epoch_day, resolved.nano_of_day):
        second = _second_of_both(local_second, offset, where)
    else:
        second = local_second - where.offset_of_local(local_second)
    return second * 1000 + nanos % NANOS_PER_SECOND // NANOS_PER_MILLI


def _second_of_both(local_second: int, offset: int, where: Zone) -> int:
    """Offset and zone are told: the offset says which instant it is, the clocks of the zone then show the time that is told."""
    zone_offset = where.offset_at(local_second - offset)
    day = (local_second - offset + zone_offset) // SECONDS_PER_DAY
    shown = day * SECONDS_PER_DAY + local_second % SECONDS_PER_DAY
    is_valid = where.offset_at(shown - zone_offset) == zone_offset
    return shown - (zone_offset if is_valid else where.offset_of_local(shown))
