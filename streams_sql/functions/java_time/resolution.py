"""From the fields that were found in a text to a date and a time of day, by the rules of Java's smart resolver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from streams_sql.evaluation.time_texts import days_from_civil
from streams_sql.functions.java_time.fields import (
    MODIFIED_JULIAN_EPOCH_DAY,
    NANOS_PER_DAY,
    NANOS_PER_MILLI,
    NANOS_PER_SECOND,
    CivilDate,
    DateProblem,
    Field,
    Moment,
    civil,
    day_of_week,
    is_leap,
    localized_day_of_week,
    month_length,
    week_start_of_year,
)

# The morning or the afternoon alone is the middle of it.
_MIDDLE_HOUR_OF_HALF_DAY: Final = 6
_NANOS_PER_HOUR: Final = 3600 * NANOS_PER_SECOND
_NANOS_PER_MINUTE: Final = 60 * NANOS_PER_SECOND


@dataclass(slots=True)
class Resolved:
    """`rest` are fields that make no whole date or time."""

    rest: dict[Field, int] = field(default_factory=dict)
    epoch_day: int | None = None
    nano_of_day: int | None = None

    @property
    def has_date_field(self) -> bool:
        return self.epoch_day is not None or any(name in _DATE_CHANGES for name in self.rest)


def resolve(fields: dict[Field, int]) -> Resolved:
    resolved = Resolved(dict(fields))
    _resolve_date(resolved)
    _resolve_weeks(resolved)
    _resolve_time(resolved.rest)
    excess_days = _whole_time(resolved)
    for name, value in resolved.rest.items():
        if name.is_time:
            name.checked(value)
    _check_against(resolved)
    if resolved.epoch_day is not None:
        resolved.epoch_day += excess_days
    return resolved


def _put(fields: dict[Field, int], name: Field, value: int) -> None:
    known = fields.setdefault(name, value)
    if known != value:
        raise DateProblem(f"Conflict found: {name} {known} differs from {name} {value}")


def _put_date(resolved: Resolved, epoch_day: int) -> None:
    if resolved.epoch_day not in (None, epoch_day):
        raise DateProblem("Conflict found: Fields resolved to two different dates")
    resolved.epoch_day = epoch_day


# -- dates ----------------------------------------------------------------------------------------


def _resolve_date(resolved: Resolved) -> None:
    fields = resolved.rest
    _resolve_year_of_era(fields)
    if Field.YEAR not in fields:
        return
    if Field.MONTH_OF_YEAR in fields and Field.DAY_OF_MONTH in fields:
        year, month, day = (
            name.checked(fields.pop(name)) for name in (Field.YEAR, Field.MONTH_OF_YEAR, Field.DAY_OF_MONTH)
        )
        _put_date(resolved, days_from_civil(year, month, min(day, month_length(year, month))))
    elif Field.DAY_OF_YEAR in fields:
        year, day = Field.YEAR.checked(fields.pop(Field.YEAR)), Field.DAY_OF_YEAR.checked(fields.pop(Field.DAY_OF_YEAR))
        _put_date(resolved, _day_of_year(year, day))


def _day_of_year(year: int, day: int) -> int:
    if day == 366 and not is_leap(year):
        raise DateProblem(f"Invalid date 'DayOfYear 366' as '{year}' is not a leap year")
    return days_from_civil(year, 1, 1) + day - 1


def _resolve_year_of_era(fields: dict[Field, int]) -> None:
    if Field.YEAR_OF_ERA not in fields:
        if Field.ERA in fields:
            Field.ERA.checked(fields[Field.ERA])
        return
    of_era = Field.YEAR_OF_ERA.checked(fields.pop(Field.YEAR_OF_ERA))
    is_common = fields.pop(Field.ERA) == 1 if Field.ERA in fields else fields.get(Field.YEAR, 1) > 0
    _put(fields, Field.YEAR, of_era if is_common else 1 - of_era)


def _resolve_weeks(resolved: Resolved) -> None:
    fields = resolved.rest
    if Field.MODIFIED_JULIAN_DAY in fields:
        _put_date(resolved, fields.pop(Field.MODIFIED_JULIAN_DAY) - MODIFIED_JULIAN_EPOCH_DAY)
    if Field.LOCALIZED_DAY_OF_WEEK in fields:
        localized = Field.LOCALIZED_DAY_OF_WEEK.checked(fields.pop(Field.LOCALIZED_DAY_OF_WEEK))
        fields[Field.DAY_OF_WEEK] = (localized + 5) % 7 + 1
    if Field.DAY_OF_WEEK not in fields:
        return
    localized = Field.DAY_OF_WEEK.checked(fields[Field.DAY_OF_WEEK]) % 7 + 1
    if {Field.YEAR, Field.MONTH_OF_YEAR, Field.WEEK_OF_MONTH} <= fields.keys():
        year, month, week = (
            name.checked(fields.pop(name)) for name in (Field.YEAR, Field.MONTH_OF_YEAR, Field.WEEK_OF_MONTH)
        )
        del fields[Field.DAY_OF_WEEK]
        first = days_from_civil(year, month, 1)
        _put_date(resolved, first + (week - 1) * 7 + localized - localized_day_of_week(first))
    elif Field.YEAR not in fields and {Field.WEEK_BASED_YEAR, Field.WEEK_OF_WEEK_BASED_YEAR} <= fields.keys():
        year, week = (name.checked(fields.pop(name)) for name in (Field.WEEK_BASED_YEAR, Field.WEEK_OF_WEEK_BASED_YEAR))
        del fields[Field.DAY_OF_WEEK]
        start = week_start_of_year(year)
        week = min(week, (week_start_of_year(year + 1) - start) // 7)
        _put_date(resolved, start + (week - 1) * 7 + localized - 1)


# -- times ----------------------------------------------------------------------------------------


def _resolve_time(fields: dict[Field, int]) -> None:
    """Hours, minutes, seconds and nanoseconds instead of what can be told by them."""
    for clock, hour, noon in (
        (Field.CLOCK_HOUR_OF_DAY, Field.HOUR_OF_DAY, 24),
        (Field.CLOCK_HOUR_OF_AMPM, Field.HOUR_OF_AMPM, 12),
    ):
        if clock in fields:
            value = fields.pop(clock)
            _put(fields, hour, 0 if value == 0 else clock.checked(value) % noon)
    if Field.AMPM_OF_DAY in fields and Field.HOUR_OF_AMPM in fields:
        half = Field.AMPM_OF_DAY.checked(fields.pop(Field.AMPM_OF_DAY))
        hour_of_half = Field.HOUR_OF_AMPM.checked(fields.pop(Field.HOUR_OF_AMPM))
        _put(fields, Field.HOUR_OF_DAY, half * 12 + hour_of_half)
    if Field.NANO_OF_DAY in fields:
        nanos = Field.NANO_OF_DAY.checked(fields.pop(Field.NANO_OF_DAY))
        _put_time(fields, nanos)
        _put(fields, Field.NANO_OF_SECOND, nanos % NANOS_PER_SECOND)
    if Field.MILLI_OF_DAY in fields:
        nanos = Field.MILLI_OF_DAY.checked(fields.pop(Field.MILLI_OF_DAY)) * NANOS_PER_MILLI
        below_milli = fields.get(Field.NANO_OF_SECOND, 0) % NANOS_PER_MILLI
        _put_time(fields, nanos)
        _put(fields, Field.NANO_OF_SECOND, nanos % NANOS_PER_SECOND + below_milli)
    if Field.NANO_OF_SECOND in fields:
        Field.NANO_OF_SECOND.checked(fields[Field.NANO_OF_SECOND])


def _put_time(fields: dict[Field, int], nanos: int) -> None:
    _put(fields, Field.HOUR_OF_DAY, nanos // _NANOS_PER_HOUR)
    _put(fields, Field.MINUTE_OF_HOUR, nanos // _NANOS_PER_MINUTE % 60)
    _put(fields, Field.SECOND_OF_MINUTE, nanos // NANOS_PER_SECOND % 60)


def _whole_time(resolved: Resolved) -> int:
    """The time of day, where only smaller units than the ones told are missing. 24:00 is the midnight of the next day: returns how many
    days there are to add."""
    fields = resolved.rest
    units = (Field.HOUR_OF_DAY, Field.MINUTE_OF_HOUR, Field.SECOND_OF_MINUTE, Field.NANO_OF_SECOND)
    told = [name in fields for name in units]
    if Field.AMPM_OF_DAY in fields and not any(told):
        half = Field.AMPM_OF_DAY.checked(fields.pop(Field.AMPM_OF_DAY))
        resolved.nano_of_day = (half * 12 + _MIDDLE_HOUR_OF_HALF_DAY) * _NANOS_PER_HOUR
        return 0
    # A fraction without seconds, or seconds without minutes, make no time.
    if not told[0] or (not told[1] and (told[2] or told[3])) or (not told[2] and told[3]):
        return 0
    hour, minute, second, nano = (fields.pop(name, 0) for name in units)
    if (hour, minute, second, nano) == (24, 0, 0, 0):
        resolved.nano_of_day = 0
        return 1
    Field.HOUR_OF_DAY.checked(hour)
    Field.MINUTE_OF_HOUR.checked(minute)
    Field.SECOND_OF_MINUTE.checked(second)
    resolved.nano_of_day = hour * _NANOS_PER_HOUR + minute * _NANOS_PER_MINUTE + second * NANOS_PER_SECOND + nano
    return 0


def _check_against(resolved: Resolved) -> None:
    """What else was told must be true of the date and the time."""
    moment = Moment(resolved.epoch_day, resolved.nano_of_day)
    for name, value in list(resolved.rest.items()):
        if name is not Field.OFFSET_SECONDS and moment.supports(name):
            if moment.value(name) != value:
                raise DateProblem(f"Conflict found: Field {name} {moment.value(name)} differs from {name} {value}")
            del resolved.rest[name]


# -- what is left, put into 1970-01-01T00:00 ------------------------------------------------------


def completed(resolved: Resolved) -> tuple[int, int]:
    """Day and nanosecond of the day: what was told, and what 1970-01-01T00:00 has for the rest."""
    day = resolved.epoch_day or 0
    nanos = resolved.nano_of_day or 0
    for name, change in _DATE_CHANGES.items():
        if name in resolved.rest:
            day = change(day, name.checked(resolved.rest[name]))
    for name, size, count in _TIME_PARTS:
        if name in resolved.rest:
            now = nanos // size % count
            nanos += (resolved.rest[name] - now) * size
    extra_days, nanos = divmod(nanos, NANOS_PER_DAY)
    return day + extra_days, nanos


def _with_era(day: int, era: int) -> int:
    now = civil(day)
    return day if (now.year > 0) == bool(era) else _with_year(day, 1 - now.year)


def _with_year(day: int, year: int) -> int:
    now = civil(day)
    return days_from_civil(year, now.month, min(now.day, month_length(year, now.month)))


def _with_month(day: int, month: int) -> int:
    now = civil(day)
    return days_from_civil(now.year, month, min(now.day, month_length(now.year, month)))


def _with_day_of_month(day: int, day_of_month: int) -> int:
    now: CivilDate = civil(day)
    if day_of_month > month_length(now.year, now.month):
        raise DateProblem(f"Invalid date: month {now.month} of {now.year} has no day {day_of_month}")
    return day - now.day + day_of_month


def _with_day_of_year(day: int, day_of_year: int) -> int:
    if day_of_year == 366:
        raise DateProblem("Leap day cannot be parsed without supplying the year field")
    return _day_of_year(civil(day).year, day_of_year)


# From the greatest unit to the smallest: each keeps what those before it have set.
_DATE_CHANGES: Final[dict[Field, Callable[[int, int], int]]] = {
    Field.ERA: _with_era,
    Field.YEAR: _with_year,
    Field.MONTH_OF_YEAR: _with_month,
    Field.DAY_OF_WEEK: lambda day, value: day + value - day_of_week(day),
    Field.ALIGNED_DAY_OF_WEEK_IN_MONTH: lambda day, value: day + value - ((civil(day).day - 1) % 7 + 1),
    Field.DAY_OF_MONTH: _with_day_of_month,
    Field.DAY_OF_YEAR: _with_day_of_year,
}
_TIME_PARTS: Final = (
    (Field.AMPM_OF_DAY, 12 * _NANOS_PER_HOUR, 2),
    (Field.HOUR_OF_AMPM, _NANOS_PER_HOUR, 12),
    (Field.HOUR_OF_DAY, _NANOS_PER_HOUR, 24),
    (Field.MINUTE_OF_HOUR, _NANOS_PER_MINUTE, 60),
    (Field.SECOND_OF_MINUTE, NANOS_PER_SECOND, 60),
    (Field.NANO_OF_SECOND, 1, NANOS_PER_SECOND),
)
