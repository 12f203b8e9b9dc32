"""The states of connectors and tasks: those that are reported, and those that clients request."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Condition(Enum):
    """The states of a status; STOPPED is for connectors only."""

    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    FAILED = "FAILED"
    RESTARTING = "RESTARTING"
    STOPPED = "STOPPED"


class TargetState(Enum):
    """The state that a client requests for a connector. `initial_state` of a request says RUNNING for STARTED."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"


@dataclass(frozen=True, slots=True)
class Status:
    """The status of a connector or a task; `trace` is empty unless there is something to report, `version` is that of the plugin."""

    condition: Condition
    worker_id: str
    trace: str = ""
    version: str | None = None
