"""Parsed JSON as values of columns, by the coercions of ksqlDB.

A column becomes a function from what JSON has to its value. Two parsers feed it: a fast one that makes floats of fractions, and an exact
one that keeps them as decimals. Where a float would not do, `Inexact` asks for the exact one.
"""

from __future__ import annotations

import base64
import decimal
import json
import math
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, TypeAlias

from streams_sql.evaluation.integers import BIGINT_MAX, INTEGER_MAX, out_of_range
from streams_sql.formats.mismatch import Mismatch
from streams_sql.formats.number_texts import decimal_number, double, fitted, time_of_day, whole_number
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
    Decimal,
    Map,
    SqlType,
    Struct,
)

Convert: TypeAlias = Callable[[Any], Any]
"""What JSON has, null as None, to the value of a column."""

PlainTest: TypeAlias = Callable[[Sequence[Any]], bool]
"""Whether all of what JSON has for a column are values of it already."""

Pick: TypeAlias = Callable[[dict[str, Any]], Sequence[Any]]
"""From a JSON object what belongs to each field."""

SHAPES_KEPT_MAX: Final = 1_000
# Above, floats do not tell whole numbers apart.
_FLOAT_EXACT_MAX: Final = 2.0**53
_WHOLE_DIGITS_MAX: Final = 40
# What Jackson calls the values of JSON.
_NODES: Final[Mapping[type, str]] = {
    bool: "BooleanNode",
    int: "IntNode",
    float: "DecimalNode",
    decimal.Decimal: "DecimalNode",
    str: "TextNode",
    list: "ArrayNode",
    dict: "ObjectNode",
    type(None): "NullNode",
}


class Inexact(Exception):
    """The value must be parsed without floats."""


def converter(type_: SqlType, *, takes_entries: bool = False) -> Convert:
    """`takes_entries`: a map may also be an array of objects with a key and a value."""
    match type_:
        case Array(element):
            return _array(type_, converter(element, takes_entries=takes_entries))
        case Map(_, value):
            convert = _map(type_, converter(value, takes_entries=takes_entries))
            return _with_entries(convert) if takes_entries else convert
        case Struct(fields):
            converters = [converter(field.type, takes_entries=takes_entries) for field in fields]
            return _struct(type_, Record([field.name for field in fields], converters))
        case Decimal():
            return _decimal(type_)
    return _CONVERTERS[type_]


class Record:
    """The fields of JSON objects by name, however they are spelt: a name as it is comes first, then one that is so in upper case."""

    def __init__(self, names: Sequence[str], converters: Sequence[Convert]) -> None:
        self._names = names
        self._converters = converters
        self._plain_tests = [_PLAIN_TESTS.get(convert, _never) for convert in converters]
        # Objects come in few shapes: for the names that one has, in order, what picks the values of the columns.
        self._shapes: dict[tuple[str, ...], Pick] = {}
        self._names_alike: tuple[str, ...] = ()
        self._pick_alike: Pick | None = None

    def values(self, found: dict[str, Any]) -> tuple[Any, ...]:
        names = tuple(found)
        pick = self._shapes.get(names)
        if pick is None:
            pick = self._learn(names)
        picked = pick(found)
        try:
            return tuple([convert(value) for convert, value in zip(self._converters, picked, strict=True)])
        except Mismatch:
            self._explain(picked)
            raise

    def rows(self, found: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
        """The values of many objects, column by column. Most columns need no conversion, and the types of their values show it at once.
        Mismatch or Inexact where one of the objects has to be looked at by itself."""
        picked = self._alike(found) or self._picked(found)
        columns = [
            column if is_plain(column) else map(convert, column)
            for is_plain, convert, column in zip(
                self._plain_tests, self._converters, zip(*picked, strict=True), strict=False
            )
        ]
        return list(zip(*columns, strict=True))

    def _alike(self, found: Sequence[dict[str, Any]]) -> Sequence[Sequence[Any]]:
        """What belongs to the fields, where all objects have the names of the first one: as many, and all of those. Nothing where one
        has others, or where it matters in which order they come."""
        names = tuple(found[0]) if found else ()
        if self._names_alike != names:
            self._pick_alike, self._names_alike = self._whole_pick(names), names
        pick = self._pick_alike
        if pick is None or set(map(len, found)) != {len(names)}:
            return ()
        try:
            return list(map(pick, found))
        except KeyError:
            return ()

    def _whole_pick(self, names: tuple[str, ...]) -> Pick | None:
        """Looks for all names, those of the fields first: what is behind them does not count."""
        upper = {name.upper(): name for name in names}
        wanted = [name if name in names else upper.get(name) for name in self._names]
        if len(upper) < len(names) or None in wanted or len(wanted) < 2:
            return None
        return itemgetter(*wanted, *(name for name in names if name not in wanted))

    def _picked(self, found: Sequence[dict[str, Any]]) -> Sequence[Sequence[Any]]:
        picks = {names: self._shapes.get(names) or self._learn(names) for names in set(map(tuple, found))}
        return [picks[tuple(each)](each) for each in found]

    def _learn(self, names: tuple[str, ...]) -> Pick:
        upper = {name.upper(): name for name in names}
        exact = set(names)
        wanted = [name if name in exact else upper.get(name) for name in self._names]
        if len(self._shapes) >= SHAPES_KEPT_MAX:
            self._shapes.clear()
        is_complete = None not in wanted and len(wanted) > 1
        pick = self._shapes[names] = itemgetter(*wanted) if is_complete else _optional_getter(wanted)
        return pick

    def _explain(self, picked: Sequence[Any]) -> None:
        for name, convert, value in zip(self._names, self._converters, picked, strict=True):
            try:
                convert(value)
            except Mismatch as mismatch:
                raise mismatch.inside(f".{name}") from None


def _optional_getter(names: Sequence[str | None]) -> Pick:
    return lambda found: [None if name is None else found.get(name) for name in names]


def refusal(value: Any, required: SqlType) -> Mismatch:
    node = _NODES.get(type(value), "MissingNode")
    return Mismatch(f"Can't convert type. sourceType: {node}, requiredType: {required}")


def _array(type_: SqlType, convert: Convert) -> Convert:
    def array(value: Any) -> Any:
        if value is None:
            return None
        if type(value) is not list:
            raise refusal(value, type_)
        items: list[Any] = []
        try:
            items.extend(map(convert, value))
        except Mismatch as mismatch:
            raise mismatch.inside(f"[{len(items)}]") from None
        return items

    return array


def _map(type_: SqlType, convert: Convert) -> Convert:
    def map_(value: Any) -> Any:
        if value is None:
            return None
        if type(value) is not dict:
            raise refusal(value, type_)
        entries: dict[str, Any] = {}
        key = ""
        try:
            for key, item in value.items():
                entries[key] = convert(item)
        except Mismatch as mismatch:
            raise mismatch.inside(f".{key}.value") from None
        return entries

    return map_


def _with_entries(convert: Convert) -> Convert:
    def map_(value: Any) -> Any:
        if type(value) is list and all(type(entry) is dict and "key" in entry for entry in value):
            value = {entry["key"]: entry.get("value") for entry in value}
        return convert(value)

    return map_


def _struct(type_: Struct, record: Record) -> Convert:
    names = [field.name for field in type_.fields]

    def struct(value: Any) -> Any:
        if value is None:
            return None
        if type(value) is not dict:
            raise refusal(value, type_)
        return dict(zip(names, record.values(value), strict=True))

    return struct


def _boolean(value: Any) -> Any:
    if value is None or type(value) is bool:
        return value
    raise refusal(value, BOOLEAN)


def _integer(value: Any) -> Any:
    if type(value) is int and -INTEGER_MAX <= value <= INTEGER_MAX:
        return value
    return None if value is None else _whole(value, INTEGER, INTEGER_MAX)


def _bigint(value: Any) -> Any:
    if type(value) is int and -BIGINT_MAX <= value <= BIGINT_MAX:
        return value
    return None if value is None else _whole(value, BIGINT, BIGINT_MAX)


def _time(value: Any) -> Any:
    return None if value is None else time_of_day(_whole(value, TIME, BIGINT_MAX))


def _date(value: Any) -> Any:
    return None if value is None else _whole(value, DATE, INTEGER_MAX)


def _timestamp(value: Any) -> Any:
    return None if value is None else _whole(value, TIMESTAMP, BIGINT_MAX)


def _whole(value: Any, type_: SqlType, maximum: int) -> int:
    """Fractions are cut off. A number that is out of range is one that the column cannot hold: Java would keep its lower bits."""
    if type(value) is str:
        whole: int = _coerced(value, type_, lambda text: whole_number(text, maximum))
        return whole
    if type(value) is float and abs(value) > _FLOAT_EXACT_MAX:
        raise Inexact
    if type(value) not in (int, float, decimal.Decimal):
        raise refusal(value, type_)
    # One with a huge exponent would take long to write out.
    is_long = type(value) is decimal.Decimal and value.adjusted() > _WHOLE_DIGITS_MAX
    found = maximum + 1 if is_long else int(value)
    if not -maximum - 1 <= found <= maximum:
        raise Mismatch(out_of_range(str(value), INTEGER if maximum == INTEGER_MAX else BIGINT))
    return found


def _double(value: Any) -> Any:
    if type(value) is float or value is None:
        return value
    if type(value) is int or type(value) is decimal.Decimal:
        return _float(value)
    if type(value) is str:
        return _coerced(value, DOUBLE, double)
    raise refusal(value, DOUBLE)


def _float(value: int | decimal.Decimal) -> float:
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if math.isinf(found):
        raise Mismatch(
            f"Number out of range: {value!s:.80}: DOUBLE holds -1.7976931348623157E308 to 1.7976931348623157E308"
        )
    return found


def _coerced(text: str, type_: SqlType, parse: Convert) -> Any:
    try:
        return parse(text)
    except ValueError:
        raise Mismatch(f"Can't coerce string to type. targetType: {type_}") from None


def _string(value: Any) -> Any:
    if type(value) is str or value is None:
        return value
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is list:
        return f"[{', '.join('null' if item is None else _string(item) for item in value)}]"
    if type(value) is dict:
        return _object_text(value)
    if type(value) is float:
        raise Inexact
    return str(value)


def _object_text(value: Mapping[str, Any]) -> str:
    """As Jackson writes it: without blanks."""
    members = (f"{json.dumps(name, ensure_ascii=False)}:{_json_text(item)}" for name, item in value.items())
    return f"{{{','.join(members)}}}"


def _json_text(value: Any) -> str:
    if type(value) is dict:
        return _object_text(value)
    if type(value) is list:
        return f"[{','.join(map(_json_text, value))}]"
    if type(value) is float:
        raise Inexact
    return str(value) if type(value) is decimal.Decimal else json.dumps(value, ensure_ascii=False)


def _bytes(value: Any) -> Any:
    if value is None:
        return None
    if type(value) is not str:
        raise refusal(value, BYTES)
    try:
        return base64.b64decode("".join(value.split()), validate=True)
    except ValueError:
        raise Mismatch(f"Value is not a valid Base64 encoded string: {value[:80]}") from None


def _decimal(type_: Decimal) -> Convert:
    def decimal_(value: Any) -> Any:
        if value is None:
            return None
        if type(value) is str:
            return fitted(_coerced(value, type_, decimal_number), type_)
        if type(value) is float:
            # Floats come only from numbers so short that they show all their digits.
            return fitted(decimal.Decimal(repr(value)), type_)
        if type(value) is int or type(value) is decimal.Decimal:
            return fitted(decimal.Decimal(value), type_)
        raise refusal(value, type_)

    return decimal_


_CONVERTERS: Final[Mapping[SqlType, Convert]] = {
    BOOLEAN: _boolean,
    INTEGER: _integer,
    BIGINT: _bigint,
    DOUBLE: _double,
    STRING: _string,
    BYTES: _bytes,
    TIME: _time,
    DATE: _date,
    TIMESTAMP: _timestamp,
}


def _never(values: Sequence[Any]) -> bool:
    return False


def _only(*types: type) -> PlainTest:
    accepted = frozenset(types)
    return lambda values: accepted.issuperset(map(type, values))


def _whole_up_to(maximum: int) -> PlainTest:
    return lambda values: set(map(type, values)) == {int} and -maximum <= min(values) and max(values) <= maximum


_PLAIN_TESTS: Final[Mapping[Convert, PlainTest]] = {
    _boolean: _only(bool, type(None)),
    _integer: _whole_up_to(INTEGER_MAX),
    _bigint: _whole_up_to(BIGINT_MAX),
    _double: _only(float, type(None)),
    _string: _only(str, type(None)),
}
