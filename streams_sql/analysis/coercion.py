"""Which types may stand for which others: implicit casts, casts that are asked for, and the common type of a list of expressions."""

from __future__ import annotations

import decimal
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from streams_sql.analysis.numbers import (
    BIGINT_MAX,
    BIGINT_MIN,
    INTEGER_MAX,
    INTEGER_MIN,
    decimal_of,
    fits,
    rank,
    widened,
)
from streams_sql.analysis.type_names import base_name
from streams_sql.problem import SqlProblem
from streams_sql.sql_types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
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
from streams_sql.typed import Cast, Literal, MakeArray, MakeMap, MakeStruct, Typed

READ_FROM_TEXT: Final = frozenset({TIME, DATE, TIMESTAMP, BYTES})
_BOOLEAN_WORDS: Final = frozenset({"true", "yes", "t", "y", "false", "no", "f", "n"})
_CASTS: Final[Mapping[str, frozenset[str]]] = {
    "BOOLEAN": frozenset({"STRING"}),
    "INTEGER": frozenset({"BIGINT", "DECIMAL", "DOUBLE", "STRING"}),
    "BIGINT": frozenset({"INTEGER", "DECIMAL", "DOUBLE", "STRING"}),
    "DECIMAL": frozenset({"INTEGER", "BIGINT", "DECIMAL", "DOUBLE", "STRING"}),
    "DOUBLE": frozenset({"INTEGER", "BIGINT", "DECIMAL", "STRING"}),
    "STRING": frozenset({"BOOLEAN", "INTEGER", "BIGINT", "DECIMAL", "DOUBLE", "TIMESTAMP", "TIME", "DATE", "BYTES"}),
    "ARRAY": frozenset({"STRING"}),
    "MAP": frozenset({"STRING"}),
    "STRUCT": frozenset({"STRING"}),
    "TIMESTAMP": frozenset({"STRING", "TIME", "DATE"}),
    "DATE": frozenset({"STRING", "TIMESTAMP"}),
    "TIME": frozenset({"STRING"}),
}


def castable(found: SqlType | None, wanted: SqlType) -> bool:
    """Whether CAST can be asked for."""
    if found is None or found == wanted:
        return True
    match found, wanted:
        case Array(element), Array(other):
            return castable(element, other)
        case Map(key, value), Map(other_key, other_value):
            return castable(key, other_key) and castable(value, other_value)
        case Struct(), Struct(fields):
            return all(_field_castable(found, field) for field in fields)
    return base_name(wanted) in _CASTS.get(base_name(found), ())


def _field_castable(struct: Struct, wanted: Field) -> bool:
    found = struct.field(wanted.name)
    return found is None or castable(found.type, wanted.type)


def implicitly_castable(found: SqlType | None, wanted: SqlType) -> bool:
    """Whether values go into a column of another type without a word: numbers widen, texts are read as times or bytes."""
    if found is None or found == wanted:
        return True
    if isinstance(found, Decimal) and isinstance(wanted, Decimal):
        return fits(found, wanted)
    match found, wanted:
        case Array(element), Array(other):
            return implicitly_castable(element, other)
        case Map(key, value), Map(other_key, other_value):
            return implicitly_castable(key, other_key) and implicitly_castable(value, other_value)
        case Struct(fields), Struct():
            return all(_field_fits(field, wanted) for field in fields)
    found_rank, wanted_rank = rank(found), rank(wanted)
    if found_rank is None or wanted_rank is None:
        return found == STRING and wanted in READ_FROM_TEXT
    return found_rank < wanted_rank


def _field_fits(found: Field, struct: Struct) -> bool:
    wanted = struct.field(found.name)
    return wanted is not None and implicitly_castable(found.type, wanted.type)


def converted(item: Typed, wanted: SqlType) -> Typed:
    """The expression as one of that type."""
    if item.type is None:
        return Literal(None, wanted)
    return item if item.type == wanted else Cast(item, wanted)


def in_common(items: Sequence[Typed], texts: Sequence[str]) -> tuple[SqlType | None, tuple[Typed, ...]]:
    """The type that all elements of a list have in common, and the elements cast to it. The first one that is not NULL leads; there is
    no type where all are NULL. `texts` show the elements in messages."""
    common: SqlType | None = None
    for item, text in zip(items, texts, strict=True):
        common = _joined(common, item, text)
    if common is None:
        return None, tuple(items)
    return common, tuple(converted(item, common) for item in items)


def _joined(common: SqlType | None, item: Typed, text: str) -> SqlType | None:
    if common is None or item.type is None:
        return item.type if common is None else common
    if isinstance(item, Literal) and isinstance(item.value, str):
        if rank(common) is not None:
            return _joined_number(item.value, common)
        if common == BOOLEAN:
            return _joined_boolean(item.value)
    try:
        inner = _joined_parts(common, item, text)
    except _NoCommonType as problem:
        raise _no_common_type(common, item.type, text) from problem
    if inner is not None:
        return inner
    is_lax = isinstance(item, Literal)
    found = _coerced(item.type, common, is_lax) or _coerced(common, item.type, is_lax)
    if found is None:
        raise _no_common_type(common, item.type, text)
    return found


def _joined_parts(common: SqlType, item: Typed, text: str) -> SqlType | None:
    """The common type by the parts of an array, map or struct that is made on the spot."""
    match item, common:
        case MakeArray(), Array(element):
            return Array(_folded(element, item.elements, text))
        case MakeMap(), Map(key, value):
            keys = _folded(key, (key for key, _ in item.entries), text)
            return Map(keys, _folded(value, (value for _, value in item.entries), text))
        case MakeStruct(), Struct():
            made = dict(item.fields)
            names = dict.fromkeys([*made, *(field.name for field in common.fields)])
            return Struct(tuple(_joined_field(name, made.get(name), common.field(name), text) for name in names))
    return None


def _folded(common: SqlType, items: Iterable[Typed], text: str) -> SqlType:
    for item in items:
        common = _joined(common, item, text) or common
    return common


def _joined_field(name: str, made: Typed | None, known: Field | None, text: str) -> Field:
    common = None if known is None else known.type
    found = common if made is None else _joined(common, made, text)
    if found is None:
        raise SqlProblem(f"Cannot tell the type of the field {name}: it is NULL. Cast it to the type that is meant.")
    return Field(name, found)


def _joined_boolean(value: str) -> SqlType:
    if not any(word.startswith(value.strip().lower()) for word in _BOOLEAN_WORDS) or not value.strip():
        raise SqlProblem(f'invalid input syntax for type BOOLEAN: "{value}".')
    return BOOLEAN


def _joined_number(value: str, common: SqlType) -> SqlType:
    try:
        number = decimal.Decimal(value.strip())
    except decimal.InvalidOperation:
        number = decimal.Decimal("NaN")
    if not number.is_finite():
        raise SqlProblem(f'invalid input syntax for type {base_name(common)}: "{value}".')
    return widened(_type_of_number(number, value), common)


def _type_of_number(number: decimal.Decimal, text: str) -> SqlType:
    if not set(text) & set(".eE"):
        if INTEGER_MIN <= number <= INTEGER_MAX:
            return INTEGER
        if BIGINT_MIN <= number <= BIGINT_MAX:
            return BIGINT
    return decimal_of(number)


def _coerced(found: SqlType, wanted: SqlType, is_lax: bool) -> SqlType | None:
    """The type that holds both, where the one may stand for the other. Literals may be texts of anything, and the other way round."""
    found_rank, wanted_rank = rank(found), rank(wanted)
    if found_rank is not None and wanted_rank is not None:
        return widened(found, wanted) if found_rank <= wanted_rank else None
    match found, wanted:
        case Array(element), Array(other):
            inner = _coerced(element, other, is_lax)
            return None if inner is None else Array(inner)
        case Map(key, value), Map(other_key, other_value):
            keys, values = _coerced(key, other_key, is_lax), _coerced(value, other_value, is_lax)
            return None if keys is None or values is None else Map(keys, values)
        case Struct(), Struct():
            return _coerced_struct(found, wanted, is_lax)
    if found == wanted or (found == STRING and wanted in READ_FROM_TEXT):
        return wanted
    return wanted if is_lax and _is_format_expression(found, wanted) else None


def _is_format_expression(found: SqlType, wanted: SqlType) -> bool:
    is_simple = isinstance(found, Base | Decimal) and isinstance(wanted, Base | Decimal)
    return is_simple and STRING in (found, wanted) and BYTES not in (found, wanted)


def _coerced_struct(found: Struct, wanted: Struct, is_lax: bool) -> SqlType | None:
    fields = []
    for name in dict.fromkeys(field.name for field in (*found.fields, *wanted.fields)):
        one, other = found.field(name), wanted.field(name)
        if one is not None and other is not None:
            inner = _coerced(one.type, other.type, is_lax)
            if inner is None:
                return None
            fields.append(Field(name, inner))
        elif one is not None or other is not None:
            fields.append(one or other or Field(name, STRING))
    return Struct(tuple(fields))


class _NoCommonType(SqlProblem):
    pass


def _no_common_type(common: SqlType, found: SqlType, text: str) -> SqlProblem:
    return _NoCommonType(
        f"operator does not exist: {common} = {found} ({text})\nHint: You might need to add explicit type casts."
    )
