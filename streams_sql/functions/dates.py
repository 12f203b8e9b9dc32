"""Dates, times and timestamps: reckoning, and texts of Java's patterns."""

from __future__ import annotations

import time
from typing import Final

from streams_sql.evaluation.integers import wrap_bigint, wrap_integer
from streams_sql.evaluation.time_texts import MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE, MS_PER_SECOND
from streams_sql.function_declaration import Group
from streams_sql.functions import simple_dates
from streams_sql.functions.java_time import dates as java_dates
from streams_sql.functions.java_time.fields import DateProblem
from streams_sql.functions.java_time.zones import zone
from streams_sql.functions.registration import scalar

DEFAULT_ZONE: Final = "UTC"
"""Where no zone is given. ksqlDB takes that of its machine, so that results would depend on where a query runs."""

_UNIT_MS: Final = {
    "DAY": MS_PER_DAY,
    "HOUR": MS_PER_HOUR,
    "MINUTE": MS_PER_MINUTE,
    "SECOND": MS_PER_SECOND,
    "MILLISECOND": 1,
}
_SPARK_MS: Final = (
    "cast({1} AS BIGINT) * CASE trim(TRAILING 'S' FROM {0}) "
    + " ".join(f"WHEN '{unit}' THEN {ms}L" for unit, ms in _UNIT_MS.items())
    + " END"
)
_SPARK_DAYS: Final = f"cast((cast({{2}} AS BIGINT) * {MS_PER_DAY}L %s {_SPARK_MS}) div {MS_PER_DAY}L AS INT)"
_SPARK_TIME: Final = f"cast(pmod({{2}} %s {_SPARK_MS}, {MS_PER_DAY}L) AS INT)"
_UNIT: Final = "unit: a unit of time such as DAY or HOURS"
_PATTERN: Final = "formatPattern: a pattern of Java's DateTimeFormatter, such as yyyy-MM-dd HH:mm:ss"
_ZONE: Final = "timeZone: such as UTC, Europe/London or +01:00"


def _ms(unit: str, interval: int) -> int:
    """Milliseconds of so many units. The grammar knows no other units than these, singular or plural."""
    return _UNIT_MS[unit.removesuffix("S")] * interval


def _whole_days(ms: int) -> int:
    """Days of milliseconds, a part of a day towards 0 left out, as Java's TimeUnit does."""
    return wrap_integer(-(-ms // MS_PER_DAY) if ms < 0 else ms // MS_PER_DAY)


# -- reckoning ------------------------------------------------------------------------------------


@scalar(
    "dateadd",
    "INTERVALUNIT, INTEGER, DATE -> DATE",
    group=Group.DATE,
    doc="Adds a duration to a date.",
    parameters=(_UNIT, "interval: how many units to add", "date"),
    spark=_SPARK_DAYS % "+",
)
def date_add(unit: str, interval: int, date: int) -> int:
    return _whole_days(date * MS_PER_DAY + _ms(unit, interval))


@scalar(
    "datesub",
    "INTERVALUNIT, INTEGER, DATE -> DATE",
    group=Group.DATE,
    doc="Subtracts a duration from a date.",
    parameters=(_UNIT, "interval: how many units to subtract", "date"),
    spark=_SPARK_DAYS % "-",
)
def date_subtract(unit: str, interval: int, date: int) -> int:
    return _whole_days(date * MS_PER_DAY - _ms(unit, interval))


@scalar(
    "timeadd",
    "INTERVALUNIT, INTEGER, TIME -> TIME",
    group=Group.DATE,
    doc="Adds a duration to a time of day; it goes on after midnight.",
    parameters=(_UNIT, "interval: how many units to add", "time"),
    spark=_SPARK_TIME % "+",
)
def time_add(unit: str, interval: int, time_of_day: int) -> int:
    return (time_of_day + _ms(unit, interval)) % MS_PER_DAY


@scalar(
    "timesub",
    "INTERVALUNIT, INTEGER, TIME -> TIME",
    group=Group.DATE,
    doc="Subtracts a duration from a time of day; it goes on before midnight.",
    parameters=(_UNIT, "interval: how many units to subtract", "time"),
    spark=_SPARK_TIME % "-",
)
def time_subtract(unit: str, interval: int, time_of_day: int) -> int:
    return (time_of_day - _ms(unit, interval)) % MS_PER_DAY


@scalar(
    "timestampadd",
    "INTERVALUNIT, INTEGER, TIMESTAMP -> TIMESTAMP",
    group=Group.DATE,
    doc="Adds a duration to a timestamp.",
    parameters=(_UNIT, "interval: how many units to add", "timestamp"),
    spark=f"{{2}} + {_SPARK_MS}",
)
def timestamp_add(unit: str, interval: int, timestamp: int) -> int:
    return wrap_bigint(timestamp + _ms(unit, interval))


@scalar(
    "timestampsub",
    "INTERVALUNIT, INTEGER, TIMESTAMP -> TIMESTAMP",
    group=Group.DATE,
    doc="Subtracts a duration from a timestamp.",
    parameters=(_UNIT, "interval: how many units to subtract", "timestamp"),
    spark=f"{{2}} - {_SPARK_MS}",
)
def timestamp_subtract(unit: str, interval: int, timestamp: int) -> int:
    return wrap_bigint(timestamp - _ms(unit, interval))


@scalar(
    "convert_tz",
    "TIMESTAMP, STRING, STRING -> TIMESTAMP",
    group=Group.DATE,
    doc="What the clocks of one zone show when those of another show the timestamp.",
    parameters=("timestamp", "fromTimeZone: such as UTC, Europe/London or +01:00", "toTimeZone"),
)
def convert_zone(timestamp: int, from_zone: str, to_zone: str) -> int:
    second = timestamp // MS_PER_SECOND
    try:
        difference = zone(to_zone).offset_at(second) - zone(from_zone).offset_at(second)
    except DateProblem as problem:
        raise DateProblem(f"Invalid time zone: {problem}") from None
    return timestamp + difference * MS_PER_SECOND


# -- numbers --------------------------------------------------------------------------------------


@scalar(
    "from_days",
    "INTEGER -> DATE",
    group=Group.DATE,
    doc="The date so many days after 1970-01-01.",
    parameters=("days",),
    spark="{0}",
)
def from_days(days: int) -> int:
    return days


@scalar(
    "from_unixtime",
    "BIGINT -> TIMESTAMP",
    group=Group.DATE,
    doc="The timestamp so many milliseconds after 1970-01-01 00:00:00 UTC.",
    parameters=("epochMilli",),
    spark="{0}",
)
def from_unix_time(epoch_ms: int) -> int:
    return epoch_ms


@scalar(
    "unix_date",
    "-> INTEGER",
    group=Group.DATE,
    doc="Days from 1970-01-01 until today (UTC).",
    is_deterministic=False,
)
def unix_date() -> int:
    return int(time.time() * MS_PER_SECOND) // MS_PER_DAY


@scalar(
    "unix_date",
    "DATE -> INTEGER",
    group=Group.DATE,
    doc="Days from 1970-01-01 until the date.",
    parameters=("date",),
    spark="{0}",
)
def unix_date_of(date: int) -> int:
    return date


@scalar(
    "unix_timestamp",
    "-> BIGINT",
    group=Group.DATE,
    doc="Milliseconds from 1970-01-01 00:00:00 UTC until now.",
    is_deterministic=False,
)
def unix_timestamp() -> int:
    return int(time.time() * MS_PER_SECOND)


@scalar(
    "unix_timestamp",
    "TIMESTAMP -> BIGINT",
    group=Group.DATE,
    doc="Milliseconds from 1970-01-01 00:00:00 UTC until the timestamp.",
    parameters=("timestamp",),
    spark="{0}",
)
def unix_timestamp_of(timestamp: int) -> int:
    return timestamp


# -- to texts -------------------------------------------------------------------------------------


@scalar(
    "format_date",
    "DATE, STRING -> STRING",
    group=Group.DATE,
    doc="A date as a text.",
    parameters=("date", _PATTERN),
)
def format_date(date: int, pattern: str) -> str:
    try:
        return java_dates.date_text(date, pattern)
    except DateProblem as problem:
        raise DateProblem(f"Failed to format date {date} with formatter '{pattern}': {problem}") from None


@scalar(
    "datetostring",
    "INTEGER, STRING -> STRING",
    group=Group.DATE,
    doc="The date so many days after 1970-01-01 as a text.",
    parameters=("epochDays", _PATTERN),
)
def date_to_string(epoch_days: int, pattern: str) -> str:
    return format_date(epoch_days, pattern)


@scalar(
    "format_time",
    "TIME, STRING -> STRING",
    group=Group.DATE,
    doc="A time of day as a text.",
    parameters=("time", _PATTERN),
)
def format_time(time_of_day: int, pattern: str) -> str:
    try:
        return java_dates.time_text(time_of_day, pattern)
    except DateProblem as problem:
        raise DateProblem(f"Failed to format time {time_of_day} with formatter '{pattern}': {problem}") from None


@scalar(
    "format_timestamp",
    "TIMESTAMP, STRING -> STRING",
    "TIMESTAMP, STRING, STRING -> STRING",
    group=Group.DATE,
    doc="A timestamp as a text, in GMT or in a zone.",
    parameters=("timestamp", _PATTERN, _ZONE),
)
def format_timestamp(timestamp: int, pattern: str, zone_name: str = "GMT") -> str:
    try:
        return java_dates.timestamp_text(timestamp, pattern, zone_name)
    except DateProblem as problem:
        raise DateProblem(
            f"Failed to format timestamp {timestamp} at timeZone '{zone_name}' with formatter '{pattern}': {problem}"
        ) from None


@scalar(
    "timestamptostring",
    "BIGINT, STRING -> STRING",
    "BIGINT, STRING, STRING -> STRING",
    group=Group.DATE,
    doc="Milliseconds since 1970-01-01 00:00:00 UTC as a text, in UTC or in a zone.",
    parameters=("epochMilli", _PATTERN, _ZONE),
)
def timestamp_to_string(epoch_ms: int, pattern: str, zone_name: str = DEFAULT_ZONE) -> str:
    return format_timestamp(epoch_ms, pattern, zone_name)


# -- from texts -----------------------------------------------------------------------------------


@scalar(
    "parse_date",
    "STRING, STRING -> DATE",
    group=Group.DATE,
    doc="The date of a text.",
    parameters=("formattedDate", "formatPattern: a pattern of Java's SimpleDateFormat, such as yyyy-MM-dd"),
)
def parse_date(text: str, pattern: str) -> int:
    try:
        return simple_dates.date_of(text, pattern)
    except DateProblem as problem:
        raise _unreadable("date", text, pattern, problem) from None


@scalar(
    "stringtodate",
    "STRING, STRING -> INTEGER",
    group=Group.DATE,
    doc="Days from 1970-01-01 until the date of a text.",
    parameters=("formattedDate", _PATTERN),
)
def string_to_date(text: str, pattern: str) -> int:
    try:
        return wrap_integer(java_dates.date_of(text, pattern))
    except DateProblem as problem:
        raise _unreadable("date", text, pattern, problem) from None


@scalar(
    "parse_time",
    "STRING, STRING -> TIME",
    group=Group.DATE,
    doc="The time of day of a text.",
    parameters=("formattedTime", _PATTERN),
)
def parse_time(text: str, pattern: str) -> int:
    try:
        return java_dates.time_of(text, pattern)
    except DateProblem as problem:
        raise _unreadable("time", text, pattern, problem) from None


@scalar(
    "parse_timestamp",
    "STRING, STRING -> TIMESTAMP",
    "STRING, STRING, STRING -> TIMESTAMP",
    group=Group.DATE,
    doc="The timestamp of a text, in GMT or in a zone where the text has none.",
    parameters=("formattedTimestamp", _PATTERN, _ZONE),
)
def parse_timestamp(text: str, pattern: str, zone_name: str = "GMT") -> int:
    try:
        return java_dates.timestamp_of(text, pattern, zone_name)
    except DateProblem as problem:
        raise _unreadable("timestamp", text, f"{pattern}' at timezone '{zone_name}", problem) from None


@scalar(
    "stringtotimestamp",
    "STRING, STRING -> BIGINT",
    "STRING, STRING, STRING -> BIGINT",
    group=Group.DATE,
    doc="Milliseconds from 1970-01-01 00:00:00 UTC until the timestamp of a text, in UTC or in a zone where the text has none.",
    parameters=("formattedTimestamp", _PATTERN, _ZONE),
)
def string_to_timestamp(text: str, pattern: str, zone_name: str = DEFAULT_ZONE) -> int:
    return parse_timestamp(text, pattern, zone_name)


def _unreadable(kind: str, text: str, pattern: str, problem: DateProblem) -> DateProblem:
    return DateProblem(f"Failed to parse {kind} '{text[:80]}' with formatter '{pattern}': {problem}")
