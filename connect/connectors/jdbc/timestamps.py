"""Columns with times: from the driver's values to moments and back, and into what records carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import Enum
from typing import Any, Final, Protocol

from connect.connectors.jdbc.loose_times import EPOCH, LooseShape, loose_datetime
from connect.data.schema import INT64, STRING, TIMESTAMP_SCHEMA, Schema

NANOSECONDS_PER_MICROSECOND: Final = 1000
_MICROSECOND: Final = timedelta(microseconds=1)


class Granularity(Enum):
    """The words of the setting `timestamp.granularity`."""

    CONNECT_LOGICAL = "connect_logical"
    MICROS_LONG = "micros_long"
    MICROS_STRING = "micros_string"
    MICROS_ISO = "micros_iso_datetime_string"
    NANOS_LONG = "nanos_long"
    NANOS_STRING = "nanos_string"
    NANOS_ISO = "nanos_iso_datetime_string"


def micros(moment: datetime) -> int:
    return (moment - EPOCH) // _MICROSECOND


def nanos(moment: datetime) -> int:
    return micros(moment) * NANOSECONDS_PER_MICROSECOND


def _iso(moment: datetime, zone: tzinfo) -> str:
    return moment.astimezone(zone).replace(tzinfo=None).isoformat(timespec="microseconds")


_FORMS: Final[Mapping[Granularity, tuple[Schema, Callable[[datetime, tzinfo], Any]]]] = {
    Granularity.MICROS_LONG: (INT64, lambda moment, _: micros(moment)),
    Granularity.MICROS_STRING: (STRING, lambda moment, _: str(micros(moment))),
    Granularity.MICROS_ISO: (STRING, _iso),
    Granularity.NANOS_LONG: (INT64, lambda moment, _: nanos(moment)),
    Granularity.NANOS_STRING: (STRING, lambda moment, _: str(nanos(moment))),
    Granularity.NANOS_ISO: (STRING, lambda moment, zone: f"{_iso(moment, zone)}000"),
}


class TimestampColumn(Protocol):
    def moment(self, value: Any) -> datetime:
        """The moment, in UTC, of a value as the driver gives it."""
        ...

    def bounds(self, moment: datetime) -> tuple[Any, Any]:
        """What a query compares with to find this moment and all after it, and all after it alone."""
        ...


@dataclass(frozen=True, slots=True)
class TypedTimestamps:
    """Values are datetimes; those without a time zone are in `zone`. Such a column wants to be compared with its like."""

    zone: tzinfo
    is_aware: bool

    def moment(self, value: Any) -> datetime:
        found = value if isinstance(value, datetime) else _midnight(value)
        if found.tzinfo is None:
            found = found.replace(tzinfo=self.zone)
        return found if found.tzinfo is UTC else found.astimezone(UTC)

    def bounds(self, moment: datetime) -> tuple[Any, Any]:
        bound = moment if self.is_aware else moment.astimezone(self.zone).replace(tzinfo=None)
        return bound, bound


@dataclass(frozen=True, slots=True)
class LooseTimestamps:
    """Values are text or numbers, of the shape of a sample."""

    zone: tzinfo
    shape: LooseShape

    def moment(self, value: Any) -> datetime:
        return loose_datetime(value, self.zone)

    def bounds(self, moment: datetime) -> tuple[Any, Any]:
        return self.shape.bounds(moment, self.zone)


def _midnight(value: Any) -> datetime:
    if not isinstance(value, date):
        raise TypeError(f"{value!r} is no time: the column must hold timestamps")
    return datetime.combine(value, time.min)


def timestamp_form(
    column: TimestampColumn, granularity: Granularity, zone: tzinfo
) -> tuple[Schema, Callable[[Any], Any]]:
    """The schema of a time in records, and what makes its value from that of the driver."""
    if granularity is Granularity.CONNECT_LOGICAL:
        return TIMESTAMP_SCHEMA, column.moment
    schema, form = _FORMS[granularity]
    moment = column.moment
    return schema, lambda value: form(moment(value), zone)
