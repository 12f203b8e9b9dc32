"""The records of the config topic, in Kafka Connect's form: JSON without an envelope."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from barnabas.kernel.kafka_log.log import LogRecord
from connect.cluster.signatures import SESSION_KEY_ALGORITHM, SessionKey
from connect.storage.status import TargetState

CONNECTOR: Final = "connector-"
TASK: Final = "task-"
COMMIT: Final = "commit-"
TARGET_STATE: Final = "target-state-"
RESTART: Final = "restart-connector-"
FENCING: Final = "tasks-fencing-"
LOGGER: Final = "logger-cluster-"
SESSION_KEY: Final = "session-key"


def connector(name: str, config: Mapping[str, str]) -> LogRecord:
    return _record(f"{CONNECTOR}{name}", {"properties": dict(config)})


def connector_gone(name: str, task_count: int) -> Iterator[LogRecord]:
    yield _record(f"{CONNECTOR}{name}", None)
    yield _record(f"{TARGET_STATE}{name}", None)
    for number in range(task_count):
        yield _record(f"{TASK}{name}-{number}", None)
    yield _record(f"{COMMIT}{name}", None)


def tasks(name: str, configs: Sequence[Mapping[str, str]]) -> Iterator[LogRecord]:
    """Task configs count when the record after them says how many they are."""
    for number, config in enumerate(configs):
        yield _record(f"{TASK}{name}-{number}", {"properties": dict(config)})
    yield _record(f"{COMMIT}{name}", {"tasks": len(configs)})


def target_state(name: str, target: TargetState) -> LogRecord:
    """The older member knows no STOPPED."""
    older = TargetState.PAUSED if target is TargetState.STOPPED else target
    return _record(f"{TARGET_STATE}{name}", {"state": older.value, "state.v2": target.value})


def restart(name: str, *, include_tasks: bool, only_failed: bool) -> LogRecord:
    return _record(f"{RESTART}{name}", {"include-tasks": include_tasks, "only-failed": only_failed})


def fencing(name: str, task_count: int) -> LogRecord:
    return _record(f"{FENCING}{name}", {"task-count": task_count})


def session_key(key: SessionKey) -> LogRecord:
    value = {
        "key": b64encode(key.key).decode(),
        "algorithm": SESSION_KEY_ALGORITHM,
        "creation-timestamp": key.created_ms,
    }
    return _record(SESSION_KEY, value)


def logger_level(namespace: str, level: str) -> LogRecord:
    return _record(f"{LOGGER}{namespace}", {"level": level})


def _record(key: str, value: Mapping[str, Any] | None) -> LogRecord:
    return LogRecord(key.encode(), None if value is None else orjson.dumps(value))
