"""What a schema of the registry says of the records that were written with it, and how their values become those of columns.

A schema is a tree of parts. From it come both the columns of a source that declares none and, for columns that are declared, what
converts the values that the kernel's codecs give. Which types may become which is ksqlDB's rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal as PythonDecimal
from typing import Any, Final, TypeAlias

from barnabas.kernel.java.numbers import double_text
from streams_sql.formats.mismatch import Mismatch
from streams_sql.formats.number_texts import EXACT, fitted, time_of_day
from streams_sql.formats.serde import Values
from streams_sql.sources import Column
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
    Decimal,
    Field,
    Map,
    SqlType,
    Struct,
)

Convert: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Scalar:
    """`read` makes a value of the type from what the codec gives, if that is not one yet. A point in time that is no TIMESTAMP or TIME
    by its type may have finer units: `units_per_ms` of them."""

    type: Base | Decimal
    read: Convert | None = None
    units_per_ms: int = 1


@dataclass(frozen=True, slots=True)
class Items:
    item: Part
    read: Convert | None = None


@dataclass(frozen=True, slots=True)
class Entries:
    """`read` makes a dict whose keys are texts."""

    value: Part
    read: Convert | None = None


@dataclass(frozen=True, slots=True)
class Fields:
    fields: tuple[tuple[str, Part], ...]
    read: Convert | None = None


Part: TypeAlias = Scalar | Items | Entries | Fields

_WHOLE: Final = {INTEGER, DATE, TIME}
_LONG: Final = {*_WHOLE, BIGINT, TIMESTAMP}
# What a column of a type may be made of, beside its own type.
_ACCEPTED: Final[Mapping[SqlType, set[Base]]] = {
    BOOLEAN: {BOOLEAN},
    INTEGER: _WHOLE,
    DATE: _WHOLE,
    TIME: _WHOLE,
    BIGINT: _LONG,
    TIMESTAMP: _LONG,
    DOUBLE: {DOUBLE},
    STRING: {*_LONG, DOUBLE, BOOLEAN, STRING},
    BYTES: {BYTES},
}
_TEXTS: Final[Mapping[Base, Convert]] = {
    BOOLEAN: lambda value: "true" if value else "false",
    DOUBLE: double_text,
}


def sql_type(part: Part, spelling: Callable[[str], str]) -> SqlType:
    """The type that fits best; names of fields are spelt by the function."""
    match part:
        case Scalar():
            return part.type
        case Items():
            return Array(sql_type(part.item, spelling))
        case Entries():
            return Map(STRING, sql_type(part.value, spelling))
        case Fields():
            return Struct(tuple(Field(spelling(name), sql_type(inner, spelling), name) for name, inner in part.fields))


def row_reader(part: Part, columns: Sequence[Column]) -> Callable[[Any], Values]:
    """From what the codec gives for a record to the values of columns. Mismatch if a column cannot be made of what was written."""
    if not isinstance(part, Fields):
        raise _not_a(part, Struct(()), "")
    picks = _picks(part, [(column.name, column.type) for column in columns], "")
    read = part.read

    def read_row(record: Any) -> Values:
        if read is not None and record is not None:
            record = read(record)
        if record is None:
            raise Mismatch("The record is null, where its columns should be")
        found = record.get
        return tuple([None if name is None else convert(found(name)) for name, convert in picks])

    return read_row


def value_reader(part: Part, wanted: SqlType, path: str = "") -> Convert:
    """From what the codec gives, null as None, to a value of the type."""
    convert, read = _converter(part, wanted, path), part.read
    if convert is None:
        return _same if read is None else lambda value: None if value is None else read(value)
    if read is None:
        return lambda value: None if value is None else convert(value)

    def read_value(value: Any) -> Any:
        if value is None:
            return None
        found = read(value)
        return None if found is None else convert(found)

    return read_value


def same_fields(part: Part, columns: Sequence[Column]) -> list[str | None] | None:
    """For each column the field that it comes from, where all are plain values of the column's type already; else None. Mismatch as
    `row_reader`."""
    if not isinstance(part, Fields) or part.read is not None:
        return None
    written = dict(part.fields)
    found = [name for name, _ in _picks(part, [(column.name, column.type) for column in columns], "")]
    for name, column in zip(found, columns, strict=True):
        if name is not None and not _is_same(written[name], column.type):
            return None
    return found


def _is_same(part: Part, wanted: SqlType) -> bool:
    is_plain = isinstance(part, Scalar) and part.type is not BYTES and not isinstance(part.type, Decimal)
    return is_plain and _converter(part, wanted, "") is None


def _same(value: Any) -> Any:
    return value


def _converter(part: Part, wanted: SqlType, path: str) -> Convert | None:
    match part, wanted:
        case Scalar(), Base() | Decimal():
            return _scalar(part, wanted, path)
        case Items(), Array(element):
            item = value_reader(part.item, element, f"{path}->ARRAY")
            return None if item is _same else lambda values: [item(value) for value in values]
        case Entries(), Map(_, value_type):
            entry = value_reader(part.value, value_type, f"{path}->MAP_VAL")
            return None if entry is _same else lambda value: {key: entry(item) for key, item in value.items()}
        case Fields(), Struct(fields):
            return _struct(part, fields, path)
    raise _not_a(part, wanted, path)


def _struct(part: Fields, fields: Sequence[Field], path: str) -> Convert:
    names = [field.name for field in fields]
    picks = _picks(part, [(field.name, field.type) for field in fields], path)

    def struct(value: Any) -> Any:
        found = value.get
        return {
            name: None if given is None else convert(found(given))
            for name, (given, convert) in zip(names, picks, strict=True)
        }

    return struct


def _picks(part: Fields, wanted: Sequence[tuple[str, SqlType]], path: str) -> list[tuple[str | None, Convert]]:
    """For each column the field that it comes from: of its own name, or of one that is so in upper case."""
    written = dict(part.fields)
    upper = {name.upper(): name for name in written if name not in dict(wanted)}
    picks: list[tuple[str | None, Convert]] = []
    for name, type_ in wanted:
        found = name if name in written else upper.get(name)
        picks.append((found, _same if found is None else value_reader(written[found], type_, f"{path}->{name}")))
    return picks


def _scalar(part: Scalar, wanted: Base | Decimal, path: str) -> Convert | None:
    if isinstance(wanted, Decimal):
        if not isinstance(part.type, Decimal):
            raise _not_a(part, wanted, path)
        # Also where the types are the same: a number may have been written with more digits than its schema says.
        return lambda value: fitted(value, wanted)
    if isinstance(part.type, Decimal) or part.type not in _ACCEPTED[wanted]:
        raise _not_a(part, wanted, path)
    units = part.units_per_ms
    if wanted is TIME:
        return lambda value: time_of_day(value // units)
    if wanted is TIMESTAMP and units > 1:
        return lambda value: value // units
    return _TEXTS.get(part.type, str) if wanted is STRING and part.type is not STRING else None


def _not_a(part: Part, wanted: SqlType, path: str) -> Mismatch:
    word = {Items: "ARRAY", Entries: "MAP", Fields: "STRUCT"}.get(type(part)) or str(sql_type(part, str))
    return Mismatch(f"Cannot deserialize type {word} as type {wanted} for path: {path}")


def decimal_of(data: bytes, scale: int) -> PythonDecimal:
    """The number that Avro and Protobuf write as an unscaled whole number."""
    return PythonDecimal(int.from_bytes(data, "big", signed=True)).scaleb(-scale, EXACT)


def unscaled_bytes(value: PythonDecimal, scale: int) -> bytes:
    number = int(value.scaleb(scale, EXACT))
    # One bit more than the number has is its sign.
    return number.to_bytes((number if number >= 0 else ~number).bit_length() // 8 + 1, "big", signed=True)
