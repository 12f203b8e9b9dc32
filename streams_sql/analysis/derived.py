"""Queries in FROM: what they give is a stream or a table like any other, whose rows come from no topic of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from streams_sql import typed
from streams_sql.analysis.coercion import converted, implicitly_castable
from streams_sql.analysis.column_names import ColumnNaming
from streams_sql.analysis.outputs import AnalysedQuery, Output, check_names
from streams_sql.language.statements import Kind
from streams_sql.plan.nodes import Named, Node, Project, Shape, UnionAll
from streams_sql.problem import Position, SqlProblem
from streams_sql.sources import PSEUDO_COLUMNS, ROWTIME, WINDOW_BOUNDS, Column, KeyWindow, Schema, Source
from streams_sql.sql_types import SqlType


@dataclass(frozen=True, slots=True)
class _Branch:
    """The rows that the outputs of one query are made from, and these."""

    node: Node
    outputs: tuple[Output, ...]


@dataclass(frozen=True, slots=True)
class Derived:
    """`source` has no topic: it says which columns there are and which of them are the key. Those that are `hidden` were not selected:
    a table needs them all the same."""

    source: Source
    branches: tuple[_Branch, ...]
    hidden: frozenset[str] = frozenset()
    has_time: ClassVar[bool] = True

    def node(self, prefix: str) -> Node:
        """The rows, with a prefix before the names of their columns. ROWTIME stands beside the one with it, too."""
        shape = self._shape(prefix)
        rows = [Project(branch.node, self._columns(branch, prefix), shape) for branch in self.branches]
        return rows[0] if len(rows) == 1 else UnionAll(tuple(rows), shape)

    def _along(self) -> dict[str, SqlType]:
        bounds = {} if self.source.key_window is None else WINDOW_BOUNDS
        return {**bounds, ROWTIME: PSEUDO_COLUMNS[ROWTIME]}

    def _columns(self, branch: _Branch, prefix: str) -> tuple[Named, ...]:
        made = [Named(prefix + output.name, output.value) for output in branch.outputs]
        if prefix:
            made += [Named(prefix + name, typed.Column(name, type_)) for name, type_ in self._along().items()]
        return tuple(made)

    def _shape(self, prefix: str) -> Shape:
        schema, along = self.source.schema, self._along()
        columns = [Column(prefix + column.name, column.type) for column in (*schema.key, *schema.value)]
        columns += [Column(prefix + name, type_) for name, type_ in along.items()]
        if prefix:
            columns.append(Column(ROWTIME, along[ROWTIME]))
        key, bounds = (
            tuple(prefix + column.name for column in schema.key),
            tuple(prefix + name for name in WINDOW_BOUNDS),
        )
        return Shape(tuple(columns), key, self.source.is_table, self.source.key_window, bounds)


def derived_query(name: str, analysed: AnalysedQuery) -> Derived:
    """What one query gives."""
    check_names(Column(output.name, output.type) for output in analysed.outputs)
    node, keys = analysed.node, analysed.relation.keys
    places = [next((at for at, each in enumerate(analysed.outputs) if each.key == key), None) for key in keys]
    hidden: frozenset[str] = frozenset()
    outputs = list(analysed.outputs)
    if None in places and node.shape.is_table:
        naming = ColumnNaming(output.name for output in outputs)
        for at, key in enumerate(keys):
            if places[at] is None and key.value.type is not None:
                taken = key.name in {output.name for output in outputs}
                added = naming.synthetic_key() if taken else key.name
                places[at] = len(outputs)
                outputs.append(Output(added, key.value, key.value.type, key))
                hidden |= {added}
    # A stream that has lost a part of its key has none.
    kept = [] if None in places else [place for place in places if place is not None]
    return _derived(name, [analysed], [outputs], kept, hidden)


def derived_union(name: str, analysed: Sequence[AnalysedQuery], position: Position | None) -> Derived:
    """The rows of several queries. Names are those of the first one; what is the key in all of them is the key."""
    first = analysed[0]
    check_names(Column(output.name, output.type) for output in first.outputs)
    for number, each in enumerate(analysed, 1):
        if each.node.shape.is_table:
            raise SqlProblem(
                f"UNION ALL puts streams together, and query {number} of it gives a table: two tables may have rows of the same key, of "
                "which a table has but one.",
                position,
            )
    check_width([len(each.outputs) for each in analysed], position)
    columns = [_united(column, position) for column in zip(*(each.outputs for each in analysed), strict=True)]
    keys = {tuple(_key_places(each)) for each in analysed}
    windows = {each.node.shape.key_window for each in analysed}
    kept = list(keys.pop()) if len(keys) == len(windows) == 1 else []
    return _derived(name, analysed, [list(outputs) for outputs in zip(*columns, strict=True)], kept, frozenset())


def _key_places(analysed: AnalysedQuery) -> list[int]:
    keys = analysed.relation.keys
    found = [next((at for at, each in enumerate(analysed.outputs) if each.key == key), -1) for key in keys]
    return [] if -1 in found else found


def widest(name: str, types: Sequence[SqlType], position: Position | None) -> SqlType:
    """The type of a column of a union: the one that holds all others."""
    common = next((wanted for wanted in types if all(implicitly_castable(each, wanted) for each in types)), None)
    if common is None:
        shown = ", ".join(dict.fromkeys(map(str, types)))
        raise SqlProblem(f"Column {name} of UNION has several types: {shown}. CAST makes them the same.", position)
    return common


def check_width(counts: Sequence[int], position: Position | None) -> None:
    """Whether queries that are put together have equally many columns."""
    for number, count in enumerate(counts, 1):
        if count != counts[0]:
            raise SqlProblem(
                f"The queries of UNION must have the same columns: the first has {counts[0]}, query {number} has {count}.",
                position,
            )


def _united(outputs: Sequence[Output], position: Position | None) -> list[Output]:
    name = outputs[0].name
    common = widest(name, [output.type for output in outputs], position)
    return [replace(each, name=name, value=converted(each.value, common), type=common) for each in outputs]


def _derived(
    name: str,
    analysed: Sequence[AnalysedQuery],
    outputs: Sequence[Sequence[Output]],
    key: Sequence[int],
    hidden: frozenset[str],
) -> Derived:
    """`key` are the places of the columns of the key."""
    order = [*key, *(place for place in range(len(outputs[0])) if place not in key)]
    rows = tuple(
        _Branch(each.node, tuple(of[place] for place in order)) for each, of in zip(analysed, outputs, strict=True)
    )
    columns = [Column(output.name, output.type) for output in rows[0].outputs]
    first, shape = analysed[0].first_source, analysed[0].node.shape
    window: KeyWindow | None = shape.key_window if key or shape.is_table else None
    source = Source(
        name=name,
        kind=Kind.TABLE if shape.is_table else Kind.STREAM,
        schema=Schema(tuple(columns[: len(key)]), tuple(columns[len(key) :])),
        topic="",
        key_format=first.key_format,
        value_format=first.value_format,
        statement="",
        key_window=window,
        window=None if window is None else analysed[0].query.window or first.window,
    )
    return Derived(source, rows, hidden)
