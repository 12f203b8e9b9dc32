"""Plans of operators with state, made by hand, and rows for them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from streams_sql import typed
from streams_sql.functions.library import LIBRARY
from streams_sql.functions.resolution import resolve_aggregate
from streams_sql.language.statements import Emit, JoinKind, Kind, Window, WindowKind, Within
from streams_sql.plan.join_warning import JoinWarning
from streams_sql.plan.nodes import (
    Aggregate,
    AggregateCall,
    Filter,
    ForeignKeyJoin,
    LookupJoin,
    Named,
    Node,
    Read,
    Shape,
    StreamJoin,
    TableJoin,
)
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.sources import (
    ROWOFFSET,
    ROWPARTITION,
    ROWTIME,
    WINDOW_BOUNDS,
    Column,
    FormatUse,
    KeyWindow,
    Schema,
    Source,
)
from streams_sql.sql_types import BIGINT, BOOLEAN, INTEGER, STRING, SqlType

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
VALUES: Mapping[str, SqlType] = {"G": STRING, "V": INTEGER}
_PSEUDO = (Column(ROWTIME, BIGINT), Column(ROWPARTITION, INTEGER), Column(ROWOFFSET, BIGINT))
_offsets = itertools.count()


def reading(
    name: str, kind: Kind = Kind.STREAM, prefix: str = "", key: Mapping[str, SqlType] | None = None,
    value: Mapping[str, SqlType] = VALUES,
) -> Read:  # fmt: skip
    """A source with the key K and the columns G and V, if nothing else is said."""
    key = {"K": STRING} if key is None else key
    schema = Schema(_columns(key), _columns(value))
    source = Source(name.upper(), kind, schema, name, FormatUse("JSON"), FormatUse("JSON"), "")
    columns = tuple(Column(prefix + column.name, column.type) for column in (*schema.columns(), *_PSEUDO))
    if prefix:
        columns += (Column(ROWTIME, BIGINT),)
    return Read(source, prefix, Shape(columns, tuple(prefix + name for name in key), kind is Kind.TABLE))


def _columns(types: Mapping[str, SqlType]) -> tuple[Column, ...]:
    return tuple(Column(name, type_) for name, type_ in types.items())


def row(of: Node, time: int, is_deleted: bool = False, **values: Any) -> Row:
    """Columns are named without their prefix; what is not given is NULL."""
    prefix = of.prefix if isinstance(of, Read) else ""
    offset = next(_offsets)
    known = {**{prefix + name: value for name, value in values.items()}, ROWTIME: time}
    known |= {prefix + ROWTIME: time, prefix + ROWPARTITION: 0, prefix + ROWOFFSET: offset}
    return (*(known.get(name) for name in columns_of(of)), (is_deleted, 0, offset))


def column(of: Node, name: str) -> typed.Column:
    (found,) = [each for each in of.shape.columns if each.name == name]
    return typed.Column(found.name, found.type)


def call(of: Node, function: str, *arguments: str, constants: Sequence[object] = ()) -> AggregateCall:
    """An aggregate of columns. Its column has the name of the function."""
    found = [column(of, name) for name in arguments]
    types = [argument.type for argument in found] + [_type(constant) for constant in constants]
    resolved = resolve_aggregate(LIBRARY.aggregates[function], types)
    limits = (2**31 - 1,) if resolved.overload.limit_setting is not None else ()
    made = Column(function, resolved.result)
    return AggregateCall(function, function, resolved.overload, tuple(found), (*constants, *limits), made)


def _type(constant: object) -> SqlType:
    return BOOLEAN if isinstance(constant, bool) else INTEGER


def grouped(
    of: Node, by: Sequence[str], calls: Sequence[AggregateCall], window: Window | None = None, emit: Emit = Emit.CHANGES
) -> Aggregate:
    keys = tuple(Named(name, column(of, name)) for name in by)
    columns = [Column(name, column(of, name).type) for name in by] + [call.column for call in calls]
    if window is not None:
        columns += [Column(name, type_) for name, type_ in WINDOW_BOUNDS.items()]
    columns.append(Column(ROWTIME, BIGINT))
    key_window = None if window is None else KeyWindow(window.kind, None)
    return Aggregate(of, keys, tuple(calls), window, emit, Shape(tuple(columns), tuple(by), True, key_window))


def tumbling(size_ms: int, grace_ms: int | None = None) -> Window:
    return Window(WindowKind.TUMBLING, size_ms, grace_ms=grace_ms)


def hopping(size_ms: int, advance_ms: int, grace_ms: int | None = None) -> Window:
    return Window(WindowKind.HOPPING, size_ms, advance_ms, grace_ms=grace_ms)


def session(gap_ms: int, grace_ms: int | None = None) -> Window:
    return Window(WindowKind.SESSION, gap_ms, grace_ms=grace_ms)


def where(of: Node, operator: typed.Operator, name: str, value: object) -> Filter:
    """A comparison of a column with a literal."""
    compared = column(of, name)
    condition = typed.Operation(operator, (compared, typed.Literal(value, compared.type)), BOOLEAN)
    return Filter(of, condition, of.shape)


def joined_shape(left: Node, right: Node, key: Sequence[str] = (), is_table: bool = False) -> Shape:
    columns = [each for side in (left, right) for each in side.shape.columns if each.name != ROWTIME]
    return Shape((*columns, Column(ROWTIME, BIGINT)), tuple(key), is_table)


def stream_join(left: Read, right: Read, kind: JoinKind, within: Within) -> StreamJoin:
    """On the key K."""
    keys = [column(side, f"{side.prefix}K") for side in (left, right)]
    return StreamJoin(left, right, keys[0], keys[1], kind, within, joined_shape(left, right))


def lookup_join(stream: Read, table: Read, kind: JoinKind) -> LookupJoin:
    """On the stream's column G."""
    return LookupJoin(stream, table, column(stream, f"{stream.prefix}G"), kind, joined_shape(stream, table))


def table_join(left: Node, right: Node, kind: JoinKind) -> TableJoin:
    key = right.shape.key if kind is JoinKind.RIGHT else left.shape.key
    return TableJoin(left, right, kind, joined_shape(left, right, key, is_table=True))


def foreign_key_join(left: Read, right: Read, kind: JoinKind) -> ForeignKeyJoin:
    """On the left table's column G."""
    shape = joined_shape(left, right, left.shape.key, is_table=True)
    return ForeignKeyJoin(left, right, column(left, f"{left.prefix}G"), kind, shape)


def picked(rows: Sequence[Row], of: Node, *names: str) -> list[Any]:
    """What rows have in some columns."""
    columns = columns_of(of)
    return [tuple(row[columns.index(name)] for name in names) for row in rows]


def told(rows: Sequence[Row], of: Node, key: Sequence[str], value: Sequence[str]) -> list[tuple[Any, ...]]:
    """The keys and values of rows of a table; the value of one that is gone is None."""
    columns = columns_of(of)
    keys, values = ([columns.index(name) for name in names] for names in (key, value))
    return [
        (*(row[place] for place in keys), None if row[-1][0] else tuple(row[place] for place in values)) for row in rows
    ]


def unexpected(error: Exception) -> None:
    """For plans in which no expression fails. Joins may find nothing."""
    if not isinstance(error, JoinWarning):
        raise AssertionError from error
