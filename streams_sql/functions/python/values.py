"""Values of columns as users' Python has them, and back.

Points in time are datetime's: TIMESTAMP is an aware datetime in UTC, DATE a date, TIME a time. All else is as in columns. What comes back
must be of the type that was declared; a number may come as another kind of number where nothing is lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final, TypeAlias

from streams_sql import sql_types
from streams_sql.evaluation import decimals
from streams_sql.sql_types import Array, Base, Map, SqlType, Struct

Convert: TypeAlias = Callable[[Any], Any]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY: Final = date(1970, 1, 1)
_MIDNIGHT: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - a time of day has no zone
_MS: Final = timedelta(milliseconds=1)
_INTEGERS: Final = {Base.INTEGER: 2**31, Base.BIGINT: 2**63}


# -- to users' functions --------------------------------------------------------------------------


def to_python(type_: SqlType) -> Convert | None:
    """What makes the value that a function is given; None where that is the one of the column. NULL is None for both."""
    match type_:
        case Base.TIMESTAMP:
            return lambda value: _EPOCH + timedelta(milliseconds=value)
        case Base.DATE:
            return lambda value: _FIRST_DAY + timedelta(days=value)
        case Base.TIME:
            return lambda value: (_MIDNIGHT + timedelta(milliseconds=value)).time()
        case Array(element):
            inner = to_python(element)
            return None if inner is None else lambda values: [_given(inner, value) for value in values]
        case Map(_, value_type):
            inner = to_python(value_type)
            return None if inner is None else lambda values: {key: _given(inner, each) for key, each in values.items()}
        case Struct(fields):
            parts = {field.name: to_python(field.type) for field in fields}
            if not any(parts.values()):
                return None
            return lambda values: {name: _given(parts[name], value) for name, value in values.items()}
    return None


def _given(convert: Convert | None, value: Any) -> Any:
    return value if convert is None or value is None else convert(value)


# -- back from them -------------------------------------------------------------------------------


def from_python(type_: SqlType) -> Convert:
    """What makes the value of a column of what a function gives. TypeError and ValueError where it is no such value."""
    match type_:
        case Array(element):
            inner = from_python(element)
            return lambda values: None if values is None else [inner(value) for value in _list(values, type_)]
        case Map(key_type, value_type):
            key_of, value_of = from_python(key_type), from_python(value_type)
            return lambda values: (
                None
                if values is None
                else {key_of(key): value_of(value) for key, value in _dict(values, type_).items()}
            )
        case Struct():
            return _struct(type_)
        case sql_types.Decimal(precision, scale):
            return lambda value: None if value is None else _decimal(value, precision, scale)
    convert = _BACK[type_]
    return lambda value: None if value is None else convert(value)


def _struct(type_: Struct) -> Convert:
    parts = {field.name: from_python(field.type) for field in type_.fields}

    def convert(value: Any) -> Any:
        if value is None:
            return None
        given = {str(name).upper(): each for name, each in _dict(value, type_).items()}
        unknown = given.keys() - {name.upper() for name in parts}
        if unknown:
            raise ValueError(f"{', '.join(sorted(unknown))} is no field of {type_}")
        return {name: part(given.get(name.upper())) for name, part in parts.items()}

    return convert


def _list(value: Any, type_: SqlType) -> Any:
    if not isinstance(value, list | tuple):
        raise _wrong(value, f"{type_}, which a list is")
    return value


def _dict(value: Any, type_: SqlType) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(value, f"{type_}, which a dict is")
    return value


def _whole(type_: Base) -> Convert:
    limit = _INTEGERS[type_]

    def convert(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not math.isfinite(value):
            raise _wrong(value, str(type_))
        number = int(value)
        if number != value:
            raise _wrong(value, str(type_))
        if not -limit <= number < limit:
            raise ValueError(f"{number} does not fit into {type_}")
        return number

    return convert


def _double(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise _wrong(value, "DOUBLE")
    return float(value)


def _decimal(value: Any, precision: int, scale: int) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not math.isfinite(value):
        raise _wrong(value, f"DECIMAL({precision}, {scale})")
    number = Decimal(str(value)) if isinstance(value, float) else Decimal(value)
    try:
        return decimals.fit(number, sql_types.Decimal(precision, scale))
    except ValueError:
        raise ValueError(f"{number} does not fit into DECIMAL({precision}, {scale})") from None


def _exact(kind: type, type_: Base) -> Convert:
    def convert(value: Any) -> Any:
        if not isinstance(value, kind):
            raise _wrong(value, str(type_))
        return value

    return convert


def _bytes(value: Any) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise _wrong(value, "BYTES")
    return bytes(value)


def _timestamp(value: Any) -> int:
    """A datetime without a zone is one in UTC."""
    if not isinstance(value, datetime):
        raise _wrong(value, "TIMESTAMP, which a datetime is")
    return ((value if value.tzinfo else value.replace(tzinfo=UTC)) - _EPOCH) // _MS


def _date(value: Any) -> int:
    if not isinstance(value, date) or isinstance(value, datetime):
        raise _wrong(value, "DATE, which a date is")
    return (value - _FIRST_DAY).days


def _time(value: Any) -> int:
    if not isinstance(value, time):
        raise _wrong(value, "TIME, which a time is")
    return (datetime.combine(_MIDNIGHT, value.replace(tzinfo=None)) - _MIDNIGHT) // _MS


def _wrong(value: Any, wanted: str) -> TypeError:
    return TypeError(f"the function gave {value!r:.80} ({type(value).__name__}), which is no {wanted}")


_BACK: Final[Mapping[SqlType, Convert]] = {
    Base.BOOLEAN: _exact(bool, Base.BOOLEAN),
    Base.INTEGER: _whole(Base.INTEGER),
    Base.BIGINT: _whole(Base.BIGINT),
    Base.DOUBLE: _double,
    Base.STRING: _exact(str, Base.STRING),
    Base.BYTES: _bytes,
    Base.TIME: _time,
    Base.DATE: _date,
    Base.TIMESTAMP: _timestamp,
}
