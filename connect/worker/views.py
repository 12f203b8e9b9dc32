"""What the worker tells of connectors, tasks and itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from connect.tasks.spec import TaskId

UNKNOWN_TYPE: Final = "unknown"


class Condition(Enum):
    """The states that statuses tell; STOPPED is for connectors alone."""

    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    FAILED = "FAILED"
    RESTARTING = "RESTARTING"
    STOPPED = "STOPPED"


class TargetState(Enum):
    """What somebody wants of a connector. `initial_state` of a request says RUNNING for STARTED."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"


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
class Status:
    """How a connector's own part or a task is; `trace` is empty when there is nothing to tell, `version` is that of the plugin."""

    condition: Condition
    worker_id: str
    trace: str = ""
    version: str | None = None


@dataclass(frozen=True, slots=True)
class ConnectorStatus:
    """`tasks` are the statuses by task number, in its order."""

    name: str
    connector: Status
    tasks: Mapping[int, Status]
    type: str


@dataclass(frozen=True, slots=True)
class LoggerLevel:
    """A level in Java's words (`INFO`, `WARN`), and when it was last changed, in ms since 1970; None: never."""

    level: str
    last_modified: int | None


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
