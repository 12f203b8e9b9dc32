"""Operators without state on lists of rows, as the in-process host and Spark's Python workers run them.

A row here is a tuple of the values of its relation's columns, and behind them its origin. A record without a value (a tombstone of a
table) is a row too: filters of streams drop it, projections keep it, and a sink writes it as it came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from operator import itemgetter
from typing import Any, TypeAlias

from streams_sql.evaluation.comparisons import Evaluate
from streams_sql.evaluation.compiler import compile_column
from streams_sql.plan.nodes import Filter, FlatMap, Named, Node, Project, Rekey
from streams_sql.typed import Column, Typed

Origin: TypeAlias = tuple[bool, int, int]
"""Whether the row has no value, and the partition and offset of its record. A plain tuple: one is made for each record."""

Row: TypeAlias = tuple[Any, ...]
"""The values of the columns, then an Origin."""

OnError: TypeAlias = Callable[[Exception], None]
Step: TypeAlias = Callable[[list[Row]], list[Row]]

_origin = itemgetter(-1)


@dataclass(frozen=True, slots=True)
class Chain:
    """Operators without state, first to last, above a node that is read or has state."""

    base: Node
    operators: tuple[Filter | Project | FlatMap | Rekey, ...]


def chain_of(node: Node) -> Chain:
    operators: list[Filter | Project | FlatMap | Rekey] = []
    while isinstance(node, Filter | Project | FlatMap | Rekey):
        operators.append(node)
        node = node.input
    return Chain(node, tuple(reversed(operators)))


def columns_of(node: Node) -> tuple[str, ...]:
    return tuple(column.name for column in node.shape.columns)


def compile_steps(operators: Iterable[Filter | Project | FlatMap | Rekey], on_error: OnError) -> list[Step]:
    """What each operator does with the rows of the one before it. An error in an expression gives NULL and is told."""
    return [_step(operator, on_error) for operator in operators]


def run_steps(steps: Sequence[Step], rows: list[Row]) -> list[Row]:
    for step in steps:
        rows = step(rows)
    return rows


def _step(operator: Filter | Project | FlatMap | Rekey, on_error: OnError) -> Step:
    below = columns_of(operator.input)
    match operator:
        case Filter():
            condition = compile_column(operator.condition, below, on_error)
            return _marking(condition) if operator.shape.is_table else _filtering(condition)
        case Project():
            return _projecting(_computed(operator.columns, operator, below, on_error))
        case Rekey():
            return _projecting(_computed(operator.key, operator, below, on_error))
        case FlatMap():
            return _flattening([compile_column(call, below, on_error) for _, call in operator.functions])


def _filtering(condition: Evaluate) -> Step:
    return lambda rows: [row for row in rows if not row[-1][0] and condition(row)]


def _marking(condition: Evaluate) -> Step:
    """A row of a table that does not pass is deleted from what the filter gives: it may have passed before."""

    def mark(rows: list[Row]) -> list[Row]:
        return [row if row[-1][0] or condition(row) else (*row[:-1], (True, *row[-1][1:])) for row in rows]

    return mark


def _computed(
    named: Sequence[Named], operator: Project | Rekey, below: Sequence[str], on_error: OnError
) -> list[Evaluate]:
    """A function for each column of the operator: what it makes, and as they are those that go along."""
    made: Mapping[str, Typed] = {column.name: column.expression for column in named}
    functions = []
    for column in operator.shape.columns:
        expression = made.get(column.name) or Column(column.name, column.type)
        functions.append(compile_column(expression, below, on_error))
    return functions


def _projecting(functions: Sequence[Evaluate]) -> Step:
    def project(rows: list[Row]) -> list[Row]:
        columns = [map(function, rows) for function in functions]
        return list(zip(*columns, map(_origin, rows), strict=True))

    return project


def _flattening(functions: Sequence[Evaluate]) -> Step:
    def flatten(rows: list[Row]) -> list[Row]:
        return [flat for row in rows if not row[-1][0] for flat in _flat_rows(row, functions)]

    return flatten


def _flat_rows(row: Row, functions: Sequence[Evaluate]) -> Iterator[Row]:
    values, origin = row[:-1], row[-1]
    for made in zip_longest(*[function(row) or () for function in functions]):
        yield (*values, *made, origin)
