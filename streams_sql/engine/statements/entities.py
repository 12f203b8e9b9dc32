"""The results of statements. Only HTTP knows how they are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from streams_sql.engine.queries.error_log import QueryError
from streams_sql.engine.queries.query_status import PushStatus, QueryEvent, QueryState, QueryStatus
from streams_sql.function_declaration import AggregateFunction, Function
from streams_sql.language.statements import Kind
from streams_sql.plan.lineage import Origin
from streams_sql.progress.backlog import Backlog
from streams_sql.sources import Column, Source
from streams_sql.sql_types import SqlType
from streams_sql.views.views import IndexProgress


@dataclass(frozen=True, slots=True)
class CommandStatus:
    """A change of the catalogue that was made. `entity` and `action` name it: ("stream", "PAGEVIEWS") and "create"."""

    entity: tuple[str, str]
    action: str
    message: str
    position: int
    """How far the command topic has been applied with it."""
    query_id: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StatementWarning:
    """Nothing was done, and that is no error: IF NOT EXISTS, IF EXISTS."""

    message: str


@dataclass(frozen=True, slots=True)
class PushQueryEnd:
    """TERMINATE of a push query."""

    query_id: str


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """A statement that changes the session, or writes a record, and has no result."""


@dataclass(frozen=True, slots=True)
class SourceList:
    """`described` is filled for EXTENDED."""

    kind: Kind
    sources: tuple[Source, ...]
    described: tuple[SourceDescription, ...] = ()
    is_extended: bool = False


@dataclass(frozen=True, slots=True)
class QueryList:
    """`described` is filled for EXTENDED; `pushes` are listed without it."""

    queries: tuple[QueryStatus, ...]
    pushes: tuple[PushStatus, ...] = ()
    described: tuple[QueryDescription, ...] = ()
    is_extended: bool = False

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(warning for query in self.queries for warning in query.all_warnings)


@dataclass(frozen=True, slots=True)
class Topic:
    """`replicas` are those of each partition; how many read it is known for EXTENDED only."""

    name: str
    replicas: tuple[int, ...]
    consumers: int = 0
    groups: int = 0


@dataclass(frozen=True, slots=True)
class TopicList:
    topics: tuple[Topic, ...]
    is_extended: bool = False


@dataclass(frozen=True, slots=True)
class FunctionList:
    functions: tuple[Function | AggregateFunction, ...]


@dataclass(frozen=True, slots=True)
class FunctionDescription:
    function: Function | AggregateFunction


@dataclass(frozen=True, slots=True)
class IndexStatus:
    name: str
    table: str
    columns: tuple[str, ...]
    progress: IndexProgress


@dataclass(frozen=True, slots=True)
class IndexList:
    indexes: tuple[IndexStatus, ...]


@dataclass(frozen=True, slots=True)
class TypeList:
    types: Mapping[str, SqlType]


@dataclass(frozen=True, slots=True)
class VariableList:
    variables: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Property:
    """A setting as SHOW PROPERTIES lists it. `is_overridden`: by SET, for this session; `is_editable`: SET may do that."""

    name: str
    value: str
    is_overridden: bool = False
    is_default: bool = False
    is_editable: bool = False


@dataclass(frozen=True, slots=True)
class PropertyList:
    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class ColumnLineage:
    """Where the values of a column come from: columns of the sources that its query reads, and those of declared sources behind them."""

    column: str
    sources: tuple[Origin, ...]
    declared: tuple[Origin, ...]


@dataclass(frozen=True, slots=True)
class SourceDescription:
    """`partitions`, `replicas`, `statistics` and `lineage` are there for EXTENDED only. `warnings` say why rows may be missing."""

    source: Source
    readers: tuple[QueryStatus, ...]
    writers: tuple[QueryStatus, ...]
    is_extended: bool = False
    partitions: int = 0
    replicas: int = 0
    statistics: str = ""
    errors: str = ""
    lineage: tuple[ColumnLineage, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryDescription:
    """`plan` is ours, `topology` Spark's, once the query has run."""

    id: str
    statement: str
    columns: tuple[Column, ...]
    key: frozenset[str]
    sources: tuple[str, ...]
    sinks: tuple[str, ...]
    plan: str
    topology: str = ""
    state: QueryState | None = None
    kind: str = "PERSISTENT"
    window: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    errors: tuple[QueryEvent, ...] = ()
    lineage: tuple[ColumnLineage, ...] = ()
    backlog: Backlog | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ErrorList:
    """The newest first. `counts` are those of all that there were, by query and kind."""

    errors: tuple[QueryError, ...]
    counts: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class ConnectorCreation:
    """`config` has no secrets in it."""

    name: str
    type: str
    config: Mapping[str, str]
    tasks: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class ConnectorDeletion:
    name: str


@dataclass(frozen=True, slots=True)
class ConnectorSummary:
    """`problem` says why nothing more is known of it."""

    name: str
    type: str | None = None
    class_name: str | None = None
    state: str | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class ConnectorList:
    connectors: tuple[ConnectorSummary, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConnectorPluginList:
    """As Connect reports them."""

    plugins: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class ConnectorDescription:
    """`status` is as Connect reports it; `sources` are those of the topics that the connector has used."""

    class_name: str
    status: Mapping[str, Any]
    sources: tuple[SourceDescription, ...]
    topics: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicAssertion:
    topic: str
    exists: bool


@dataclass(frozen=True, slots=True)
class SchemaAssertion:
    subject: str | None
    id: int | None
    exists: bool


Entity: TypeAlias = (
    CommandStatus
    | StatementWarning
    | PushQueryEnd
    | Acknowledgement
    | SourceList
    | QueryList
    | TopicList
    | FunctionList
    | FunctionDescription
    | IndexList
    | TypeList
    | VariableList
    | PropertyList
    | SourceDescription
    | QueryDescription
    | ConnectorCreation
    | ConnectorDeletion
    | ConnectorList
    | ConnectorPluginList
    | ConnectorDescription
    | TopicAssertion
    | SchemaAssertion
    | ErrorList
)


@dataclass(frozen=True, slots=True)
class StatementResult:
    """`statement` has the values of variables."""

    statement: str
    entity: Entity
