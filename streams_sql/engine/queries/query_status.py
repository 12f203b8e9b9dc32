"""What is known of running queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from streams_sql.progress.backlog import Backlog
from streams_sql.sources import Source


class QueryState(StrEnum):
    """A query that another server runs is UNRESPONSIVE to this one."""

    RUNNING = "RUNNING"
    STARTING = "STARTING"
    PAUSED = "PAUSED"
    ERROR = "ERROR"
    UNRESPONSIVE = "UNRESPONSIVE"


@dataclass(frozen=True, slots=True)
class QueryEvent:
    """What has happened to a query, and when. `kind` is USER where data were the reason, as ksqlDB has it, and else UNKNOWN."""

    time_ms: int
    text: str
    kind: str = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class QueryStatus:
    """A persistent query as it stands. `examples` are the last errors of its
    data: records that were passed over, and expressions that gave NULL. `notes` are what was decided for it while it ran; `mode` says
    how it runs. `totals` are metrics that only grow while a server runs it. `rebuilds` is the query whose place it takes when it has
    caught up. `backlog` is what is left of its topics, None while that is not known."""

    id: str
    statement: str
    sink: Source
    state: QueryState
    error: str | None = None
    error_ms: int = 0
    bad_records: int = 0
    examples: tuple[QueryEvent, ...] = ()
    notes: tuple[QueryEvent, ...] = ()
    mode: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
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
    """A push query of a client of this server."""

    id: str
    statement: str
