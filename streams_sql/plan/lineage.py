"""Where the columns of a plan come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from streams_sql.plan.conjuncts import columns_in
from streams_sql.plan.nodes import (
    Aggregate,
    Filter,
    FlatMap,
    ForeignKeyJoin,
    LookupJoin,
    Node,
    Project,
    PullPlan,
    Read,
    Rekey,
    StreamJoin,
    TableJoin,
    UnionAll,
)
from streams_sql.sources import ROWTIME, WINDOW_BOUNDS
from streams_sql.typed import Typed


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """A column of a source."""

    source: str
    column: str


Origins: TypeAlias = Mapping[str, frozenset[Origin]]
"""By the names of columns. Conditions and keys of joins do not count: what counts is what a value is worked out from."""

NOTHING: frozenset[Origin] = frozenset()


def origins(node: Node) -> Origins:
    """Of all columns of a relation."""
    match node:
        case Read():
            names = [column.name for column in node.shape.columns]
            return {name: frozenset({Origin(node.source.name, name.removeprefix(node.prefix))}) for name in names}
        case Filter():
            return origins(node.input)
        case Project():
            return _projected(node)
        case FlatMap():
            below = origins(node.input)
            return {**below, **{name: used(call, below) for name, call in node.functions}}
        case Rekey():
            below = origins(node.input)
            return {**below, **{named.name: used(named.expression, below) for named in node.key}}
        case Aggregate():
            return _aggregated(node)
        case UnionAll():
            sides = [(each, origins(each)) for each in node.inputs]
            return {
                column.name: union(found.get(each.shape.columns[place].name, NOTHING) for each, found in sides)
                for place, column in enumerate(node.shape.columns)
            }
    return _joined(node)


def pull_origins(plan: PullPlan) -> Origins:
    source = plan.source.name
    return {
        named.name: frozenset(Origin(source, name) for name in columns_in(named.expression)) for named in plan.columns
    }


def _projected(node: Project) -> Origins:
    below = origins(node.input)
    along = {name: below[name] for name in (ROWTIME, *WINDOW_BOUNDS) if name in below}
    return {**along, **{named.name: used(named.expression, below) for named in node.columns}}


def _aggregated(node: Aggregate) -> Origins:
    below = origins(node.input)
    found = {named.name: used(named.expression, below) for named in node.keys}
    for call in node.aggregates:
        found[call.column.name] = union(used(argument, below) for argument in call.arguments)
    times = below.get(ROWTIME, NOTHING)
    return {**found, **dict.fromkeys((ROWTIME, *WINDOW_BOUNDS), times)}


def _joined(node: StreamJoin | LookupJoin | TableJoin | ForeignKeyJoin) -> Origins:
    sides = (node.stream, node.table) if isinstance(node, LookupJoin) else (node.left, node.right)
    left, right = map(origins, sides)
    found = {**left, **right, ROWTIME: left.get(ROWTIME, NOTHING) | right.get(ROWTIME, NOTHING)}
    keys = _keys(node, left, right)
    # The key of a join has a column of its own where neither side has one that is never NULL.
    return {**found, **{name: keys for name in node.shape.key if name not in found}}


def _keys(
    node: StreamJoin | LookupJoin | TableJoin | ForeignKeyJoin, left: Origins, right: Origins
) -> frozenset[Origin]:
    match node:
        case StreamJoin():
            return used(node.left_key, left) | used(node.right_key, right)
        case LookupJoin():
            return used(node.stream_key, left)
        case ForeignKeyJoin():
            return used(node.foreign_key, left)
    sides = ((node.left, left), (node.right, right))
    return union(found.get(name, NOTHING) for side, found in sides for name in side.shape.key)


def used(expression: Typed, below: Origins) -> frozenset[Origin]:
    """What an expression over these columns is worked out from."""
    return union(below.get(name, NOTHING) for name in columns_in(expression))


def union(parts: Iterable[frozenset[Origin]]) -> frozenset[Origin]:
    return frozenset().union(*parts)
