"""The state of a connector and its tasks, as every command shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from barnabas.cli.connectors.client import NOT_FOUND, ConnectClient, Refusal, path_of
from barnabas.cli.terminal import styles

RUNNING: Final = "RUNNING"
FAILED: Final = "FAILED"
UNASSIGNED: Final = "UNASSIGNED"
NO_WORKER: Final = "-"
"""The worker of what none has taken up yet."""
STATE_STYLES: Final[Mapping[str, str]] = {
    RUNNING: styles.GREEN, FAILED: styles.RED, "PAUSED": styles.YELLOW, "STOPPED": styles.DIM, UNASSIGNED: styles.YELLOW,
    "RESTARTING": styles.YELLOW,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PartState:
    """Of the connector, or of the task with this number. `trace` is the error of a part that has failed."""

    task: int | None
    state: str
    worker: str
    trace: str | None = None

    @classmethod
    def of(cls, part: Mapping[str, Any]) -> PartState:
        return cls(part.get("id"), part["state"], part["worker_id"], part.get("trace"))


@dataclass(frozen=True, slots=True)
class ConnectorState:
    connector: PartState
    tasks: tuple[PartState, ...]

    @classmethod
    def of(cls, status: Mapping[str, Any], info: Mapping[str, Any] | None = None) -> ConnectorState:
        """From the answers of a worker. A task that `info` names and that has no status yet is unassigned."""
        tasks = {task["id"]: PartState.of(task) for task in status["tasks"]}
        for each in () if info is None else info.get("tasks", ()):
            tasks.setdefault(each["task"], PartState(each["task"], UNASSIGNED, NO_WORKER))
        return cls(PartState.of(status["connector"]), tuple([tasks[number] for number in sorted(tasks)]))

    @property
    def state(self) -> str:
        """That of the connector; FAILED if any part of it has."""
        return FAILED if any(part.state == FAILED for part in self) else self.connector.state

    @property
    def running(self) -> str:
        """How many of the tasks run, such as 1/2."""
        return f"{sum(task.state == RUNNING for task in self.tasks)}/{len(self.tasks)}"

    @property
    def is_running(self) -> bool:
        """Whether there are tasks, and all of them run."""
        return bool(self.tasks) and all(task.state == RUNNING for task in self.tasks)

    @property
    def first_trace(self) -> str | None:
        return next((part.trace for part in self if part.trace), None)

    def __iter__(self) -> Iterator[PartState]:
        yield self.connector
        yield from self.tasks


def status_of(client: ConnectClient, name: str) -> Any:
    try:
        return client.call("GET", path_of(name, "/status"))
    except Refusal as refusal:
        if refusal.code != NOT_FOUND:
            raise
    return {"connector": {"state": UNASSIGNED, "worker_id": NO_WORKER}, "tasks": []}
