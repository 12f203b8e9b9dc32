"""The state of a server."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from streams_sql.engine.catalogue.outcome import Outcome

STATUSES_KEPT_MAX: Final = 10_000


class ServerStatus(StrEnum):
    """As /info has it."""

    INITIALIZING = "INITIALIZING"
    RUNNING = "RUNNING"


@dataclass(frozen=True, slots=True)
class ServerState:
    """`host` is how others reach this server. `kafka_cluster_id` is empty until it is known."""

    version: str
    kafka_cluster_id: str
    service_id: str
    host: str
    status: ServerStatus

    @property
    def is_started(self) -> bool:
        return self.status is ServerStatus.RUNNING


class CommandStatuses:
    """What has become of the last changes of the catalogue, by the id that each answer names."""

    def __init__(self) -> None:
        self._statuses: OrderedDict[str, Mapping[str, Any]] = OrderedDict()

    def note(self, outcome: Outcome) -> None:
        kind, name = outcome.entity
        query_id = None if outcome.started is None else outcome.started.id
        key = f"{kind}/{name}/{outcome.action}"
        self._statuses[key] = {"status": "SUCCESS", "message": outcome.message, "queryId": query_id}
        self._statuses.move_to_end(key)
        if len(self._statuses) > STATUSES_KEPT_MAX:
            self._statuses.popitem(last=False)

    def all(self) -> dict[str, str]:
        return {key: status["status"] for key, status in self._statuses.items()}

    def of(self, key: str) -> Mapping[str, Any] | None:
        return self._statuses.get(key)
