"""What becomes of the columns of a table in records: a schema for each, and a conversion where the driver's value is not Connect's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, time, timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from functools import partial
from typing import Any, Final, NamedTuple

import orjson
from sqlalchemy import types
from sqlalchemy.dialects import mysql, postgresql
from sqlalchemy.types import TypeEngine

from connect.connectors.jdbc.capabilities import Capabilities
from connect.connectors.jdbc.loose_times import LooseShape, loose_date, loose_time
from connect.connectors.jdbc.tables import Column
from connect.connectors.jdbc.timestamps import (
    Granularity,
    LooseTimestamps,
    TimestampColumn,
    TypedTimestamps,
    timestamp_form,
)
from connect.data.schema import (
    BOOLEAN,
    BYTES,
    DATE_SCHEMA,
    DECIMAL,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    SCALE,
    STRING,
    TIME_SCHEMA,
    Schema,
    Type,
    array_of,
)

PRECISION: Final = "connect.decimal.precision"
INTEGER_DIGITS_MAX: Final = 18
"""The digits of a number that always fits in 64 bits."""
NANOSECOND_DIGITS: Final = 9

Conversion = Callable[[Any], Any]


class NumericMapping(Enum):
    """The words of the setting `numeric.mapping`."""

    NONE = "none"
    PRECISION_ONLY = "precision_only"
    BEST_FIT = "best_fit"
    BEST_FIT_EAGER_DOUBLE = "best_fit_eager_double"


class Reading(NamedTuple):
    """No conversion: the driver's value is Connect's."""

    schema: Schema
    conversion: Conversion | None = None


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """What settings and the database say about the conversion of all columns."""

    capabilities: Capabilities
    zone: tzinfo = UTC
    numeric_mapping: NumericMapping = NumericMapping.NONE
    granularity: Granularity = Granularity.CONNECT_LOGICAL

    def of(self, column: Column, sample: Sequence[Any] = ()) -> Reading:
        """The reading of a column. A column without a type is read by what a sample of its values is."""
        found = self._of_type(column.type, sample)
        return found._replace(schema=found.schema.as_optional()) if column.nullable else found

    def timestamps(self, kind: TypeEngine[Any], sample: Any = None) -> TimestampColumn:
        """How to read and compare the times of a column; `sample` is one of its values, if it has any."""
        if self.capabilities.has_loose_types:
            return LooseTimestamps(self.zone, LooseShape.of(sample))
        if isinstance(kind, types.TIMESTAMP) and isinstance(kind, mysql.TIMESTAMP):
            # The server converts from UTC to the zone of the session, which is UTC too.
            return TypedTimestamps(UTC, is_aware=False)
        return TypedTimestamps(self.zone, is_aware=bool(getattr(kind, "timezone", False)))

    def _of_type(self, kind: TypeEngine[Any], sample: Sequence[Any]) -> Reading:
        if isinstance(kind, types.NullType) and self.capabilities.has_loose_types:
            return _inferred(sample)
        for classes, reading in _READINGS:
            if isinstance(kind, classes):
                return reading(kind, self)
        return Reading(STRING, _text)


def _text(value: Any) -> str:
    """The text of what Connect has no type for; of compound values, their JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, (dict, list, tuple)):
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    return str(value)


def _whole(signed: Schema, unsigned: Schema, kind: Any, rules: ReadingRules) -> Reading:
    if rules.capabilities.has_loose_types:
        return Reading(INT64)
    return Reading(unsigned if getattr(kind, "unsigned", False) else signed)


def _boolean(kind: Any, rules: ReadingRules) -> Reading:
    return Reading(BOOLEAN, bool if rules.capabilities.has_loose_types else None)


def _single(kind: Any, rules: ReadingRules) -> Reading:
    # A database with loose types stores all floating-point numbers in 64 bits.
    return Reading(FLOAT64, float) if rules.capabilities.has_loose_types else Reading(FLOAT32)


def _double(kind: Any, rules: ReadingRules) -> Reading:
    return Reading(FLOAT64, float if rules.capabilities.has_loose_types else None)


def _numeric(kind: Any, rules: ReadingRules) -> Reading:
    """A number without a scale may have any number of digits: text keeps them all."""
    precision, scale, mapping = kind.precision, kind.scale, rules.numeric_mapping
    if precision is None or scale is None:
        is_double = mapping is NumericMapping.BEST_FIT_EAGER_DOUBLE
        return Reading(FLOAT64, float) if is_double else Reading(STRING, _plain_number)
    if scale <= 0 and precision <= INTEGER_DIGITS_MAX and mapping is not NumericMapping.NONE:
        return Reading(_integer_of(precision), int)
    is_small = mapping is NumericMapping.BEST_FIT and precision <= INTEGER_DIGITS_MAX
    if scale > 0 and (is_small or mapping is NumericMapping.BEST_FIT_EAGER_DOUBLE):
        return Reading(FLOAT64, float)
    schema = Schema(
        Type.BYTES, name=DECIMAL, version=1, parameters=((SCALE, str(max(scale, 0))), (PRECISION, str(precision)))
    )
    if rules.capabilities.has_loose_types:
        return Reading(schema, partial(_rounded, Decimal(1).scaleb(-scale)))
    return Reading(schema, Decimal if scale == 0 else None)


def _plain_number(value: Any) -> str:
    return format(value if isinstance(value, Decimal) else Decimal(str(value)), "f")


def _rounded(unit: Decimal, value: Any) -> Decimal:
    return Decimal(str(value)).quantize(unit)


def _integer_of(digits: int) -> Schema:
    return next((schema for most, schema in ((2, INT8), (4, INT16), (9, INT32)) if digits <= most), INT64)


def _date(kind: Any, rules: ReadingRules) -> Reading:
    return Reading(DATE_SCHEMA, partial(_loose_date, rules.zone) if rules.capabilities.has_loose_types else None)


def _loose_date(zone: tzinfo, value: Any) -> Any:
    return loose_date(value, zone)


def _time(kind: Any, rules: ReadingRules) -> Reading:
    if getattr(kind, "timezone", False):
        return Reading(STRING, _text)
    if rules.capabilities.has_loose_types:
        return Reading(TIME_SCHEMA, loose_time)
    return Reading(TIME_SCHEMA, _time_of_day if isinstance(kind, mysql.TIME) else None)


def _time_of_day(value: Any) -> time:
    """MySQL's TIME is a span of up to 838 hours, of which one day is a time of day."""
    if not isinstance(value, timedelta) or not timedelta(0) <= value < timedelta(days=1):
        raise ValueError(f"{value} is no time of day")
    minutes, seconds = divmod(value.seconds, 60)
    return time(*divmod(minutes, 60), seconds, value.microseconds)


def _date_time(kind: Any, rules: ReadingRules) -> Reading:
    column = rules.timestamps(kind)
    return Reading(*timestamp_form(column, rules.granularity, rules.zone))


def _bytes(kind: Any, rules: ReadingRules) -> Reading:
    return Reading(BYTES, _loose_bytes if rules.capabilities.has_loose_types else None)


def _loose_bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _mysql_bits(kind: Any, rules: ReadingRules) -> Reading:
    return Reading(INT8, partial(int.from_bytes, byteorder="big")) if (kind.length or 1) == 1 else Reading(BYTES)


def _postgresql_bits(kind: Any, rules: ReadingRules) -> Reading:
    return Reading(BOOLEAN, "1".__eq__) if kind.length == 1 and not kind.varying else Reading(STRING)


def _array(kind: Any, rules: ReadingRules) -> Reading:
    element = rules.of(Column("", kind.item_type))
    if element.conversion is None:
        return Reading(array_of(element.schema))
    convert = element.conversion
    return Reading(array_of(element.schema), lambda items: [None if it is None else convert(it) for it in items])


def _inferred(sample: Sequence[Any]) -> Reading:
    """By the classes of the values: all of one, or numbers of both kinds, or text of whatever they are."""
    classes = {type(value) for value in sample if value is not None}
    if classes == {int}:
        return Reading(INT64, int)
    if classes and classes <= {int, float}:
        return Reading(FLOAT64, float)
    if classes == {bytes}:
        return Reading(BYTES, _loose_bytes)
    return Reading(STRING, _text)


def _always(reading: Reading) -> Callable[[Any, ReadingRules], Reading]:
    return lambda kind, rules: reading


# The first class that fits decides, so the narrower ones stand first.
_READINGS: Final[Sequence[tuple[type[Any] | tuple[type[Any], ...], Callable[[Any, ReadingRules], Reading]]]] = (
    (types.Boolean, _boolean),
    (mysql.TINYINT, partial(_whole, INT8, INT16)),
    (types.SmallInteger, partial(_whole, INT16, INT32)),
    (types.BigInteger, partial(_whole, INT64, INT64)),
    (types.Integer, partial(_whole, INT32, INT64)),
    (mysql.YEAR, _always(Reading(INT32))),
    (mysql.BIT, _mysql_bits),
    (postgresql.BIT, _postgresql_bits),
    ((types.REAL, mysql.FLOAT), _single),
    (types.Float, _double),
    (types.Numeric, _numeric),
    (types.Date, _date),
    (types.Time, _time),
    (types.DateTime, _date_time),
    ((types.LargeBinary, types.BINARY, types.VARBINARY), _bytes),
    (types.ARRAY, _array),
    (types.JSON, _always(Reading(STRING))),
    (types.String, _always(Reading(STRING))),
)
