"""What clients may ask of a worker. HTTP and tests call this and nothing below it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from barnabas.kernel.kafka_log.log import ConfigLog, Log, LogRecord
from connect.api.failures import ConnectError
from connect.api.source import SourceOffset
from connect.cluster.group import Group
from connect.cluster.plan import Piece
from connect.config.secrets import masked, unmasked
from connect.config.validation import Validation
from connect.tasks.spec import TaskId
from connect.worker import config_records
from connect.worker.config_checks import NAME, ConfigChecks
from connect.worker.connector_offsets import ConnectorOffsets
from connect.worker.failures import CONFLICT, AlreadyExists, Conflict, Forbidden, NotFound, WorkerError
from connect.worker.loggers import Loggers, level_number
from connect.worker.member import Member
from connect.worker.runner import Runner, restarted
from connect.worker.running import RunningTools
from connect.worker.state import ConfigState, RestartRequested
from connect.worker.statuses import Reported, Statuses
from connect.worker.task_publishing import TaskPublishing
from connect.worker.views import (
    UNKNOWN_TYPE,
    About,
    Condition,
    ConnectorInfo,
    ConnectorStatus,
    Health,
    LoggerLevel,
    Status,
    TargetState,
    TaskInfo,
    Vitality,
)


@dataclass(frozen=True, slots=True)
class TopicTracking:
    """Whether it is noted which topics connectors use, and whether clients may have that forgotten."""

    is_enabled: bool = True
    may_reset: bool = True


@dataclass(frozen=True, slots=True)
class WorkerParts:
    """What a worker is made of, once everything that it replays has been read."""

    about: About
    state: ConfigState
    statuses: Statuses
    group: Group
    config_log: ConfigLog
    status_log: Log
    tools: RunningTools
    runner: Runner
    checks: ConfigChecks
    publishing: TaskPublishing
    offsets: ConnectorOffsets
    tracking: TopicTracking


class Worker:
    """One worker of a group, or a standalone one.

    Reads are answered from what this worker has replayed. Writes (`create`, `put_config`, `patch_config`, `delete`, `set_target`,
    `restart`, `alter_offsets`, `reset_offsets`, `reset_topics`, cluster-wide `set_level`) are for the leader, `restart_connector` and
    `restart_task` for the worker that runs the piece: HTTP routes a request there through `connect.cluster.routing.Routing`.

    All raise `connect.worker.failures`, and WorkerError itself while the worker is starting. Configurations are told with secrets masked;
    who sends the mask back leaves the secret as it is.
    """

    def __init__(self, member: Member, loggers: Loggers) -> None:
        self.stage = "reading its settings"
        """What the worker is doing while it starts, for people."""
        self._member = member
        self._loggers = loggers
        self._started: WorkerParts | None = None
        # What is checked and then written must not change in between.
        self._deciding = asyncio.Lock()

    def start(self, parts: WorkerParts) -> None:
        self._started = parts

    @property
    def _parts(self) -> WorkerParts:
        if self._started is None:
            raise WorkerError(f"The worker is still starting up: it is {self.stage}. Try again in a moment.")
        return self._started

    @property
    def _state(self) -> ConfigState:
        return self._parts.state

    @property
    def _statuses(self) -> Statuses:
        return self._parts.statuses

    # --- the worker itself ---

    def about(self) -> About:
        return self._parts.about

    def health(self) -> Health:
        if self._started is None:
            return Health(Vitality.STARTING, f"Worker is still starting up. It is {self.stage}.")
        group = self._started.group
        if group.error is not None:
            return Health(Vitality.UNHEALTHY, f"Worker takes no part in its group: {group.error}")
        if not group.is_leader and group.plan is None:
            return Health(Vitality.STARTING, "Worker is still starting up. It is joining its group.")
        return Health(Vitality.HEALTHY, "Worker has completed startup and is ready to handle requests.")

    def figures(self) -> Mapping[TaskId, Mapping[str, float]]:
        """Counters and gauges of the tasks that run here."""
        return {} if self._started is None else self._started.runner.figures()

    # --- connectors: reading ---

    def connectors(self) -> Sequence[str]:
        """The names, sorted."""
        return self._state.connectors

    def info(self, name: str) -> ConnectorInfo:
        config = self.config(name)
        tasks = [TaskId(name, number) for number in range(len(self._state.tasks(name)))]
        return ConnectorInfo(name, config, tasks, self._type(name))

    def config(self, name: str) -> Mapping[str, str]:
        return masked(self._parts.tools.plugins, self._config(name))

    def tasks(self, name: str) -> Sequence[TaskInfo]:
        self._config(name)
        plugins = self._parts.tools.plugins
        return [
            TaskInfo(TaskId(name, number), masked(plugins, config))
            for number, config in enumerate(self._state.tasks(name))
        ]

    def status(self, name: str) -> ConnectorStatus:
        """NotFound until the first status of a connector is there."""
        reported = self._statuses.connector(name)
        if name not in self._state or reported is None:
            raise NotFound(f"No status found for connector {name}")
        version = self._version(name)
        tasks = {
            number: self._current(found, version)
            for number in range(len(self._state.tasks(name)))
            if (found := self._statuses.task(TaskId(name, number))) is not None
        }
        return ConnectorStatus(name, self._current(reported, version), tasks, self._type(name))

    def task_status(self, task: TaskId) -> Status:
        reported = self._statuses.task(task)
        if self._state.task(task) is None or reported is None:
            raise NotFound(f"No status found for task {task}")
        return self._current(reported, self._version(task.connector))

    # --- connectors: writing ---

    async def validate(self, config: Mapping[str, str]) -> Validation:
        """BadRequest when its class is none."""
        former = self._state.config(config.get(NAME, "")) or {}
        return await self._parts.checks.validate(unmasked(self._parts.tools.plugins, config, former))

    async def create(
        self, name: str, config: Mapping[str, str], initial_state: TargetState | None = None
    ) -> ConnectorInfo:
        """AlreadyExists; InvalidConfig when validation finds errors."""
        self._require_absent(name)
        config = {**config, NAME: name}
        await self._parts.checks.require(config)
        async with self._deciding:
            self._require_absent(name)
            target = [] if initial_state is None else [config_records.target_state(name, initial_state)]
            await self._write([*target, config_records.connector(name, config)])
        return self.info(name)

    async def put_config(self, name: str, config: Mapping[str, str]) -> tuple[bool, ConnectorInfo]:
        """Create or change; True when it was created."""
        former = self._state.config(name)
        config = unmasked(self._parts.tools.plugins, {**config, NAME: name}, former or {})
        await self._parts.checks.require(config)
        async with self._deciding:
            await self._write([config_records.connector(name, config)])
        return former is None, self.info(name)

    async def patch_config(self, name: str, changes: Mapping[str, str | None]) -> ConnectorInfo:
        """Merge: None removes a key. NotFound: never creates."""
        merged = {**self._config(name), **changes}
        _, info = await self.put_config(name, {key: text for key, text in merged.items() if text is not None})
        return info

    async def delete(self, name: str) -> None:
        async with self._deciding:
            self._config(name)
            await self._write(config_records.connector_gone(name, len(self._state.tasks(name))))

    async def set_target(self, name: str, target: TargetState) -> None:
        """Pause, resume or stop."""
        async with self._deciding:
            self._require_present(name, f"Unknown connector {name}")
            tasks = config_records.tasks(name, ()) if target is TargetState.STOPPED else ()
            await self._write([*tasks, config_records.target_state(name, target)])

    async def restart(self, name: str, *, include_tasks: bool, only_failed: bool) -> ConnectorStatus:
        """Restart the connector and perhaps its tasks, wherever they run; the status shows what will restart as RESTARTING."""
        self._require_present(name, f"Unknown connector: {name}")
        status = self.status(name)
        pieces = restarted(self._state, self._statuses, RestartRequested(name, include_tasks, only_failed))
        await self._write([config_records.restart(name, include_tasks=include_tasks, only_failed=only_failed)])
        return replace(
            status,
            connector=_restarting(status.connector, is_restarting=Piece(name) in pieces),
            tasks={
                number: _restarting(task, is_restarting=Piece(name, number) in pieces)
                for number, task in status.tasks.items()
            },
        )

    async def restart_connector(self, name: str) -> None:
        """Restart the connector's own part, which runs here, and no task."""
        self._require_present(name, f"Unknown connector: {name}")
        self._restart(Piece(name))

    async def restart_task(self, task: TaskId) -> None:
        """Restart a task that runs here."""
        self._require_present(task.connector, f"Unknown connector: {task.connector}")
        if self._state.task(task) is None:
            raise NotFound(f"Unknown task: {task}")
        self._restart(Piece(task.connector, task.number))

    # --- offsets ---

    async def offsets(self, name: str) -> Sequence[SourceOffset]:
        """How far a source has been read, or with the keys kafka_topic, kafka_partition and kafka_offset how far a sink has."""
        return await self._parts.offsets.read(name, self._config(name))

    async def alter_offsets(self, name: str, offsets: Sequence[SourceOffset]) -> str:
        """Set them for a STOPPED connector; None removes one. Returns the message of success."""
        async with self._deciding:
            return await self._parts.offsets.alter(name, self._config(name), offsets)

    async def reset_offsets(self, name: str) -> str:
        """Forget them all, for a STOPPED connector. Returns the message of success."""
        async with self._deciding:
            return await self._parts.offsets.reset(name, self._config(name))

    # --- topics that a connector has used ---

    def topics(self, name: str) -> Sequence[str]:
        """Forbidden when they are not tracked. A connector that there is not has used none."""
        if not self._parts.tracking.is_enabled:
            raise Forbidden("Topic tracking is disabled.")
        return self._statuses.topics(name)

    async def reset_topics(self, name: str) -> None:
        """Forbidden when they are not tracked or may not be reset."""
        self.topics(name)
        if not self._parts.tracking.may_reset:
            raise Forbidden("Topic tracking reset is disabled.")
        await self._parts.status_log.append(list(self._statuses.forgetting_topics(name)))

    # --- loggers ---

    def loggers(self) -> Mapping[str, LoggerLevel]:
        return self._loggers.all()

    def logger(self, name: str) -> LoggerLevel:
        return self._loggers.one(name)

    async def set_level(self, name: str, level: str, *, cluster: bool) -> Sequence[str]:
        """The loggers that changed here, sorted; NotFound for a level that there is not. With `cluster`, every worker changes them, and
        the answer is empty."""
        level_number(level)
        if cluster:
            await self._write([config_records.logger_level(name, level.upper())])
            return []
        return self._member.set_level(name, level)

    # --- from other workers ---

    async def accept_task_configs(self, name: str, body: bytes, headers: Mapping[str, str]) -> None:
        """`POST /connectors/{name}/tasks`: the worker that runs a connector tells the leader its task configs. Unauthorised without
        a signature of the group's key."""
        await self._parts.publishing.accept(name, body, headers)

    # --- parts of these ---

    def _config(self, name: str) -> Mapping[str, str]:
        config = self._state.config(name)
        if config is None:
            raise NotFound(f"Connector {name} not found")
        return config

    def _type(self, name: str) -> str:
        try:
            return str(self._parts.tools.connector_plugin(self._config(name)).kind.value)
        except ConnectError:
            return UNKNOWN_TYPE

    def _version(self, name: str) -> str | None:
        try:
            return self._parts.tools.connector_plugin(self._config(name)).version
        except ConnectError:
            return None

    def _current(self, reported: Reported, version: str | None) -> Status:
        """What a worker said that has gone since does not hold any more."""
        plan = self._parts.group.plan
        status = replace(reported.status, version=version)
        if plan is None or status.worker_id in plan.urls:
            return status
        return replace(status, condition=Condition.UNASSIGNED)

    def _require_present(self, name: str, message: str) -> None:
        if name not in self._state:
            raise NotFound(message)

    def _require_absent(self, name: str) -> None:
        if name in self._state:
            raise AlreadyExists(f"Connector {name} already exists")

    def _restart(self, piece: Piece) -> None:
        if piece not in self._parts.runner.held:
            raise Conflict(CONFLICT)
        self._parts.runner.restart(piece)

    async def _write(self, records: Sequence[LogRecord] | Iterator[LogRecord]) -> None:
        if not self._parts.group.is_leader:
            raise Conflict(CONFLICT)
        await self._parts.config_log.append(list(records))


def _restarting(status: Status, *, is_restarting: bool) -> Status:
    return replace(status, condition=Condition.RESTARTING, trace="") if is_restarting else status
