"""What the herder reports of connectors, tasks and its worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from connect.storage.status import Status
from connect.tasks.spec import TaskId

UNKNOWN_TYPE: Final = "unknown"


@dataclass(frozen=True, slots=True)
class ConnectorInfo:
    """`type` is `source`, `sink` or `unknown`. The config is as it was given, with references to secrets unresolved."""

    name: str
    config: Mapping[str, str] = field(repr=False)
    tasks: Sequence[TaskId]
    type: str


@dataclass(frozen=True, slots=True)
class TaskInfo:
    id: TaskId
    config: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ConnectorStatus:
    """`tasks` are the statuses by task number, in its order."""

    name: str
    connector: Status
    tasks: Mapping[int, Status]
    type: str


@dataclass(frozen=True, slots=True)
class About:
    version: str
    commit: str
    kafka_cluster_id: str


class Vitality(Enum):
    STARTING = "starting"
    HEALTHY = "healthy"
    UNHEALTHY = "unhealthy"


@dataclass(frozen=True, slots=True)
class Health:
    """`message` names the stage that the worker is in when it is not healthy."""

    vitality: Vitality
    message: str
