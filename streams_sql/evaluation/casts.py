"""CAST: what each pair of types does, by ksqlDB's rules. A value that cannot be converted is an error."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, Final, TypeAlias

from barnabas.kernel.java.numbers import double_text
from streams_sql.evaluation import decimals, floats, time_texts
from streams_sql.evaluation.integers import BIGINT_MAX, INTEGER_MAX, ranged, ranged_float
from streams_sql.problem import SqlProblem
from streams_sql.sql_types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Base,
    Map,
    SqlType,
    Struct,
)
from streams_sql.sql_types import Decimal as DecimalType

Conversion: TypeAlias = Callable[[Any], Any]
"""From a value that is not None."""

# What Java's trim() takes away.
BLANKS: Final = "".join(map(chr, range(0x21)))
_WHOLE_NUMBER: Final = re.compile("[+-]?[0-9]{1,100}")
_DECIMAL_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,4})?")


def cast_function(source: SqlType | None, target: SqlType) -> Conversion | None:
    """What converts values of one type to another; None if they stay as they are. SqlProblem if there is no such cast."""
    if source is None or source == target:
        return None
    conversion = _nested(source, target) or _to_decimal(source, target) or _plain(source, target)
    if conversion is None:
        raise SqlProblem(f"Cast of {source} to {target} is not supported")
    return conversion


def text_function(type_: SqlType) -> Conversion:
    """The text of a value of this type, alone or inside of arrays, maps and structs, as Java would write it."""
    match type_:
        case Array(element):
            return _array_text(text_function(element))
        case Map(key, value):
            return _map_text(text_function(key), text_function(value))
        case Struct(fields):
            return _struct_text({field.name: text_function(field.type) for field in fields})
        case DecimalType():
            return decimals.plain_text
    return _TEXTS[type_]


def _plain(source: SqlType, target: SqlType) -> Conversion | None:
    if target == STRING:
        return None if source == BYTES else text_function(source)
    return _CONVERSIONS.get((_kind(source), target)) if isinstance(target, Base) else None


def _kind(type_: SqlType) -> Base | type[DecimalType] | None:
    if isinstance(type_, DecimalType):
        return DecimalType
    return type_ if isinstance(type_, Base) else None


def _to_decimal(source: SqlType, target: SqlType) -> Conversion | None:
    if not isinstance(target, DecimalType):
        return None
    if source in (INTEGER, BIGINT):
        return lambda value: decimals.fit(Decimal(value), target)
    if source == DOUBLE:
        return lambda value: decimals.from_float(value, target)
    if source == STRING:
        return lambda value: decimals.fit(parse_decimal(value), target)
    return (lambda value: decimals.fit(value, target)) if isinstance(source, DecimalType) else None


def _nested(source: SqlType, target: SqlType) -> Conversion | None:
    match source, target:
        case Array(found), Array(wanted):
            return _array(_inner(found, wanted))
        case Map(found_key, found_value), Map(wanted_key, wanted_value):
            return _map(_inner(found_key, wanted_key), _inner(found_value, wanted_value))
        case Struct(), Struct():
            return _struct(source, target)
    return None


def _inner(source: SqlType, target: SqlType) -> Conversion:
    conversion = cast_function(source, target)
    return _same if conversion is None else lambda value: None if value is None else conversion(value)


def _same(value: Any) -> Any:
    return value


def _array(element: Conversion) -> Conversion:
    return lambda values: [element(value) for value in values]


def _map(key: Conversion, value: Conversion) -> Conversion:
    return lambda entries: {key(found): value(held) for found, held in entries.items()}


def _struct(source: Struct, target: Struct) -> Conversion:
    """By the names of fields: those that the value does not have are NULL."""
    conversions: dict[str, Conversion] = {}
    for field in target.fields:
        found = source.field(field.name)
        conversions[field.name] = _same if found is None else _inner(found.type, field.type)
    return lambda value: {name: convert(value.get(name)) for name, convert in conversions.items()}


def parse_whole(text: str, maximum: int) -> int:
    text = text.strip(BLANKS)
    value = int(text) if _WHOLE_NUMBER.fullmatch(text) else None
    if value is None or not -maximum - 1 <= value <= maximum:
        raise ValueError(f"{text[:80]!r} is no whole number between {-maximum - 1} and {maximum}")
    return value


def parse_decimal(text: str) -> Decimal:
    text = text.strip(BLANKS)
    if not _DECIMAL_NUMBER.fullmatch(text):
        raise ValueError(f"{text[:80]!r} is no decimal number")
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"{text[:80]!r} is no decimal number") from error


def parse_boolean(text: str) -> bool:
    """True for `true`, `yes` and what they begin with, in any case; false for everything else."""
    text = text.strip(BLANKS).lower()
    return bool(text) and ("true".startswith(text) or "yes".startswith(text))


def decode_base64(text: str) -> bytes:
    text = text.strip(BLANKS)
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError as error:
        raise ValueError(f"{text[:80]!r} is no base64") from error


def _array_text(element: Conversion) -> Conversion:
    return lambda values: f"[{', '.join(_or_null(value, element) for value in values)}]"


def _map_text(key: Conversion, value: Conversion) -> Conversion:
    def text(entries: dict[Any, Any]) -> str:
        shown = (f"{_or_null(name, key)}={_or_null(held, value)}" for name, held in entries.items())
        return f"{{{', '.join(shown)}}}"

    return text


def _struct_text(fields: dict[str, Conversion]) -> Conversion:
    """Fields that are NULL are left out."""

    def text(value: dict[str, Any]) -> str:
        shown = (f"{name}={field(value[name])}" for name, field in fields.items() if value.get(name) is not None)
        return f"Struct{{{','.join(shown)}}}"

    return text


def _or_null(value: Any, text: Conversion) -> str:
    return "null" if value is None else str(text(value))


def _boolean_text(value: bool) -> str:
    return "true" if value else "false"


_TEXTS: Final[dict[SqlType, Conversion]] = {
    BOOLEAN: _boolean_text,
    INTEGER: str,
    BIGINT: str,
    DOUBLE: double_text,
    STRING: _same,
    BYTES: lambda value: base64.b64encode(value).decode(),
    TIME: time_texts.time_text,
    DATE: time_texts.date_text,
    TIMESTAMP: time_texts.timestamp_text,
}

_CONVERSIONS: Final[dict[tuple[Base | type[DecimalType] | None, Base], Conversion]] = {
    (INTEGER, BIGINT): _same,
    (INTEGER, DOUBLE): float,
    (BIGINT, INTEGER): lambda value: ranged(value, INTEGER),
    (BIGINT, DOUBLE): float,
    (DecimalType, INTEGER): lambda value: ranged(int(value), INTEGER),
    (DecimalType, BIGINT): lambda value: ranged(int(value), BIGINT),
    (DecimalType, DOUBLE): float,
    (DOUBLE, INTEGER): lambda value: ranged_float(value, INTEGER),
    (DOUBLE, BIGINT): lambda value: ranged_float(value, BIGINT),
    (STRING, BOOLEAN): parse_boolean,
    (STRING, INTEGER): lambda value: parse_whole(value, INTEGER_MAX),
    (STRING, BIGINT): lambda value: parse_whole(value, BIGINT_MAX),
    (STRING, DOUBLE): lambda value: floats.parse(value.strip(BLANKS)),
    (STRING, TIMESTAMP): lambda value: time_texts.parse_timestamp(value.strip(BLANKS)),
    (STRING, TIME): lambda value: time_texts.parse_time(value.strip(BLANKS)),
    (STRING, DATE): lambda value: time_texts.parse_date(value.strip(BLANKS)),
    (STRING, BYTES): decode_base64,
    (TIMESTAMP, TIME): lambda value: value % time_texts.MS_PER_DAY,
    (TIMESTAMP, DATE): lambda value: value // time_texts.MS_PER_DAY,
    (DATE, TIMESTAMP): lambda value: value * time_texts.MS_PER_DAY,
}
