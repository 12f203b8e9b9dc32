"""How connectors and tasks are, and which topics they have used: the replay of the status topic."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from barnabas.kernel.kafka_log.log import LogRecord
from connect.storage.status import Condition, Status
from connect.tasks.spec import TaskId

CONNECTOR: Final = "status-connector-"
TASK: Final = "status-task-"
TOPIC: Final = "status-topic-"
_TOPIC_SEPARATOR: Final = ":connector-"

MS_PER_S: Final = 1000


@dataclass(frozen=True, slots=True)
class StoredStatus:
    """A status, and the generation of the group in which it was written."""

    status: Status
    generation: int


class Statuses:
    def __init__(self) -> None:
        self._connectors: dict[str, StoredStatus] = {}
        self._tasks: dict[str, dict[int, StoredStatus]] = {}
        self._topics: dict[str, dict[str, int]] = {}

    # --- reading ---

    def connector(self, name: str) -> StoredStatus | None:
        return self._connectors.get(name)

    def task(self, task: TaskId) -> StoredStatus | None:
        return self._tasks.get(task.connector, {}).get(task.number)

    def topics(self, name: str) -> list[str]:
        return sorted(self._topics.get(name, {}))

    def names(self) -> set[str]:
        """Every connector that something is known of, whether it exists or not."""
        return {*self._connectors, *self._tasks, *self._topics}

    def forgetting_tasks(self, name: str, *, from_number: int = 0) -> Iterator[LogRecord]:
        """What makes the statuses of tasks from a number on forgotten."""
        for number in sorted(self._tasks.get(name, ())):
            if number >= from_number:
                yield LogRecord(_task_key(TaskId(name, number)), None)

    def forgetting(self, name: str) -> Iterator[LogRecord]:
        """What makes everything about a connector forgotten."""
        if name in self._connectors:
            yield LogRecord(_connector_key(name), None)
        yield from self.forgetting_tasks(name)
        yield from self.forgetting_topics(name)

    def forgetting_topics(self, name: str) -> Iterator[LogRecord]:
        for topic in self.topics(name):
            yield LogRecord(_topic_key(name, topic), None)

    # --- replay ---

    def apply(self, record: LogRecord) -> None:
        key = record.key.decode(errors="replace")
        value = _json_object(record.value)
        if key.startswith(TASK):
            connector, _, number = key.removeprefix(TASK).rpartition("-")
            if number.isdecimal():
                _put(self._tasks.setdefault(connector, {}), int(number), _reported(value))
        elif key.startswith(CONNECTOR):
            _put(self._connectors, key.removeprefix(CONNECTOR), _reported(value))
        elif key.startswith(TOPIC):
            topic, _, connector = key.removeprefix(TOPIC).partition(_TOPIC_SEPARATOR)
            number_of_task = None if value is None else value.get("topic", {}).get("task", 0)
            _put(self._topics.setdefault(connector, {}), topic, number_of_task)


def connector_status(name: str, status: Status, generation: int) -> LogRecord:
    return LogRecord(_connector_key(name), _encoded(status, generation))


def task_status(task: TaskId, status: Status, generation: int) -> LogRecord:
    return LogRecord(_task_key(task), _encoded(status, generation))


def topic_used(task: TaskId, topic: str) -> LogRecord:
    found = {
        "name": topic,
        "connector": task.connector,
        "task": task.number,
        "discoverTimestamp": int(time.time() * MS_PER_S),
    }
    return LogRecord(_topic_key(task.connector, topic), orjson.dumps({"topic": found}))


def _connector_key(name: str) -> bytes:
    return f"{CONNECTOR}{name}".encode()


def _task_key(task: TaskId) -> bytes:
    return f"{TASK}{task}".encode()


def _topic_key(connector: str, topic: str) -> bytes:
    return f"{TOPIC}{topic}{_TOPIC_SEPARATOR}{connector}".encode()


def _encoded(status: Status, generation: int) -> bytes:
    return orjson.dumps(
        {
            "state": status.condition.value,
            "trace": status.trace or None,
            "worker_id": status.worker_id,
            "generation": generation,
        }
    )


def _reported(value: Mapping[str, Any] | None) -> StoredStatus | None:
    """None for a record that tells that it is gone, and for one that makes no sense."""
    if value is None or value.get("state") not in Condition.__members__:
        return None
    status = Status(Condition(value["state"]), str(value.get("worker_id")), value.get("trace") or "")
    generation = value.get("generation")
    return StoredStatus(status, generation if isinstance(generation, int) else 0)


def _json_object(value: bytes | None) -> Mapping[str, Any] | None:
    try:
        found = None if value is None else orjson.loads(value)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _put(entries: dict[Any, Any], key: object, value: object) -> None:
    if value is None:
        entries.pop(key, None)
    else:
        entries[key] = value
