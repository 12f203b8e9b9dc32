"""Statements as they were written. Names are upper case already unless they were quoted; properties keep their case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from streams_sql.language.expressions import Expression, Literal, TypeName
from streams_sql.language.external_statements import (
    AssertSchema,
    AssertTopic,
    CreateConnector,
    DescribeConnector,
    DropConnector,
    ShowConnectorPlugins,
    ShowConnectors,
)
from streams_sql.language.function_statements import CreateFunction, DropFunction
from streams_sql.language.table_statements import CreateIndex, DeleteRows, DropIndex
from streams_sql.problem import Position

Properties: TypeAlias = Mapping[str, Literal]
"""WITH (NAME = literal, …): names in upper case."""


class Kind(Enum):
    STREAM = "STREAM"
    TABLE = "TABLE"


class ColumnRole(Enum):
    VALUE = "VALUE"
    KEY = "KEY"
    PRIMARY_KEY = "PRIMARY KEY"
    HEADERS = "HEADERS"


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """`header` names the one header of HEADER('name'); without it, a column of headers has them all."""

    name: str
    type: TypeName
    role: ColumnRole = ColumnRole.VALUE
    header: str | None = None
    position: Position | None = field(default=None, compare=False)
    written: str | None = field(default=None, compare=False, repr=False)
    """The name as it was written."""


# -- queries --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SelectColumn:
    """`written` is the last word of it: its name, if it has one, as it was written."""

    expression: Expression
    alias: str | None = None
    written: str | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SelectAll:
    """`*`, `source.*` or, with `struct`, `expression->*`."""

    source: str | None = None
    struct: Expression | None = None
    position: Position | None = field(default=None, compare=False)


SelectItem: TypeAlias = SelectColumn | SelectAll


class WindowKind(Enum):
    TUMBLING = "TUMBLING"
    HOPPING = "HOPPING"
    SESSION = "SESSION"


@dataclass(frozen=True, slots=True)
class Window:
    """Times in milliseconds; `size_ms` is the gap of a session."""

    kind: WindowKind
    size_ms: int
    advance_ms: int | None = None
    retention_ms: int | None = None
    grace_ms: int | None = None
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class AtOffset:
    offset: int


@dataclass(frozen=True, slots=True)
class AtTime:
    """A time as it was written: a text, or a number of milliseconds since 1970. `is_behind`: the next millisecond."""

    text: str
    is_number: bool = False
    is_behind: bool = False
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Ago:
    """So many milliseconds before the query begins."""

    span_ms: int


Point: TypeAlias = AtOffset | AtTime | Ago
"""A place in each partition of a topic."""


@dataclass(frozen=True, slots=True)
class TopicRange:
    """Which records of a topic are meant: those of some partitions (none named: of all), from `since` on, up to but not including `until`,
    and of these the last `tail`."""

    partitions: tuple[int, ...] = ()
    since: Point | None = None
    until: Point | None = None
    tail: int | None = None
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class UnionAll:
    """The rows of all these queries; without ALL (`is_distinct`) those that are the same in all columns are there once."""

    queries: tuple[Query, ...]
    is_distinct: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """A source by its name, or what a query in its place gives; `alias` is the name itself where none is given. `is_topic`: TOPIC('name'),
    which is no stream or table whatever it is called. `is_row`: there is no FROM, and the query has one row without columns. `written` is a name that was not quoted as it was written, since topics are not upper
    case by themselves. `reads` are the places where something is read in a query, `depth` its levels of queries."""

    name: str
    alias: str
    position: Position | None = field(default=None, compare=False)
    is_topic: bool = False
    is_row: bool = False
    range: TopicRange | None = None
    written: str | None = field(default=None, compare=False)
    query: Query | UnionAll | None = None
    reads: int = field(default=1, compare=False)
    depth: int = field(default=0, compare=False)


class JoinKind(Enum):
    INNER = "INNER"
    LEFT = "LEFT"
    RIGHT = "RIGHT"
    OUTER = "OUTER"


@dataclass(frozen=True, slots=True)
class Within:
    before_ms: int
    after_ms: int
    grace_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Join:
    kind: JoinKind
    right: Relation
    condition: Expression
    within: Within | None = None
    position: Position | None = field(default=None, compare=False)


class Emit(Enum):
    CHANGES = "CHANGES"
    FINAL = "FINAL"


@dataclass(frozen=True, slots=True)
class SortItem:
    """An expression of ORDER BY. Without NULLS FIRST or LAST, NULL is less than every value."""

    expression: Expression
    is_descending: bool = False
    has_nulls_first: bool | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """`order_by`, `is_distinct` and `offset` need rows that come to an end: queries with EMIT, and those that run on, have none."""

    select: tuple[SelectItem, ...]
    source: Relation
    joins: tuple[Join, ...] = ()
    window: Window | None = None
    where: Expression | None = None
    group_by: tuple[Expression, ...] = ()
    partition_by: tuple[Expression, ...] = ()
    having: Expression | None = None
    emit: Emit | None = None
    limit: int | None = None
    is_distinct: bool = False
    order_by: tuple[SortItem, ...] = ()
    offset: int | None = None
    common: tuple[Relation, ...] = ()
    """WITH …: they stand in `source` and `joins` already, where they are used."""
    position: Position | None = field(default=None, compare=False)
    """Of SELECT."""
    emit_position: Position | None = field(default=None, compare=False)


# -- statements that change the catalogue ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CreateSource:
    """CREATE [OR REPLACE] [SOURCE] STREAM|TABLE [IF NOT EXISTS]; without columns, the registry has them."""

    kind: Kind
    name: str
    columns: tuple[ColumnDefinition, ...] = ()
    properties: Properties = field(default_factory=dict)
    or_replace: bool = False
    if_not_exists: bool = False
    is_source: bool = False
    position: Position | None = field(default=None, compare=False)
    """Of the name."""


@dataclass(frozen=True, slots=True)
class CreateAsSelect:
    kind: Kind
    name: str
    query: Query
    properties: Properties = field(default_factory=dict)
    or_replace: bool = False
    if_not_exists: bool = False
    position: Position | None = field(default=None, compare=False)
    """Of the name."""


@dataclass(frozen=True, slots=True)
class InsertSelect:
    target: str
    query: Query
    properties: Properties = field(default_factory=dict)
    position: Position | None = field(default=None, compare=False)
    """Of the target's name."""


@dataclass(frozen=True, slots=True)
class InsertValues:
    """`rows` has one tuple for each record."""

    target: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Expression, ...], ...]
    position: Position | None = field(default=None, compare=False)
    """Of the target's name."""
    places: tuple[Position, ...] = field(default=(), compare=False)
    """Of the columns' names."""


@dataclass(frozen=True, slots=True)
class AssertRows:
    """ASSERT VALUES: the next rows of a stream or table, in a test. `is_deletion` (ASSERT NULL VALUES … KEY): the next records have these
    keys and no values."""

    rows: InsertValues
    is_deletion: bool = False


@dataclass(frozen=True, slots=True)
class AssertSource:
    """ASSERT STREAM|TABLE: what a test asks of a source, written as if it were declared so."""

    source: CreateSource


@dataclass(frozen=True, slots=True)
class DropSource:
    kind: Kind
    name: str
    if_exists: bool = False
    delete_topic: bool = False
    position: Position | None = field(default=None, compare=False)
    """Of the name."""


@dataclass(frozen=True, slots=True)
class CreateType:
    """A name for a type, which statements behind it may use."""

    name: str
    type: TypeName
    if_not_exists: bool = False
    position: Position | None = field(default=None, compare=False)
    """Of the name."""


@dataclass(frozen=True, slots=True)
class DropType:
    name: str
    if_exists: bool = False
    position: Position | None = field(default=None, compare=False)
    """Of the name."""


@dataclass(frozen=True, slots=True)
class AlterSource:
    """ALTER STREAM|TABLE: columns that are added behind those of the value."""

    kind: Kind
    name: str
    columns: tuple[ColumnDefinition, ...]
    position: Position | None = field(default=None, compare=False)
    """Of the name."""


@dataclass(frozen=True, slots=True)
class AlterSystem:
    """A property of all sessions from now on."""

    name: str
    value: str


class QueryAction(Enum):
    TERMINATE = "TERMINATE"
    PAUSE = "PAUSE"
    RESUME = "RESUME"


@dataclass(frozen=True, slots=True)
class ChangeQuery:
    """`query_id` is None for ALL."""

    action: QueryAction
    query_id: str | None
    position: Position | None = field(default=None, compare=False)


# -- statements that only ask ---------------------------------------------------------------------


class ShowTarget(Enum):
    PROPERTIES = "PROPERTIES"
    TOPICS = "TOPICS"
    ALL_TOPICS = "ALL TOPICS"
    STREAMS = "STREAMS"
    TABLES = "TABLES"
    FUNCTIONS = "FUNCTIONS"
    TYPES = "TYPES"
    VARIABLES = "VARIABLES"
    QUERIES = "QUERIES"
    INDEXES = "INDEXES"


@dataclass(frozen=True, slots=True)
class Show:
    """SHOW or LIST."""

    listed: ShowTarget
    is_extended: bool = False


@dataclass(frozen=True, slots=True)
class ShowErrors:
    """SHOW ERRORS [FOR query] [LIMIT n]."""

    query_id: str | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class DescribeSource:
    name: str
    is_extended: bool = False


@dataclass(frozen=True, slots=True)
class DescribeSources:
    """DESCRIBE STREAMS, DESCRIBE TABLES."""

    kind: Kind
    is_extended: bool = False


@dataclass(frozen=True, slots=True)
class DescribeFunction:
    name: str


@dataclass(frozen=True, slots=True)
class Explain:
    """Of a running query by its id, or of a statement."""

    query_id: str | None = None
    statement: Statement | None = None


@dataclass(frozen=True, slots=True)
class Print:
    topic: str
    from_beginning: bool = False
    interval: int | None = None
    limit: int | None = None


# -- statements about the session -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SetProperty:
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class UnsetProperty:
    name: str


@dataclass(frozen=True, slots=True)
class DefineVariable:
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class UndefineVariable:
    name: str


Statement: TypeAlias = (
    Query
    | CreateSource
    | CreateAsSelect
    | InsertSelect
    | InsertValues
    | DropSource
    | CreateIndex
    | DropIndex
    | DeleteRows
    | CreateType
    | DropType
    | AlterSource
    | AlterSystem
    | CreateFunction
    | DropFunction
    | ChangeQuery
    | CreateConnector
    | DropConnector
    | DescribeConnector
    | ShowConnectors
    | ShowConnectorPlugins
    | AssertTopic
    | AssertSchema
    | AssertRows
    | AssertSource
    | Show
    | ShowErrors
    | DescribeSource
    | DescribeSources
    | DescribeFunction
    | Explain
    | Print
    | SetProperty
    | UnsetProperty
    | DefineVariable
    | UndefineVariable
)
