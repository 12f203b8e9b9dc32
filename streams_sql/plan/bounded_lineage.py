"""Where the columns of queries that come to an end come from."""

from __future__ import annotations

from streams_sql.plan.bounded import (
    Bounded,
    Chosen,
    Computed,
    Distinct,
    Groups,
    Look,
    Pairs,
    Piped,
    Slice,
    Sorted,
    Together,
)
from streams_sql.plan.lineage import NOTHING, Origin, Origins, origins, union, used


def bounded_origins(node: Bounded) -> Origins:
    """Of all columns that a step gives."""
    match node:
        case Look():
            names = [column.name for column in node.columns]
            return {name: frozenset({Origin(node.source.name, name.removeprefix(node.prefix))}) for name in names}
        case Piped():
            return origins(node.node)
        case Pairs():
            return {**bounded_origins(node.left), **bounded_origins(node.right)}
        case Computed():
            below = bounded_origins(node.input)
            return {named.name: used(named.expression, below) for named in node.named}
        case Groups():
            below = bounded_origins(node.input)
            found = {named.name: used(named.expression, below) for named in node.keys}
            calls = {
                call.column.name: union(used(argument, below) for argument in call.arguments)
                for call in node.aggregates
            }
            return {**found, **calls}
        case Together():
            sides = [(each.columns, bounded_origins(each)) for each in node.inputs]
            return {
                column.name: union(found.get(columns[place].name, NOTHING) for columns, found in sides)
                for place, column in enumerate(node.columns)
            }
        case Chosen() | Distinct() | Sorted() | Slice():
            return bounded_origins(node.input)
