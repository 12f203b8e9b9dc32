"""The fields of dates and times that Java's patterns name, and their values at a moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from streams_sql.evaluation.time_texts import civil_from_days, days_from_civil

NANOS_PER_MILLI: Final = 1_000_000
NANOS_PER_SECOND: Final = 1_000_000_000
SECONDS_PER_DAY: Final = 86_400
MILLIS_PER_DAY: Final = SECONDS_PER_DAY * 1000
NANOS_PER_DAY: Final = SECONDS_PER_DAY * NANOS_PER_SECOND

YEAR_MAX: Final = 999_999_999

MODIFIED_JULIAN_EPOCH_DAY: Final = 40_587


class DateProblem(ValueError):
    """A pattern, a text or a value that Java would not take."""


class _Kind(Enum):
    DATE = "date"
    TIME = "time"
    OFFSET = "offset"


class Field(Enum):
    """With Java's name and the smallest and the greatest value."""

    ERA = (_Kind.DATE, "Era", 0, 1)
    YEAR_OF_ERA = (_Kind.DATE, "YearOfEra", 1, YEAR_MAX + 1)
    YEAR = (_Kind.DATE, "Year", -YEAR_MAX, YEAR_MAX)
    QUARTER_OF_YEAR = (_Kind.DATE, "QuarterOfYear", 1, 4)
    MONTH_OF_YEAR = (_Kind.DATE, "MonthOfYear", 1, 12)
    WEEK_BASED_YEAR = (_Kind.DATE, "WeekBasedYear", -YEAR_MAX, YEAR_MAX)
    WEEK_OF_WEEK_BASED_YEAR = (_Kind.DATE, "WeekOfWeekBasedYear", 1, 54)
    WEEK_OF_MONTH = (_Kind.DATE, "WeekOfMonth", 0, 6)
    ALIGNED_DAY_OF_WEEK_IN_MONTH = (_Kind.DATE, "AlignedDayOfWeekInMonth", 1, 7)
    LOCALIZED_DAY_OF_WEEK = (_Kind.DATE, "LocalizedDayOfWeek", 1, 7)
    DAY_OF_WEEK = (_Kind.DATE, "DayOfWeek", 1, 7)
    DAY_OF_MONTH = (_Kind.DATE, "DayOfMonth", 1, 31)
    DAY_OF_YEAR = (_Kind.DATE, "DayOfYear", 1, 366)
    MODIFIED_JULIAN_DAY = (
        _Kind.DATE,
        "ModifiedJulianDay",
        -365_243_219_162 + MODIFIED_JULIAN_EPOCH_DAY,
        365_241_780_471,
    )
    AMPM_OF_DAY = (_Kind.TIME, "AmPmOfDay", 0, 1)
    HOUR_OF_DAY = (_Kind.TIME, "HourOfDay", 0, 23)
    CLOCK_HOUR_OF_DAY = (_Kind.TIME, "ClockHourOfDay", 1, 24)
    HOUR_OF_AMPM = (_Kind.TIME, "HourOfAmPm", 0, 11)
    CLOCK_HOUR_OF_AMPM = (_Kind.TIME, "ClockHourOfAmPm", 1, 12)
    MINUTE_OF_HOUR = (_Kind.TIME, "MinuteOfHour", 0, 59)
    SECOND_OF_MINUTE = (_Kind.TIME, "SecondOfMinute", 0, 59)
    MILLI_OF_DAY = (_Kind.TIME, "MilliOfDay", 0, MILLIS_PER_DAY - 1)
    NANO_OF_SECOND = (_Kind.TIME, "NanoOfSecond", 0, NANOS_PER_SECOND - 1)
    NANO_OF_DAY = (_Kind.TIME, "NanoOfDay", 0, NANOS_PER_DAY - 1)
    OFFSET_SECONDS = (_Kind.OFFSET, "OffsetSeconds", -18 * 3600, 18 * 3600)

    # Members are compared by identity; Enum's own hash of the name is slow.
    __hash__ = object.__hash__

    def __init__(self, kind: _Kind, text: str, low: int, high: int) -> None:
        self.is_time = kind is _Kind.TIME
        self._text = text
        self._low = low
        self._high = high

    def __str__(self) -> str:
        return self._text

    def checked(self, value: int) -> int:
        if not self._low <= value <= self._high:
            raise DateProblem(f"Invalid value for {self} (valid values {self._low} - {self._high}): {value}")
        return value


@dataclass(frozen=True, slots=True)
class CivilDate:
    year: int
    month: int
    day: int


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def month_length(year: int, month: int) -> int:
    if month == 2:
        return 29 if is_leap(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def civil(epoch_day: int) -> CivilDate:
    return CivilDate(*civil_from_days(epoch_day))


def day_of_week(epoch_day: int) -> int:
    """Monday is 1."""
    return (epoch_day + 3) % 7 + 1


def localized_day_of_week(epoch_day: int) -> int:
    """Weeks begin with Sunday, which is 1."""
    return (epoch_day + 4) % 7 + 1


def week_start_of_year(year: int) -> int:
    """The first day of the week that holds January 1st, which is the first of its week-based year."""
    first = days_from_civil(year, 1, 1)
    return first - localized_day_of_week(first) + 1


class Moment:
    """What is to be formatted: a date, a time of day, or both with the offset of a zone."""

    __slots__ = ("_civil", "_epoch_day", "_nano_of_day", "offset_seconds", "zone_id", "zone_text")

    def __init__(
        self,
        epoch_day: int | None = None,
        nano_of_day: int | None = None,
        offset_seconds: int | None = None,
        zone_id: str | None = None,
        zone_text: str | None = None,
    ) -> None:
        self._epoch_day = epoch_day
        self._nano_of_day = nano_of_day
        self.offset_seconds = offset_seconds
        self.zone_id = zone_id
        self.zone_text = zone_text
        self._civil: CivilDate | None = None

    def supports(self, field: Field) -> bool:
        if field.is_time:
            return self._nano_of_day is not None
        return (self.offset_seconds if field is Field.OFFSET_SECONDS else self._epoch_day) is not None

    def value(self, field: Field) -> int:
        if not self.supports(field):
            raise DateProblem(f"Unsupported field: {field}")
        return _VALUES[field](self)

    @property
    def epoch_day(self) -> int:
        assert self._epoch_day is not None
        return self._epoch_day

    @property
    def nano_of_day(self) -> int:
        assert self._nano_of_day is not None
        return self._nano_of_day

    @property
    def date(self) -> CivilDate:
        if self._civil is None:
            self._civil = civil(self.epoch_day)
        return self._civil

    @property
    def hour(self) -> int:
        return self.nano_of_day // (3600 * NANOS_PER_SECOND)


def _year_of_era(moment: Moment) -> int:
    year = moment.date.year
    return year if year > 0 else 1 - year


def _week_based_year(moment: Moment) -> int:
    year = moment.date.year
    return year + 1 if moment.epoch_day >= week_start_of_year(year + 1) else year


def _week_of_week_based_year(moment: Moment) -> int:
    return (moment.epoch_day - week_start_of_year(_week_based_year(moment))) // 7 + 1


def _week_of_month(moment: Moment) -> int:
    first = moment.epoch_day - moment.date.day + 1
    return (moment.epoch_day - (first - localized_day_of_week(first) + 1)) // 7 + 1


_VALUES: Final[dict[Field, Callable[[Moment], int]]] = {
    Field.ERA: lambda moment: int(moment.date.year > 0),
    Field.YEAR_OF_ERA: _year_of_era,
    Field.YEAR: lambda moment: moment.date.year,
    Field.QUARTER_OF_YEAR: lambda moment: (moment.date.month + 2) // 3,
    Field.MONTH_OF_YEAR: lambda moment: moment.date.month,
    Field.WEEK_BASED_YEAR: _week_based_year,
    Field.WEEK_OF_WEEK_BASED_YEAR: _week_of_week_based_year,
    Field.WEEK_OF_MONTH: _week_of_month,
    Field.ALIGNED_DAY_OF_WEEK_IN_MONTH: lambda moment: (moment.date.day - 1) % 7 + 1,
    Field.LOCALIZED_DAY_OF_WEEK: lambda moment: localized_day_of_week(moment.epoch_day),
    Field.DAY_OF_WEEK: lambda moment: day_of_week(moment.epoch_day),
    Field.DAY_OF_MONTH: lambda moment: moment.date.day,
    Field.DAY_OF_YEAR: lambda moment: moment.epoch_day - days_from_civil(moment.date.year, 1, 1) + 1,
    Field.MODIFIED_JULIAN_DAY: lambda moment: moment.epoch_day + MODIFIED_JULIAN_EPOCH_DAY,
    Field.AMPM_OF_DAY: lambda moment: moment.hour // 12,
    Field.HOUR_OF_DAY: lambda moment: moment.hour,
    Field.CLOCK_HOUR_OF_DAY: lambda moment: moment.hour or 24,
    Field.HOUR_OF_AMPM: lambda moment: moment.hour % 12,
    Field.CLOCK_HOUR_OF_AMPM: lambda moment: moment.hour % 12 or 12,
    Field.MINUTE_OF_HOUR: lambda moment: moment.nano_of_day // (60 * NANOS_PER_SECOND) % 60,
    Field.SECOND_OF_MINUTE: lambda moment: moment.nano_of_day // NANOS_PER_SECOND % 60,
    Field.MILLI_OF_DAY: lambda moment: moment.nano_of_day // NANOS_PER_MILLI,
    Field.NANO_OF_SECOND: lambda moment: moment.nano_of_day % NANOS_PER_SECOND,
    Field.NANO_OF_DAY: lambda moment: moment.nano_of_day,
    Field.OFFSET_SECONDS: lambda moment: moment.offset_seconds or 0,
}
