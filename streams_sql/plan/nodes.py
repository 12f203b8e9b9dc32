"""The logical plan: what a query does, in operators that both hosts have.

Every relation has named columns, ROWTIME always among them. The columns of a joined source are named `ALIAS_COLUMN`. A row is a tuple
of the values of `columns` in that order in process, and a row of a data frame with those names on Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from streams_sql.function_declaration import AggregateOverload
from streams_sql.language.statements import Emit, JoinKind, Window, Within
from streams_sql.plan.spans import Span
from streams_sql.sources import WINDOW_BOUNDS, Column, KeyWindow, Source
from streams_sql.typed import Call, Typed


@dataclass(frozen=True, slots=True)
class Named:
    name: str
    expression: Typed


@dataclass(frozen=True, slots=True)
class Shape:
    """What a relation looks like: all columns, which of them are the key, and the window that the key carries, with the columns that its
    bounds are in."""

    columns: tuple[Column, ...]
    key: tuple[str, ...]
    is_table: bool = False
    key_window: KeyWindow | None = None
    bounds: tuple[str, ...] = tuple(WINDOW_BOUNDS)

    @property
    def whole_key(self) -> tuple[str, ...]:
        """The columns of the key, and the bounds of the window that it carries."""
        return self.key if self.key_window is None else (*self.key, *self.bounds)


@dataclass(frozen=True, slots=True)
class Read:
    """The records of a source, decoded: key, value, header and pseudo columns, each with `prefix` before its name."""

    source: Source
    prefix: str
    shape: Shape


@dataclass(frozen=True, slots=True)
class Filter:
    """Rows whose condition is true."""

    input: Node
    condition: Typed
    shape: Shape


@dataclass(frozen=True, slots=True)
class Project:
    """New columns from those of the input. ROWTIME goes along by itself, and WINDOWSTART and WINDOWEND where the key carries a window,
    unless columns of these names are made."""

    input: Node
    columns: tuple[Named, ...]
    shape: Shape


@dataclass(frozen=True, slots=True)
class FlatMap:
    """A row for each element of what table functions give, side by side; the shorter ones are filled up with NULL. A row for which
    all give nothing is gone. The input's columns stay, the functions' come after them."""

    input: Node
    functions: tuple[tuple[str, Call], ...]
    shape: Shape


@dataclass(frozen=True, slots=True)
class Rekey:
    """The same rows under another key, whose columns are added."""

    input: Node
    key: tuple[Named, ...]
    shape: Shape


@dataclass(frozen=True, slots=True)
class UnionAll:
    """The rows of several streams, whose columns are the same in the same order."""

    inputs: tuple[Node, ...]
    shape: Shape


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """`constants` are the values of the parameters that must be literals."""

    name: str
    function: str
    overload: AggregateOverload
    arguments: tuple[Typed, ...]
    constants: tuple[object, ...]
    column: Column

    @property
    def native_form(self) -> str | None:
        """The call in Spark's SQL; None where Spark cannot compute it."""
        return self.overload.native_form([argument.type for argument in self.arguments])

    @property
    def is_unordered(self) -> bool:
        """Whether Spark computes it, and from values in any order."""
        form = self.native_form
        return form is not None and "{order}" not in form


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One row for each group (and window), which changes with its input. Columns: the keys, the aggregates, WINDOWSTART and WINDOWEND
    where there is a window, ROWTIME (the latest of its input). A row with a NULL among its keys is passed over, unless `has_null_groups`."""

    input: Node
    keys: tuple[Named, ...]
    aggregates: tuple[AggregateCall, ...]
    window: Window | None
    emit: Emit
    shape: Shape
    has_null_groups: bool = False


@dataclass(frozen=True, slots=True)
class StreamJoin:
    """Pairs of rows whose keys are equal and whose ROWTIMEs are near enough. ROWTIME is the later of both."""

    left: Node
    right: Node
    left_key: Typed
    right_key: Typed
    kind: JoinKind
    within: Within
    shape: Shape
    left_bounds: tuple[Typed, ...] = ()
    right_bounds: tuple[Typed, ...] = ()
    """The bounds of windows, where keys carry them: they must be equal as well."""


@dataclass(frozen=True, slots=True)
class LookupJoin:
    """Each row of a stream with the row of a table that had its key at that time; LEFT keeps those without one."""

    stream: Node
    table: Node
    stream_key: Typed
    kind: JoinKind
    shape: Shape


@dataclass(frozen=True, slots=True)
class TableJoin:
    """Rows of two tables with the same key. ROWTIME is the later of both. A row that is deleted has its key in the columns of both."""

    left: Node
    right: Node
    kind: JoinKind
    shape: Shape


@dataclass(frozen=True, slots=True)
class ForeignKeyJoin:
    """Each row of a table with the row of another one whose key it names; LEFT keeps those without one. The key is that of `left`."""

    left: Node
    right: Node
    foreign_key: Typed
    kind: JoinKind
    shape: Shape


Node: TypeAlias = (
    Read
    | Filter
    | Project
    | FlatMap
    | Rekey
    | UnionAll
    | Aggregate
    | StreamJoin
    | LookupJoin
    | TableJoin
    | ForeignKeyJoin
)


def inputs_of(node: Node) -> tuple[Node, ...]:
    """What a node takes its rows from."""
    match node:
        case Read():
            return ()
        case UnionAll():
            return node.inputs
        case StreamJoin() | TableJoin() | ForeignKeyJoin():
            return (node.left, node.right)
        case LookupJoin():
            return (node.stream, node.table)
    return (node.input,)


def reads_of(node: Node) -> Iterator[Read]:
    """Everything that a plan reads, place by place."""
    if isinstance(node, Read):
        yield node
    for below in inputs_of(node):
        yield from reads_of(below)


@dataclass(frozen=True, slots=True)
class PersistentPlan:
    """A query whose rows are written to the topic of `sink`. The columns of `node` have the names of those of the sink's schema. While it
    is built in the place of another one, its rows go to a topic of its own, `shadow`."""

    node: Node
    sink: Source
    shadow: str | None = None

    @property
    def target(self) -> str:
        """The topic that is written."""
        return self.shadow or self.sink.topic


@dataclass(frozen=True, slots=True)
class PushPlan:
    """A query whose rows go to whoever asked, as they change, until `limit` of them. `is_local`: Spark cannot run it. `spans` are the parts
    of topics that it begins with, where it says so."""

    node: Node
    columns: tuple[Column, ...]
    limit: int | None
    is_local: bool = False
    spans: Mapping[str, Span] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PullPlan:
    """A look at what a table (or the records of a stream) holds now."""

    source: Source
    condition: Typed | None
    columns: tuple[Named, ...]
    keys: tuple[bool, ...]
    """Which of the columns are keys of the source as they stand."""
    limit: int | None


@dataclass(frozen=True, slots=True)
class InsertRow:
    """An expression without columns for each column of the key and of the value. Without `rowtime`, the record is of now."""

    key: tuple[Typed, ...]
    value: tuple[Typed, ...]
    rowtime: Typed | None


@dataclass(frozen=True, slots=True)
class InsertPlan:
    """Records for the topic of `target`."""

    target: Source
    rows: tuple[InsertRow, ...]


@dataclass(frozen=True, slots=True)
class DeletePlan:
    """Rows of `target` that are to go: an expression without columns for each column of each key."""

    target: Source
    keys: tuple[tuple[Typed, ...], ...]
