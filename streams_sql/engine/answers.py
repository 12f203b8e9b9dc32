"""What statements answer; HTTP alone knows how it is written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from streams_sql.functions.declaration import AggregateFunction, Function
from streams_sql.language.statements import Kind
from streams_sql.sources import Column, Source


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
class QueryStatus:
    """A persistent query as it stands. `state` is RUNNING, STARTING, PAUSED, ERROR or UNRESPONSIVE. `examples` are records that were passed
    over, `notes` what was decided for it while it ran; `mode` tells how it runs."""

    id: str
    statement: str
    sink: Source
    state: str
    error: str | None = None
    bad_records: int = 0
    examples: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    mode: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)


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
class TypesListed:
    types: Mapping[str, str]


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
class SourceDescribed:
    """`partitions`, `replicas` and `statistics` are told for EXTENDED alone."""

    source: Source
    readers: tuple[QueryStatus, ...]
    writers: tuple[QueryStatus, ...]
    is_extended: bool = False
    partitions: int = 0
    replicas: int = 0
    statistics: str = ""
    errors: str = ""


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
    errors: tuple[str, ...] = ()


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
    | TypesListed
    | VariablesListed
    | PropertiesListed
    | SourceDescribed
    | QueryDescribed
)


@dataclass(frozen=True, slots=True)
class Answered:
    """One statement of a request, as it was written, and what it answered."""

    statement: str
    answer: Answer


Answers: TypeAlias = Sequence[Answered]
