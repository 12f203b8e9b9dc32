"""A connector that is assigned to this worker: it finds the shards of its source, and configures the tasks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from barnabas.kernel.kafka_log.failures import StoreFailure, Superseded
from connect.api.plugin import PluginKind
from connect.cluster.failures import Conflict, WorkerError
from connect.errors import ConnectError
from connect.storage.status import Condition, TargetState
from connect.tasks.messages import ShardList
from connect.worker.context import WorkerContext
from connect.worker.restarts import Restarts
from connect.worker.task_configs import sink_tasks, source_tasks

FAILED_HERE: Final = "The worker failed to run this connector; see its log."

_logger = logging.getLogger(__name__)


PublishTasks: TypeAlias = Callable[[str, Sequence[Mapping[str, str]]], Awaitable[None]]
"""Send the configs of a connector's tasks to the leader; Conflict when it cannot accept them now."""


@dataclass(frozen=True, slots=True)
class ConnectorTarget:
    """The desired state of a connector. No config: it is gone, or not known yet."""

    config: Mapping[str, str] | None
    state: TargetState = TargetState.STARTED


class WorkerConnector:
    """Brings a connector to its target, as `WorkerTask` does with a task."""

    def __init__(self, name: str, context: WorkerContext, publish_tasks: PublishTasks) -> None:
        self._name = name
        self._context = context
        self._publish_tasks = publish_tasks
        self._target = ConnectorTarget(None)
        self._ends = False
        self._restarts = Restarts(context.restart_policy)
        self._changed = asyncio.Event()
        self._reported: tuple[Condition, str] | None = None
        self._loop = asyncio.create_task(self._run(), name=f"connector {name}")

    def aim(self, target: ConnectorTarget) -> None:
        if target != self._target:
            self._target = target
            self._restarts.forget()
            self._changed.set()

    def restart(self) -> None:
        self._report(Condition.RESTARTING)
        self._restarts.forget()
        self._changed.set()

    def report_again(self) -> None:
        """Another worker has reported something about this connector meanwhile."""
        if self._reported is not None:
            self._report(*self._reported)

    async def end(self) -> None:
        self._ends = True
        self._changed.set()
        await self._loop

    async def _run(self) -> None:
        while not self._ends:
            self._changed.clear()
            try:
                again_s = await self._apply(self._target)
            except Exception:
                # A defect here must not take the worker with it, must show, and must not end the connector for good.
                _logger.exception("connector %s could not be run", self._name)
                again_s = self._failed(FAILED_HERE)
            try:
                async with asyncio.timeout(again_s):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def _apply(self, target: ConnectorTarget) -> float | None:
        """Bring the connector to its target; returns when to look again, if at all."""
        if target.config is None:
            return None
        if target.state is not TargetState.STARTED:
            self._report(Condition(target.state.value))
            return None
        self._restarts.started()
        try:
            rescan_s = await self._configure_tasks(target, target.config)
        except (Conflict, Superseded) as conflict:
            _logger.info("connector %s: its tasks could not be configured yet: %s", self._name, conflict)
            return self._context.conflict_retry_s
        except (ConnectError, WorkerError, StoreFailure, OSError) as failure:
            return self._failed(str(failure))
        return rescan_s

    def _failed(self, trace: str) -> float | None:
        delay_s = self._restarts.delay_s()
        note = self._restarts.note(delay_s)
        self._report(Condition.FAILED, f"{trace.rstrip()}\n{note}")
        _logger.warning("connector %s failed: %s", self._name, trace.partition("\n")[0])
        return delay_s

    async def _configure_tasks(self, target: ConnectorTarget, config: Mapping[str, str]) -> float | None:
        plugin = self._context.connector_plugin(config)
        rescan_s: float | None = None
        if plugin.kind is PluginKind.SINK:
            tasks: Sequence[Mapping[str, str]] = sink_tasks(config, plugin.class_name)
        else:
            found = await self._find_shards(config)
            if found is None:
                return 0
            tasks = source_tasks(config, plugin.class_name, found.shards)
            rescan_s = found.rescan_s
        if self._target != target:
            return 0
        self._report(Condition.RUNNING)
        await self._publish_tasks(self._name, tasks)
        self._restarts.forget()
        return rescan_s

    async def _find_shards(self, config: Mapping[str, str]) -> ShardList | None:
        """None when the target changes before the shards are known: a connector that hangs delays no change."""
        asking = asyncio.create_task(self._context.host.find_shards(self._context.connector_spec(self._name, config)))
        changing = asyncio.create_task(self._changed.wait())
        waits: list[asyncio.Future[Any]] = [asking, changing]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            return asking.result() if asking.done() else None
        finally:
            for each in waits:
                each.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    def _report(self, condition: Condition, trace: str = "") -> None:
        self._reported = condition, trace
        self._context.statuses.connector(self._name, condition, trace)
