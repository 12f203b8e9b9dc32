"""What clients may ask of a worker. HTTP calls this and nothing below it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from barnabas.kernel.kafka_clients.admin import Admin
from barnabas.kernel.kafka_log.failures import StoreFailure
from barnabas.kernel.kafka_log.log import LogRecord
from connect.api.source import SourceOffset
from connect.cluster.failures import CONFLICT, AlreadyExists, Conflict, Forbidden, NotFound
from connect.cluster.plan import Piece
from connect.config.secrets import masked, unmasked
from connect.config.validation import Validation
from connect.errors import ConnectError
from connect.herder.config_checks import NAME, ConfigChecks
from connect.herder.connector_offsets import ConnectorOffsets
from connect.herder.member import Member
from connect.herder.views import UNKNOWN_TYPE, About, ConnectorInfo, ConnectorStatus, Health, TaskInfo, Vitality
from connect.storage import config_records
from connect.storage.config_state import RestartRequest
from connect.storage.sink_offsets import SinkOffsets
from connect.storage.status import Condition, Status, TargetState
from connect.storage.statuses import StoredStatus
from connect.storage.stores import Stores
from connect.tasks.spec import TaskId
from connect.worker.context import WorkerContext
from connect.worker.loggers import level_number
from connect.worker.worker import restarted

ANSWER_TIMEOUT_S: Final = 2.0
"""Kafka counts as away when it does not answer for so long."""


class Herder:
    """What clients may do with the connectors of the group, or of a standalone worker.

    Reads are answered from what this worker has replayed. Writes (`create`, `put_config`, `patch_config`, `delete`, `set_target`,
    `restart`, `alter_offsets`, `reset_offsets`, `reset_topics`, `set_cluster_level`) are for the leader, `restart_connector` and
    `restart_task` for the worker that runs the piece: HTTP routes a request there through `connect.cluster.routing.Routing`.

    All raise `connect.cluster.failures`. Secrets in configurations are masked; a client that sends the mask back leaves the secret as
    it is.
    """

    def __init__(
        self,
        about: About,
        stores: Stores,
        context: WorkerContext,
        member: Member,
        admin: Admin,
        sink_offsets: SinkOffsets,
        may_reset_topics: bool,
    ) -> None:
        self.about = about
        self._state = stores.configs.state
        self._statuses = stores.statuses.state
        self._config_log = stores.configs.log
        self._status_log = stores.statuses.log
        self._context = context
        self._group = member.group
        self._worker = member.worker
        self._publisher = member.publisher
        self._admin = admin
        self._checks = ConfigChecks(context)
        self._offsets = ConnectorOffsets(self._state, self._group, context, sink_offsets)
        self._may_reset_topics = may_reset_topics
        # What is checked and then written must not change in between.
        self._deciding = asyncio.Lock()

    # --- the worker itself ---

    async def health(self) -> Health:
        """Kafka is asked as well: the group learns of a silence late."""
        group = self._group
        if group.error is not None:
            return Health(Vitality.UNHEALTHY, f"Worker takes no part in its group: {group.error}")
        if not group.is_leader and group.plan is None:
            return Health(Vitality.STARTING, "Worker is still starting up. It is joining its group.")
        try:
            await self._admin.cluster(ANSWER_TIMEOUT_S)
        except StoreFailure as failure:
            return Health(Vitality.UNHEALTHY, f"Worker cannot reach Kafka: {failure}")
        return Health(Vitality.HEALTHY, "Worker has completed startup and is ready to handle requests.")

    def task_metrics(self) -> Mapping[TaskId, Mapping[str, float]]:
        """Counters and gauges of the tasks that run here."""
        return self._worker.task_metrics()

    # --- connectors: reading ---

    def connectors(self) -> Sequence[str]:
        """The names, sorted."""
        return self._state.connectors

    def info(self, name: str) -> ConnectorInfo:
        config = self.config(name)
        tasks = [TaskId(name, number) for number in range(len(self._state.tasks(name)))]
        return ConnectorInfo(name, config, tasks, self._type(name))

    def config(self, name: str) -> Mapping[str, str]:
        return masked(self._context.plugins, self._config(name))

    def tasks(self, name: str) -> Sequence[TaskInfo]:
        self._config(name)
        plugins = self._context.plugins
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
        return await self._checks.validate(unmasked(self._context.plugins, config, former))

    async def create(
        self, name: str, config: Mapping[str, str], initial_state: TargetState | None = None
    ) -> ConnectorInfo:
        """AlreadyExists; InvalidConfig when validation finds errors."""
        self._require_absent(name)
        config = {**config, NAME: name}
        await self._checks.require(config)
        async with self._deciding:
            self._require_absent(name)
            target = [] if initial_state is None else [config_records.target_state(name, initial_state)]
            await self._write([*target, config_records.connector(name, config)])
        return self.info(name)

    async def put_config(self, name: str, config: Mapping[str, str]) -> tuple[bool, ConnectorInfo]:
        """Create or change; True when it was created."""
        former = self._state.config(name)
        config = unmasked(self._context.plugins, {**config, NAME: name}, former or {})
        await self._checks.require(config)
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
        pieces = restarted(self._state, self._statuses, RestartRequest(name, include_tasks, only_failed))
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
        return await self._offsets.read(name, self._config(name))

    async def alter_offsets(self, name: str, offsets: Sequence[SourceOffset]) -> str:
        """Set them for a STOPPED connector; None removes one. Returns the message of success."""
        async with self._deciding:
            return await self._offsets.alter(name, self._config(name), offsets)

    async def reset_offsets(self, name: str) -> str:
        """Forget them all, for a STOPPED connector. Returns the message of success."""
        async with self._deciding:
            return await self._offsets.reset(name, self._config(name))

    # --- topics that a connector has used ---

    def topics(self, name: str) -> Sequence[str]:
        """Forbidden when they are not tracked. A connector that there is not has used none."""
        if not self._context.tracks_topics:
            raise Forbidden("Topic tracking is disabled.")
        return self._statuses.topics(name)

    async def reset_topics(self, name: str) -> None:
        """Forbidden when they are not tracked or may not be reset."""
        self.topics(name)
        if not self._may_reset_topics:
            raise Forbidden("Topic tracking reset is disabled.")
        await self._status_log.append(list(self._statuses.forgetting_topics(name)))

    # --- loggers ---

    async def set_cluster_level(self, name: str, level: str) -> None:
        """Every worker changes its loggers. NotFound for a level that does not exist."""
        level_number(level)
        await self._write([config_records.logger_level(name, level.upper())])

    # --- from other workers ---

    async def accept_task_configs(self, name: str, body: bytes, headers: Mapping[str, str]) -> None:
        """`POST /connectors/{name}/tasks`: the worker that runs a connector sends the leader its task configs. Unauthorised without
        a signature of the group's key."""
        await self._publisher.accept(name, body, headers)

    def _config(self, name: str) -> Mapping[str, str]:
        config = self._state.config(name)
        if config is None:
            raise NotFound(f"Connector {name} not found")
        return config

    def _type(self, name: str) -> str:
        try:
            return str(self._context.connector_plugin(self._config(name)).kind.value)
        except ConnectError:
            return UNKNOWN_TYPE

    def _version(self, name: str) -> str | None:
        try:
            return self._context.connector_plugin(self._config(name)).version
        except ConnectError:
            return None

    def _current(self, reported: StoredStatus, version: str | None) -> Status:
        """What a worker said that has gone since does not hold any more."""
        plan = self._group.plan
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
        if piece not in self._worker.held:
            raise Conflict(CONFLICT)
        self._worker.restart(piece)

    async def _write(self, records: Sequence[LogRecord] | Iterator[LogRecord]) -> None:
        if not self._group.is_leader:
            raise Conflict(CONFLICT)
        await self._config_log.append(list(records))


def _restarting(status: Status, *, is_restarting: bool) -> Status:
    return replace(status, condition=Condition.RESTARTING, trace="") if is_restarting else status
