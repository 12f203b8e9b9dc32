"""What a server counts of its queries and views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from streams_sql.engine.queries.query_status import QueryStatus
from streams_sql.views.views import ViewStatus


@dataclass(frozen=True, slots=True)
class EngineMetrics:
    """What is counted by this server. `errors` are by query and kind."""

    queries: Sequence[QueryStatus] = ()
    views: Sequence[ViewStatus] = ()
    errors: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    pushes: int = 0
    pushes_started: int = 0
    pulls: int = 0
    pulls_started: int = 0
    is_leader: bool = False
