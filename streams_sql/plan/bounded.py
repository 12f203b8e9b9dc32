"""Plans of queries whose rows come to an end: what tables hold now, grouped, joined and in an order.

A row is a tuple of the values of `columns`, in that order. Each step takes pages of rows from those below it and gives pages of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from streams_sql.language.statements import JoinKind
from streams_sql.plan.nodes import AggregateCall, Named, Node, PullPlan
from streams_sql.plan.spans import Span
from streams_sql.sources import Column, Source
from streams_sql.typed import Typed


@dataclass(frozen=True, slots=True)
class OrderBy:
    """By a column of the rows below. NULL comes before all values or after them; what is no number is more than all numbers."""

    column: str
    is_descending: bool
    has_nulls_first: bool


@dataclass(frozen=True, slots=True)
class Look:
    """Rows of a table, or records of a stream, for which the condition is true: those columns of it that are needed, under their names
    with `prefix` before them. The condition has the names without it.

    `first` of `order`: no more rows are needed than so many of the first ones in that order (None: all of them). `is_ordered` asks for
    rows in the order in which they were written."""

    source: Source
    prefix: str
    columns: tuple[Column, ...]
    condition: Typed | None = None
    order: tuple[OrderBy, ...] = ()
    first: int | None = None
    is_ordered: bool = False


@dataclass(frozen=True, slots=True)
class Piped:
    """Rows of operators that know time, up to the ends of their topics: windows, joins of streams, tables as they were. `columns` are the
    first of the node's. Where they are rows of a table, those with the same values in the columns of `row_key` take each other's place."""

    node: Node
    columns: tuple[Column, ...]
    row_key: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Pairs:
    """A join. `equal` are pairs of expressions, one of the left side and one of the right, that must be equal; `condition` is what else
    must be true of a pair."""

    left: Bounded
    right: Bounded
    kind: JoinKind
    equal: tuple[tuple[Typed, Typed], ...]
    condition: Typed | None

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*self.left.columns, *self.right.columns)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Rows for which a condition is true."""

    input: Bounded
    condition: Typed

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


@dataclass(frozen=True, slots=True)
class Groups:
    """One row for each group, NULL being a value like others; without keys one row in any case."""

    input: Bounded
    keys: tuple[Named, ...]
    aggregates: tuple[AggregateCall, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*_columns(self.keys), *(call.column for call in self.aggregates))


@dataclass(frozen=True, slots=True)
class Computed:
    input: Bounded
    named: tuple[Named, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return _columns(self.named)


@dataclass(frozen=True, slots=True)
class Distinct:
    """Of rows that are the same in all columns, the first."""

    input: Bounded

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


@dataclass(frozen=True, slots=True)
class Sorted:
    """`first`: no more rows are needed."""

    input: Bounded
    order: tuple[OrderBy, ...]
    first: int | None

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


@dataclass(frozen=True, slots=True)
class Slice:
    """`limit` rows (None: all) after the first `offset`."""

    input: Bounded
    limit: int | None
    offset: int

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


@dataclass(frozen=True, slots=True)
class Together:
    """The rows of all inputs, one after the other. Their columns are the same."""

    inputs: tuple[Bounded, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.inputs[0].columns


Bounded: TypeAlias = Look | Piped | Pairs | Chosen | Groups | Computed | Distinct | Sorted | Slice | Together


@dataclass(frozen=True, slots=True)
class BoundedPlan:
    """`keys` tells which of the columns are keys of the source as they stand."""

    node: Bounded
    keys: tuple[bool, ...]
    limit: int | None

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.node.columns

    @property
    def looks(self) -> tuple[Look, ...]:
        return tuple(looks_of(self.node))

    @property
    def sources(self) -> tuple[Source, ...]:
        return tuple(look.source for look in self.looks)


@dataclass(frozen=True, slots=True)
class ScanPlan:
    """A look at the records that topics have now; `asked` are the parts of them that the query asks for."""

    plan: PullPlan | BoundedPlan
    asked: Mapping[str, Span]

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.plan.columns if isinstance(self.plan, BoundedPlan) else _columns(self.plan.columns)


def looks_of(node: Bounded) -> Iterator[Look]:
    match node:
        case Look():
            yield node
        case Piped():
            return
        case Pairs():
            yield from looks_of(node.left)
            yield from looks_of(node.right)
        case Together():
            for each in node.inputs:
                yield from looks_of(each)
        case _:
            yield from looks_of(node.input)


def _columns(named: tuple[Named, ...]) -> tuple[Column, ...]:
    return tuple(Column(each.name, each.expression.type) for each in named if each.expression.type is not None)
