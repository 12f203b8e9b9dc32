"""A connector's own part on the worker that was given it: it finds what there is to share out, and configures the tasks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from barnabas.kernel.kafka_log.failures import StoreFailure, Superseded
from connect.api.failures import ConnectError
from connect.api.plugin import PluginKind
from connect.tasks.messages import ShardsFound
from connect.worker.failures import Conflict, WorkerError
from connect.worker.restarts import Restarts
from connect.worker.running import RunningTools
from connect.worker.task_configs import sink_tasks, source_tasks
from connect.worker.views import Condition, TargetState

FAILED_HERE: Final = "The worker failed to run this connector; see its log."

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ConnectorWish:
    """How a connector should be. No config: it is gone, or not known yet."""

    config: Mapping[str, str] | None
    target: TargetState = TargetState.STARTED


class ConnectorRun:
    """Keeps a connector as it is wished, as `TaskRun` does with a task."""

    def __init__(self, name: str, tools: RunningTools) -> None:
        self._name = name
        self._tools = tools
        self._wish = ConnectorWish(None)
        self._ends = False
        self._restarts = Restarts(tools.restart_policy)
        self._changed = asyncio.Event()
        self._told: tuple[Condition, str] | None = None
        self._keeping = asyncio.create_task(self._keep(), name=f"connector {name}")

    def want(self, wish: ConnectorWish) -> None:
        if wish != self._wish:
            self._wish = wish
            self._restarts.forget()
            self._changed.set()

    def restart(self) -> None:
        self._tell(Condition.RESTARTING)
        self._restarts.forget()
        self._changed.set()

    def tell_again(self) -> None:
        """Somebody else has said something about this connector meanwhile."""
        if self._told is not None:
            self._tell(*self._told)

    async def end(self) -> None:
        self._ends = True
        self._changed.set()
        await self._keeping

    async def _keep(self) -> None:
        while not self._ends:
            self._changed.clear()
            try:
                again_s = await self._do(self._wish)
            except Exception:
                # A defect here must not take the worker with it, must show, and must not end the connector for good.
                _logger.exception("connector %s could not be run", self._name)
                again_s = self._failed(FAILED_HERE)
            try:
                async with asyncio.timeout(again_s):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def _do(self, wish: ConnectorWish) -> float | None:
        """Bring the connector to what is wished; returns when to look again, if at all."""
        if wish.config is None:
            return None
        if wish.target is not TargetState.STARTED:
            self._tell(Condition(wish.target.value))
            return None
        self._restarts.started()
        try:
            rescan_s = await self._configure_tasks(wish, wish.config)
        except (Conflict, Superseded) as conflict:
            _logger.info("connector %s: its tasks could not be configured yet: %s", self._name, conflict)
            return self._tools.conflict_retry_s
        except (ConnectError, WorkerError, StoreFailure, OSError) as failure:
            return self._failed(str(failure))
        return rescan_s

    def _failed(self, trace: str) -> float | None:
        delay_s = self._restarts.delay_s()
        note = self._restarts.note(delay_s)
        self._tell(Condition.FAILED, f"{trace.rstrip()}\n{note}")
        _logger.warning("connector %s failed: %s", self._name, trace.partition("\n")[0])
        return delay_s

    async def _configure_tasks(self, wish: ConnectorWish, config: Mapping[str, str]) -> float | None:
        plugin = self._tools.connector_plugin(config)
        rescan_s: float | None = None
        if plugin.kind is PluginKind.SINK:
            tasks: Sequence[Mapping[str, str]] = sink_tasks(config, plugin.class_name)
        else:
            found = await self._find_shards(config)
            if found is None:
                return 0
            tasks = source_tasks(config, plugin.class_name, found.shards)
            rescan_s = found.rescan_s
        if self._wish != wish:
            return 0
        self._tell(Condition.RUNNING)
        await self._tools.publish_tasks(self._name, tasks)
        self._restarts.forget()
        return rescan_s

    async def _find_shards(self, config: Mapping[str, str]) -> ShardsFound | None:
        """None when something else is wished before the answer is there: a connector that hangs holds nobody up."""
        asking = asyncio.create_task(self._tools.host.find_shards(self._tools.connector_spec(self._name, config)))
        changing = asyncio.create_task(self._changed.wait())
        waits: list[asyncio.Future[Any]] = [asking, changing]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            return asking.result() if asking.done() else None
        finally:
            for each in waits:
                each.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    def _tell(self, condition: Condition, trace: str = "") -> None:
        self._told = condition, trace
        self._tools.board.connector(self._name, condition, trace)
