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
from streams_sql.evaluation.straight_line import ORIGIN, ROW, ColumnTexts, NotPlain, Texts
from streams_sql.evaluation.straight_line import made as made_function
from streams_sql.plan.column_batch import ColumnBatch
from streams_sql.plan.conjuncts import columns_in
from streams_sql.plan.nodes import Filter, FlatMap, Node, Project, Rekey, UnionAll
from streams_sql.typed import Column, Typed

Origin: TypeAlias = tuple[bool, int, int]
"""Whether the row has no value, and the partition and offset of its record. A plain tuple: one is made for each record."""

Row: TypeAlias = tuple[Any, ...]
"""The values of the columns, then an Origin."""

Batch: TypeAlias = "list[Row] | ColumnBatch"
"""Rows as they were read."""

OnError: TypeAlias = Callable[[Exception], None]
Step: TypeAlias = Callable[[list[Row]], list[Row]]
Operator: TypeAlias = Filter | Project | FlatMap | Rekey

_origin = itemgetter(-1)


@dataclass(frozen=True, slots=True)
class Chain:
    """Operators without state, first to last, above a node that is read or has state."""

    base: Node
    operators: tuple[Operator, ...]


def chain_of(node: Node) -> Chain:
    operators: list[Operator] = []
    while isinstance(node, Filter | Project | FlatMap | Rekey):
        operators.append(node)
        node = node.input
    return Chain(node, tuple(reversed(operators)))


def chains_of(node: Node) -> list[Chain]:
    """The same where streams are put together: a chain for each of them, with what is done with them all behind it."""
    chain = chain_of(node)
    if not isinstance(chain.base, UnionAll):
        return [chain]
    below = [each for branch in chain.base.inputs for each in chains_of(branch)]
    return [Chain(each.base, (*each.operators, *chain.operators)) for each in below]


def makes_keys(node: Node) -> bool:
    """Whether PARTITION BY made the keys of all rows."""
    return all(any(isinstance(each, Rekey) for each in chain.operators) for chain in chains_of(node))


def columns_of(node: Node) -> tuple[str, ...]:
    return tuple(column.name for column in node.shape.columns)


def compile_steps(operators: Iterable[Operator], on_error: OnError) -> list[Step]:
    """What the operators do with the rows of those before them. An error in an expression gives NULL and is told. Filters and the
    projection above them are one step of generated code."""
    return [_group_step(group, on_error) for group in _grouped(operators)]


def compile_batches(operators: Iterable[Operator], on_error: OnError) -> Callable[[Batch], list[Row]]:
    """The same for rows that may come as columns: then rows are made of those alone that pass the first filters."""
    groups = _grouped(operators)
    steps = [_group_step(group, on_error) for group in groups]
    first = _column_step(groups[0], on_error) if groups else ColumnBatch.rows

    def run(batch: Batch) -> list[Row]:
        if isinstance(batch, ColumnBatch):
            return run_steps(steps[1:], first(batch))
        return run_steps(steps, batch)

    return run


def reference_steps(operators: Iterable[Operator], on_error: OnError) -> list[Step]:
    """The same with closures alone, operator by operator: what generated code must agree with."""
    return [_step(operator, on_error) for operator in operators]


def run_steps(steps: Sequence[Step], rows: list[Row]) -> list[Row]:
    for step in steps:
        rows = step(rows)
    return rows


# -- steps of generated code ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Group:
    """Operators that are one step: filters of a stream and what makes new rows of those that pass, or one operator by itself."""

    filters: tuple[Filter, ...]
    last: Operator | None

    @property
    def operators(self) -> tuple[Operator, ...]:
        return self.filters if self.last is None else (*self.filters, self.last)

    @property
    def choice(self) -> list[int] | None:
        """The places of the columns, where the group does nothing but choose some."""
        if self.filters or not isinstance(self.last, Project | Rekey):
            return None
        below, expressions = columns_of(self.last.input), _expressions(self.last)
        chosen = [below.index(each.name) for each in expressions if isinstance(each, Column)]
        return chosen if len(chosen) == len(expressions) else None

    @property
    def is_generated(self) -> bool:
        return bool(self.filters) or (isinstance(self.last, Project | Rekey) and self.choice is None)


def _grouped(operators: Iterable[Operator]) -> list[_Group]:
    groups: list[_Group] = []
    filters: list[Filter] = []
    for operator in operators:
        match operator:
            case Filter() if not operator.shape.is_table:
                filters.append(operator)
                continue
            case Project() | Rekey():
                groups.append(_Group(tuple(filters), operator))
            case _:
                groups += [_Group(tuple(filters), None)] if filters else []
                groups.append(_Group((), operator))
        filters = []
    return [*groups, _Group(tuple(filters), None)] if filters else groups


def _group_step(group: _Group, on_error: OnError) -> Step:
    if not group.is_generated:
        (operator,) = group.operators
        return _step(operator, on_error)
    texts = Texts()
    conditions = [f"not {ROW}[-1][0]"] if group.filters else []
    conditions += _conditions(group, texts, on_error)
    made = _made(group, texts, on_error, f"{ROW}[-1]") or ROW
    generated = _generated("rows", ROW, "rows", conditions, made, texts)
    reference = reference_steps(group.operators, on_error)

    def run(rows: list[Row]) -> list[Row]:
        try:
            passed: list[Row] = generated(rows)
        except Exception:  # noqa: BLE001 - a value that is not of its type: closures say for each row what becomes of it
            return run_steps(reference, rows)
        return passed

    return run


def _column_step(group: _Group, on_error: OnError) -> Callable[[ColumnBatch], list[Row]]:
    if (choice := group.choice) is not None:
        return lambda batch: batch.chosen(choice)
    if not group.is_generated:
        step = _group_step(group, on_error)
        return lambda batch: step(batch.rows())
    texts = ColumnTexts()
    conditions = _conditions(group, texts, on_error)
    made = _made(group, texts, on_error, ORIGIN) or texts.row(columns_of(group.filters[0]))
    used = sorted(texts.used)
    names = ", ".join([*map(texts.column, used), "partition", "offset"])
    values = ", ".join([*(f"columns[{place}]" for place in used), "partitions", "offsets"])
    generated = _generated("columns, partitions, offsets", names, f"zip({values})", conditions, made, texts)
    reference = reference_steps(group.operators, on_error)

    def run(batch: ColumnBatch) -> list[Row]:
        try:
            passed: list[Row] = generated(batch.columns, batch.partitions, batch.offsets)
        except Exception:  # noqa: BLE001 - as for rows
            return run_steps(reference, batch.rows())
        return passed

    return run


def _generated(
    parameters: str, names: str, values: str, conditions: Sequence[str], made: str, texts: Texts
) -> Callable[..., Any]:
    condition = f"        if {' and '.join(conditions)}:\n    " if conditions else ""
    source = (
        f"def step({parameters}):\n    made = []\n    add = made.append\n    for {names} in {values}:\n"
        f"{condition}        add({made})\n    return made\n"
    )
    return made_function(source, "step", texts.constants)


def _conditions(group: _Group, texts: Texts, on_error: OnError) -> list[str]:
    return [_text(each.condition, each, texts, on_error) for each in group.filters]


def _made(group: _Group, texts: Texts, on_error: OnError, origin: str) -> str | None:
    """The row that is made of one that has passed; None where that is the row as it is."""
    if not isinstance(group.last, Project | Rekey):
        return None
    last, is_of_rows = group.last, origin != ORIGIN
    made = [_text(each, last, texts, on_error) for each in _expressions(last)]
    # Columns hold no tombstones.
    guarded = _needing_values(last) if is_of_rows else frozenset[int]()
    columns = [
        f"(None if {origin}[0] else {text}), " if place in guarded else f"{text}, " for place, text in enumerate(made)
    ]
    return f"({''.join(columns)}{origin})"


def _text(typed: Typed, operator: Filter | Project | Rekey, texts: Texts, on_error: OnError) -> str:
    below = columns_of(operator.input)
    try:
        return texts.of(typed, below).source
    except NotPlain:
        return texts.applied(compile_column(typed, below, on_error), below).source


# -- steps of closures ----------------------------------------------------------------------------


def _step(operator: Operator, on_error: OnError) -> Step:
    below = columns_of(operator.input)
    match operator:
        case Filter():
            condition = compile_column(operator.condition, below, on_error)
            return _marking(condition) if operator.shape.is_table else _filtering(condition)
        case Project() | Rekey():
            guarded = _needing_values(operator)
            functions = [compile_column(each, below, on_error) for each in _expressions(operator)]
            return _projecting([_guarded(each) if place in guarded else each for place, each in enumerate(functions)])
        case FlatMap():
            return _flattening([compile_column(call, below, on_error) for _, call in operator.functions])


def _filtering(condition: Evaluate) -> Step:
    return lambda rows: [row for row in rows if not row[-1][0] and condition(row)]


def _marking(condition: Evaluate) -> Step:
    """A row of a table that does not pass is deleted from what the filter gives: it may have passed before."""

    def mark(rows: list[Row]) -> list[Row]:
        return [row if row[-1][0] or condition(row) else (*row[:-1], (True, *row[-1][1:])) for row in rows]

    return mark


def _expressions(operator: Project | Rekey) -> list[Typed]:
    """One for each column of the operator: what it makes, and as they are those that go along."""
    named = operator.columns if isinstance(operator, Project) else operator.key
    made: Mapping[str, Typed] = {column.name: column.expression for column in named}
    return [made.get(column.name) or Column(column.name, column.type) for column in operator.shape.columns]


def _needing_values(operator: Project | Rekey) -> frozenset[int]:
    """The places of those parts of a new key that are NULL for a tombstone: without a value, an expression is evaluated only if all of
    its columns are of the old key. `NAME IS NULL` would be true otherwise."""
    if isinstance(operator, Project):
        return frozenset()
    old_key = set(operator.input.shape.key)
    below = columns_of(operator.input)
    needing = {named.name for named in operator.key if not old_key.issuperset(columns_in(named.expression))}
    # Columns that exist already stay as they are: ROWTIME is the record's timestamp as well.
    needing -= set(below)
    return frozenset(place for place, column in enumerate(operator.shape.columns) if column.name in needing)


def _guarded(function: Evaluate) -> Evaluate:
    return lambda row: None if row[-1][0] else function(row)


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
