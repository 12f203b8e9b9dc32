"""What statements answer; HTTP alone knows how it is written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from streams_sql.engine.error_log import QueryError
from streams_sql.functions.declaration import AggregateFunction, Function
from streams_sql.language.statements import Kind
from streams_sql.plan.lineage import Origin
from streams_sql.progress.backlog import Backlog
from streams_sql.sources import Column, Source
from streams_sql.sql_types import SqlType


@dataclass(frozen=True, slots=True)
class Changed:
    """A change of the catalogue that was made. `entity` and `action` name it: ("stream", "PAGEVIEWS") and "create"."""

    entity: tuple[str, str]
    action: str
    message: str
    position: int
    """How far the command topic has been applied with it."""
    query_id: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Warned:
    """Nothing was done, and that is no error: IF NOT EXISTS, IF EXISTS."""

    message: str


@dataclass(frozen=True, slots=True)
class PushEnded:
    """TERMINATE of a push query."""

    query_id: str


@dataclass(frozen=True, slots=True)
class Done:
    """A statement that changes the session, or writes a record, and has nothing to tell."""


@dataclass(frozen=True, slots=True)
class Told:
    """What has happened to a query, and when. `kind` is USER where data were the reason, as ksqlDB has it, and else UNKNOWN."""

    time_ms: int
    text: str
    kind: str = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class QueryStatus:
    """A persistent query as it stands. `state` is RUNNING, STARTING, PAUSED, ERROR or UNRESPONSIVE. `examples` are the last errors of its
    data: records that were passed over, and expressions that gave NULL. `notes` are what was decided for it while it ran; `mode` tells
    how it runs. `totals` are figures that only grow while a server runs it. `rebuilds` is the query whose place it takes when it has
    caught up. `backlog` is what is left of its topics, None while that is not known."""

    id: str
    statement: str
    sink: Source
    state: str
    error: str | None = None
    error_ms: int = 0
    bad_records: int = 0
    examples: tuple[Told, ...] = ()
    notes: tuple[Told, ...] = ()
    mode: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    totals: Mapping[str, int] = field(default_factory=dict)
    rebuilds: str | None = None
    backlog: Backlog | None = None
    warnings: tuple[str, ...] = ()
    """What the owner of the query should know although it runs."""

    @property
    def all_warnings(self) -> tuple[str, ...]:
        """With that of a query that has not caught up."""
        backlog = self.backlog
        if backlog is None or not backlog.is_own:
            return self.warnings
        return (f"Query {self.id} {backlog.text}: {self.sink.name} is incomplete.", *self.warnings)


@dataclass(frozen=True, slots=True)
class PushStatus:
    """A push query that somebody listens to, at this server."""

    id: str
    statement: str


@dataclass(frozen=True, slots=True)
class SourcesListed:
    """`described` is filled for EXTENDED."""

    kind: Kind
    sources: tuple[Source, ...]
    described: tuple[SourceDescribed, ...] = ()
    is_extended: bool = False


@dataclass(frozen=True, slots=True)
class QueriesListed:
    """`described` is filled for EXTENDED; `pushes` are told without it."""

    queries: tuple[QueryStatus, ...]
    pushes: tuple[PushStatus, ...] = ()
    described: tuple[QueryDescribed, ...] = ()
    is_extended: bool = False

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(warning for query in self.queries for warning in query.all_warnings)


@dataclass(frozen=True, slots=True)
class Topic:
    """`replicas` are those of each partition; how many read it is told for EXTENDED alone."""

    name: str
    replicas: tuple[int, ...]
    consumers: int = 0
    groups: int = 0


@dataclass(frozen=True, slots=True)
class TopicsListed:
    topics: tuple[Topic, ...]
    is_extended: bool = False


@dataclass(frozen=True, slots=True)
class FunctionsListed:
    functions: tuple[Function | AggregateFunction, ...]


@dataclass(frozen=True, slots=True)
class FunctionDescribed:
    function: Function | AggregateFunction


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """`state` is READY, or says how far it is."""

    name: str
    table: str
    columns: tuple[str, ...]
    state: str


@dataclass(frozen=True, slots=True)
class IndexesListed:
    indexes: tuple[IndexStatus, ...]


@dataclass(frozen=True, slots=True)
class TypesListed:
    types: Mapping[str, SqlType]


@dataclass(frozen=True, slots=True)
class VariablesListed:
    variables: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Property:
    """A setting as SHOW PROPERTIES tells it. `is_overridden`: by SET, for this session; `is_editable`: SET may do that."""

    name: str
    value: str
    is_overridden: bool = False
    is_default: bool = False
    is_editable: bool = False


@dataclass(frozen=True, slots=True)
class PropertiesListed:
    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class ColumnLineage:
    """Where the values of a column come from: columns of the sources that its query reads, and those of declared sources behind them."""

    column: str
    sources: tuple[Origin, ...]
    declared: tuple[Origin, ...]


@dataclass(frozen=True, slots=True)
class SourceDescribed:
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
class QueryDescribed:
    """`plan` is ours, `topology` Spark's, once the query has run."""

    id: str
    statement: str
    columns: tuple[Column, ...]
    key: frozenset[str]
    sources: tuple[str, ...]
    sinks: tuple[str, ...]
    plan: str
    topology: str = ""
    state: str | None = None
    kind: str = "PERSISTENT"
    window: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    errors: tuple[Told, ...] = ()
    lineage: tuple[ColumnLineage, ...] = ()
    backlog: Backlog | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ErrorsListed:
    """The newest first. `counts` are those of all that there were, by query and kind."""

    errors: tuple[QueryError, ...]
    counts: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class ConnectorCreated:
    """`config` has no secrets in it."""

    name: str
    type: str
    config: Mapping[str, str]
    tasks: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class ConnectorDropped:
    name: str


@dataclass(frozen=True, slots=True)
class ConnectorListed:
    """`problem` tells why nothing more is known of it."""

    name: str
    type: str | None = None
    class_name: str | None = None
    state: str | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class ConnectorsListed:
    connectors: tuple[ConnectorListed, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConnectorPluginsListed:
    """As Connect tells them."""

    plugins: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class ConnectorDescribed:
    """`status` is as Connect tells it; `sources` are those of the topics that the connector has used."""

    class_name: str
    status: Mapping[str, Any]
    sources: tuple[SourceDescribed, ...]
    topics: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicAsserted:
    topic: str
    exists: bool


@dataclass(frozen=True, slots=True)
class SchemaAsserted:
    subject: str | None
    id: int | None
    exists: bool


Answer: TypeAlias = (
    Changed
    | Warned
    | PushEnded
    | Done
    | SourcesListed
    | QueriesListed
    | TopicsListed
    | FunctionsListed
    | FunctionDescribed
    | IndexesListed
    | TypesListed
    | VariablesListed
    | PropertiesListed
    | SourceDescribed
    | QueryDescribed
    | ConnectorCreated
    | ConnectorDropped
    | ConnectorsListed
    | ConnectorPluginsListed
    | ConnectorDescribed
    | TopicAsserted
    | SchemaAsserted
    | ErrorsListed
)


@dataclass(frozen=True, slots=True)
class Answered:
    """One statement of a request, as it was written, and what it answered."""

    statement: str
    answer: Answer


Answers: TypeAlias = Sequence[Answered]
