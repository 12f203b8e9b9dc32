"""Keys that can be looked up: structs, maps and arrays as tuples, what is no number as a word, and back."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Final

from streams_sql.evaluation.comparisons import Evaluate
from streams_sql.evaluation.compiler import OnError, compile_column
from streams_sql.language.statements import JoinKind
from streams_sql.plan.nodes import Filter, Node, Project, TableJoin
from streams_sql.plan.pipeline import columns_of
from streams_sql.processors.processor import KeyOf
from streams_sql.sql_types import DOUBLE, Array, Map, SqlType, Struct
from streams_sql.typed import Column, Typed

NO_NUMBER: Final = ("no number",)


def key_of(parts: Sequence[Typed], columns: Sequence[str], on_error: OnError, has_nulls: bool = False) -> KeyOf:
    """A tuple of these expressions, None where one of them is NULL, unless the key may have some."""
    computed = [compile_column(part, columns, on_error) for part in parts]
    plain = _with_nulls(computed) if has_nulls else _without_null(computed)
    if not any(is_frozen(part.type) for part in parts):
        return plain

    def frozen_key(row: Any) -> Any:
        key = plain(row)
        return None if key is None else tuple(map(frozen, key))

    return frozen_key


def stream_key(parts: Sequence[Typed], columns: Sequence[str], on_error: OnError, has_nulls: bool = False) -> KeyOf:
    """The same of rows of a stream. Those without a value have no key either: they are in no group and in no pair."""
    match parts:
        case [Column(name)] if not has_nulls and not is_frozen(parts[0].type):
            place = columns.index(name)
            return lambda row: None if row[-1][0] or (value := row[place]) is None else (value,)
    key = key_of(parts, columns, on_error, has_nulls)
    return lambda row: None if row[-1][0] else key(row)


def columns_key(columns: Sequence[str], names: Sequence[str], types: Sequence[SqlType]) -> KeyOf:
    """A tuple of the values of these columns, NULLs among them."""
    places = [columns.index(name) for name in names]
    if any(map(is_frozen, types)):
        return lambda row: tuple([frozen(row[place]) for place in places])
    if len(places) == 1:
        (place,) = places
        return lambda row: (row[place],)
    return itemgetter(*places) if places else lambda row: ()


def table_key(node: Node) -> KeyOf:
    """The key of a table's rows, with the window that it carries."""
    types = {column.name: column.type for column in node.shape.columns}
    found = [columns_key(columns_of(node), names, [types[name] for name in names]) for names in key_places(node)]
    return found[0] if len(found) == 1 else _first_of(found)


def key_places(node: Node) -> list[tuple[str, ...]]:
    """The columns that hold the key of a table's rows, and its window. In a full join it is in those of a side that is there."""
    while isinstance(node, Filter) or (isinstance(node, Project) and not _makes_key(node)):
        node = node.input
    if not isinstance(node, TableJoin):
        return [node.shape.whole_key]
    match node.kind:
        case JoinKind.OUTER:
            return key_places(node.left) + key_places(node.right)
        case JoinKind.RIGHT:
            return key_places(node.right)
    return key_places(node.left)


def _makes_key(node: Project) -> bool:
    return any(named.name in node.shape.key for named in node.columns)


def _first_of(keys: Sequence[KeyOf]) -> KeyOf:
    def key(row: Any) -> Any:
        found = [of(row) for of in keys]
        return next((values for values in found if any(value is not None for value in values)), found[0])

    return key


def _with_nulls(computed: Sequence[Evaluate]) -> KeyOf:
    return lambda row: tuple([part(row) for part in computed])


def _without_null(computed: Sequence[Evaluate]) -> KeyOf:
    if len(computed) == 1:
        (only,) = computed
        return lambda row: None if (value := only(row)) is None else (value,)

    def key(row: Any) -> Any:
        values = tuple([part(row) for part in computed])
        return None if None in values else values

    return key


def is_frozen(type_: SqlType | None) -> bool:
    """Whether values of this type are looked up in another form."""
    return isinstance(type_, Array | Map | Struct) or type_ == DOUBLE


def frozen(value: Any) -> Any:
    """A value that is equal to another frozen one if, and only if, both were equal, and that can be looked up. All that is no number is
    the same."""
    if isinstance(value, dict):
        return "{}", *sorted(((frozen(key), frozen(part)) for key, part in value.items()), key=repr)
    if isinstance(value, list):
        return "[]", *map(frozen, value)
    return NO_NUMBER if isinstance(value, float) and math.isnan(value) else value


def thawing(types: Sequence[SqlType | None]) -> Callable[[Any], Any] | None:
    """What makes values of a frozen key; None where they are the same."""
    if not any(map(is_frozen, types)):
        return None
    return lambda key: tuple(map(thawed, key, types))


def thawed(value: Any, type_: SqlType | None) -> Any:
    match type_:
        case _ if value is None:
            return None
        case Array(element):
            return [thawed(part, element) for part in value[1:]]
        case Map(_, of):
            return {key: thawed(part, of) for key, part in value[1:]}
        case Struct(fields):
            parts = dict(value[1:])
            return {field.name: thawed(parts[field.name], field.type) for field in fields}
    return math.nan if value == NO_NUMBER else value
