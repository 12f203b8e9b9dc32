"""Statements as they were written. Names are upper case already unless they were quoted; properties keep their case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from streams_sql.language.expressions import Expression, Literal, TypeName
from streams_sql.language.problem import Position

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


# -- queries --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SelectColumn:
    expression: Expression
    alias: str | None = None


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
class Relation:
    """A source by its name; `alias` is the name itself where none is given."""

    name: str
    alias: str
    position: Position | None = field(default=None, compare=False)


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
class Query:
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


@dataclass(frozen=True, slots=True)
class CreateAsSelect:
    kind: Kind
    name: str
    query: Query
    properties: Properties = field(default_factory=dict)
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class InsertSelect:
    target: str
    query: Query
    properties: Properties = field(default_factory=dict)
    position: Position | None = field(default=None, compare=False)
    """Of the target's name."""


@dataclass(frozen=True, slots=True)
class InsertValues:
    target: str
    columns: tuple[str, ...]
    values: tuple[Expression, ...]
    position: Position | None = field(default=None, compare=False)
    """Of the target's name."""


@dataclass(frozen=True, slots=True)
class DropSource:
    kind: Kind
    name: str
    if_exists: bool = False
    delete_topic: bool = False
    position: Position | None = field(default=None, compare=False)
    """Of the name."""


class QueryAction(Enum):
    TERMINATE = "TERMINATE"
    PAUSE = "PAUSE"
    RESUME = "RESUME"


@dataclass(frozen=True, slots=True)
class ChangeQuery:
    """`query_id` is None for ALL."""

    action: QueryAction
    query_id: str | None


# -- statements that only ask ---------------------------------------------------------------------


class Listed(Enum):
    PROPERTIES = "PROPERTIES"
    TOPICS = "TOPICS"
    ALL_TOPICS = "ALL TOPICS"
    STREAMS = "STREAMS"
    TABLES = "TABLES"
    FUNCTIONS = "FUNCTIONS"
    TYPES = "TYPES"
    VARIABLES = "VARIABLES"
    QUERIES = "QUERIES"


@dataclass(frozen=True, slots=True)
class Show:
    """SHOW or LIST."""

    listed: Listed
    is_extended: bool = False


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
    | ChangeQuery
    | Show
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
