"""Plans of queries, made by hand."""

from __future__ import annotations

from collections.abc import Mapping

from streams_sql.functions.library import LIBRARY
from streams_sql.language.statements import Emit, Kind, Window
from streams_sql.plan.nodes import (
    Aggregate,
    AggregateCall,
    Filter,
    Named,
    Node,
    PersistentPlan,
    Project,
    Read,
    Shape,
)
from streams_sql.sources import (
    ROWOFFSET,
    ROWPARTITION,
    ROWTIME,
    WINDOWEND,
    WINDOWSTART,
    Column,
    FormatUse,
    KeyWindow,
    Schema,
    Source,
)
from streams_sql.sql_types import BIGINT, BOOLEAN, DOUBLE, INTEGER, STRING, SqlType
from streams_sql.typed import Column as ColumnOf
from streams_sql.typed import Literal, Operation, Operator, Typed

SECOND = 1000
MINUTE = 60 * SECOND
T0 = 1_700_000_000_000 - 1_700_000_000_000 % MINUTE
ORDER = {"ID": BIGINT, "USER": STRING, "AMOUNT": DOUBLE}
PSEUDO = (Column(ROWTIME, BIGINT), Column(ROWPARTITION, INTEGER), Column(ROWOFFSET, BIGINT))


def source(
    topic: str,
    key: Mapping[str, SqlType],
    value: Mapping[str, SqlType],
    kind: Kind = Kind.STREAM,
    key_window: KeyWindow | None = None,
) -> Source:
    schema = Schema(
        tuple(Column(name, type_) for name, type_ in key.items()),
        tuple(Column(name, type_) for name, type_ in value.items()),
    )
    return Source(topic.upper(), kind, schema, topic, FormatUse("KAFKA"), FormatUse("JSON"), "", key_window=key_window)


def read(of: Source, prefix: str = "") -> Read:
    columns = [Column(prefix + column.name, column.type) for column in (*of.schema.columns(), *PSEUDO)]
    if prefix:
        columns.append(Column(ROWTIME, BIGINT))
    key = tuple(prefix + column.name for column in of.schema.key)
    return Read(of, prefix, Shape(tuple(columns), key, is_table=of.is_table))


def column(node: Node, name: str) -> ColumnOf:
    (found,) = [each for each in node.shape.columns if each.name == name]
    return ColumnOf(found.name, found.type)


def where(node: Node, operator: Operator, name: str, value: object) -> Filter:
    of = column(node, name)
    return Filter(node, Operation(operator, (of, Literal(value, of.type)), BOOLEAN), node.shape)


def project(node: Node, key: tuple[str, ...], **expressions: Typed) -> Project:
    columns = [Column(name, expression.type or BIGINT) for name, expression in expressions.items()]
    named = tuple(Named(name, expression) for name, expression in expressions.items())
    return Project(node, named, Shape((*columns, Column(ROWTIME, BIGINT)), key, node.shape.is_table))


def doubled(topic: str, sink: str) -> PersistentPlan:
    """SELECT K, ID, AMOUNT * 2 AS TWICE FROM topic WHERE AMOUNT > 10"""
    rows = where(read(source(topic, {"K": STRING}, ORDER)), Operator.GREATER, "AMOUNT", 10.0)
    twice = Operation(Operator.MULTIPLY, (column(rows, "AMOUNT"), Literal(2.0, DOUBLE)), DOUBLE)
    node = project(rows, ("K",), K=column(rows, "K"), ID=column(rows, "ID"), TWICE=twice)
    return PersistentPlan(node, source(sink, {"K": STRING}, {"ID": BIGINT, "TWICE": DOUBLE}))


def counted(topic: str, sink: str, window: Window | None = None, emit: Emit = Emit.CHANGES) -> PersistentPlan:
    """SELECT USER, COUNT(*) AS N, SUM(AMOUNT) AS TOTAL FROM topic [WINDOW …] GROUP BY USER EMIT …"""
    rows = read(source(topic, {"K": STRING}, ORDER))
    count = AggregateCall("N", "COUNT", LIBRARY.aggregates["COUNT"].overloads[0], (), (), Column("N", BIGINT))
    sum_of_doubles = next(o for o in LIBRARY.aggregates["SUM"].overloads if o.parameters == (DOUBLE,))
    total = AggregateCall("TOTAL", "SUM", sum_of_doubles, (column(rows, "AMOUNT"),), (), Column("TOTAL", DOUBLE))
    bounds = () if window is None else (Column(WINDOWSTART, BIGINT), Column(WINDOWEND, BIGINT))
    columns = (Column("USER", STRING), count.column, total.column, *bounds, Column(ROWTIME, BIGINT))
    key_window = None if window is None else KeyWindow(window.kind, window.size_ms)
    node = Aggregate(
        rows, (Named("USER", column(rows, "USER")),), (count, total), window, emit, Shape(columns, ("USER",), True)
    )
    values = {"N": BIGINT, "TOTAL": DOUBLE}
    return PersistentPlan(node, source(sink, {"USER": STRING}, values, Kind.TABLE, key_window))


def order(number: int, user: str | None, amount: float, at: int) -> tuple[str, dict[str, object], int]:
    return str(number), {"id": number, "user": user, "Amount": amount}, T0 + at
