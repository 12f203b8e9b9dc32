"""What a group of workers has been told to do: the replay of the config topic."""

from __future__ import annotations

import logging
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import orjson

from barnabas.kernel.kafka_log.log import LogRecord
from connect.cluster.signatures import SessionKey
from connect.storage import config_records as records
from connect.storage.status import TargetState
from connect.tasks.spec import TaskId

_logger = logging.getLogger(__name__)

TaskConfigs: TypeAlias = tuple[Mapping[str, str], ...]


@dataclass(frozen=True, slots=True)
class ConnectorChange:
    """Its configuration, its tasks, its target state or its fencing is another, or it is gone."""

    name: str


@dataclass(frozen=True, slots=True)
class RestartRequest:
    name: str
    include_tasks: bool
    only_failed: bool


@dataclass(frozen=True, slots=True)
class LevelChange:
    namespace: str
    level: str


Change: TypeAlias = ConnectorChange | RestartRequest | LevelChange


class ConfigState:
    """Connectors with their tasks and target states, and what workers share beside them."""

    def __init__(self) -> None:
        self.session_key: SessionKey | None = None
        self._configs: dict[str, Mapping[str, str]] = {}
        self._targets: dict[str, TargetState] = {}
        self._tasks: dict[str, TaskConfigs] = {}
        # Task configs whose commit has not come yet, by connector and number.
        self._uncommitted: dict[str, dict[int, Mapping[str, str]]] = {}
        self._fenced_counts: dict[str, int] = {}
        self._fencing_pending: set[str] = set()

    # --- reading ---

    @property
    def connectors(self) -> Sequence[str]:
        return sorted(self._configs)

    def __contains__(self, name: str) -> bool:
        return name in self._configs

    def config(self, name: str) -> Mapping[str, str] | None:
        return self._configs.get(name)

    def target(self, name: str) -> TargetState:
        return self._targets.get(name, TargetState.STARTED)

    def tasks(self, name: str) -> TaskConfigs:
        return self._tasks.get(name, ())

    def task(self, task: TaskId) -> Mapping[str, str] | None:
        configs = self.tasks(task.connector)
        return configs[task.number] if task.number < len(configs) else None

    def task_ids(self) -> list[TaskId]:
        return [TaskId(name, number) for name in sorted(self._tasks) for number in range(len(self._tasks[name]))]

    def fenced_count(self, name: str) -> int:
        """How many tasks the connector had when its former ones were last fenced."""
        return self._fenced_counts.get(name, 0)

    def is_fencing_pending(self, name: str) -> bool:
        """Whether tasks have been configured since then."""
        return name in self._fencing_pending

    # --- replay ---

    def apply(self, record: LogRecord) -> Change | None:
        """What a record changes. A record that makes no sense changes nothing, and the log tells of it."""
        key = record.key.decode(errors="replace")
        for prefix, replay in _REPLAYS:
            if key.startswith(prefix):
                try:
                    return replay(self, key.removeprefix(prefix), _json_object(record.value))
                except _Senseless as problem:
                    _logger.error("the record %s of the config topic is passed over: %s", key, problem)
                    return None
        _logger.warning("the record %s of the config topic is passed over: no such key is known", key)
        return None

    def _connector(self, name: str, value: Mapping[str, Any] | None) -> Change:
        if value is None:
            self._forget(name)
        else:
            self._configs[name] = _properties(value)
        return ConnectorChange(name)

    def _forget(self, name: str) -> None:
        """What was fenced is kept: tasks of a new connector of that name have the same transactional ids."""
        for entries in (self._configs, self._targets, self._tasks, self._uncommitted):
            entries.pop(name, None)

    def _task(self, name: str, value: Mapping[str, Any] | None) -> None:
        connector, _, number = name.rpartition("-")
        if value is None or not connector:
            return
        if not number.isdecimal():
            raise _Senseless(f"{number!r} is no number of a task")
        self._uncommitted.setdefault(connector, {})[int(number)] = _properties(value)

    def _commit(self, name: str, value: Mapping[str, Any] | None) -> Change | None:
        configs = self._uncommitted.pop(name, {})
        if value is None or name not in self._configs:
            # The connector was deleted, and compaction has left this of it.
            return None
        count = _number(value, "tasks")
        if set(configs) != set(range(count)):
            # Compaction has eaten some of the configs: the worker that runs the connector will write all of them anew.
            raise _Senseless(f"it is about {count} tasks, of which {sorted(configs)} were found")
        self._tasks[name] = tuple(configs[number] for number in range(count))
        self._fencing_pending.add(name)
        return ConnectorChange(name)

    def _target_state(self, name: str, value: Mapping[str, Any] | None) -> Change:
        if value is None:
            self._targets.pop(name, None)
        else:
            word = value.get("state.v2") or value.get("state")
            if word not in TargetState.__members__:
                raise _Senseless(f"there is no target state {word!r}")
            self._targets[name] = TargetState(word)
        return ConnectorChange(name)

    def _restart(self, name: str, value: Mapping[str, Any] | None) -> Change | None:
        if value is None:
            return None
        return RestartRequest(name, value.get("include-tasks") is True, value.get("only-failed") is True)

    def _fencing(self, name: str, value: Mapping[str, Any] | None) -> Change | None:
        if value is None:
            return None
        self._fenced_counts[name] = _number(value, "task-count")
        self._fencing_pending.discard(name)
        return ConnectorChange(name)

    def _level(self, namespace: str, value: Mapping[str, Any] | None) -> Change | None:
        if value is None:
            return None
        level = value.get("level")
        if not isinstance(level, str):
            raise _Senseless(f"{level!r} is no level")
        return LevelChange(namespace, level)

    def _session_key(self, _rest: str, value: Mapping[str, Any] | None) -> None:
        if value is None:
            return
        try:
            key = b64decode(str(value.get("key")), validate=True)
        except Base64Error:
            raise _Senseless("its key is no base64") from None
        self.session_key = SessionKey(key, _number(value, "creation-timestamp"))


class _Senseless(ValueError):
    """Why a record means nothing."""


_Replay: TypeAlias = Callable[[ConfigState, str, Mapping[str, Any] | None], Change | None]
_REPLAYS: Final[tuple[tuple[str, _Replay], ...]] = (
    (records.CONNECTOR, ConfigState._connector),
    (records.TASK, ConfigState._task),
    (records.COMMIT, ConfigState._commit),
    (records.TARGET_STATE, ConfigState._target_state),
    (records.RESTART, ConfigState._restart),
    (records.FENCING, ConfigState._fencing),
    (records.LOGGER, ConfigState._level),
    (records.SESSION_KEY, ConfigState._session_key),
)


def _json_object(value: bytes | None) -> Mapping[str, Any] | None:
    if value is None:
        return None
    try:
        found = orjson.loads(value)
    except orjson.JSONDecodeError as error:
        raise _Senseless(f"its value is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise _Senseless(f"its value is {type(found).__name__}, and not an object")
    return found


def _properties(value: Mapping[str, Any]) -> Mapping[str, str]:
    found = value.get("properties")
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise _Senseless("it has no properties that are texts")
    return found


def _number(value: Mapping[str, Any], name: str) -> int:
    found = value.get(name)
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        raise _Senseless(f"its {name} is {found!r}")
    return found
