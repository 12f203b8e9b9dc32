"""A task that is assigned to this worker: its process, and its restarts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from barnabas.kernel.kafka_log.failures import StoreFailure, Superseded
from connect.cluster.failures import WorkerError
from connect.errors import ConnectError
from connect.storage.status import Condition
from connect.tasks.host import ProcessEnd, TaskProcess
from connect.tasks.messages import (
    IdleState,
    MetricsReport,
    OffsetReport,
    Pause,
    PausedState,
    Resume,
    RetryState,
    RunningState,
    TaskFailure,
    TaskMessage,
    UsedTopics,
)
from connect.tasks.spec import TaskId, TaskSpec
from connect.worker.context import WorkerContext
from connect.worker.restarts import Restarts

ENDED: Final = "The task ended without being asked to, and did not say why."

FAILED_HERE: Final = "The worker failed to run this task; see its log."
PREPARE_TIMEOUT_S: Final = 180.0
"""For all that is read before a task starts; each step of it has a shorter limit."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TaskTarget:
    """The desired state of a task. No config: it should not run, for now."""

    config: Mapping[str, str] | None
    is_paused: bool = False


class WorkerTask:
    """Brings a task to its target. One coroutine does everything, so that requests never cross what is under way."""

    def __init__(self, task: TaskId, context: WorkerContext, after: asyncio.Task[None] | None = None) -> None:
        """`after` is the end of a former run of the same task, which is awaited."""
        self.metrics: Mapping[str, float] = {}
        self._task = task
        self._context = context
        self._target = TaskTarget(None)
        self._wants_restart = False
        self._ends = False
        self._restarts = Restarts(context.restart_policy)
        self._changed = asyncio.Event()
        self._process: TaskProcess | None = None
        self._trace = ""
        self._reported: tuple[Condition, str] | None = None
        self._loop = asyncio.create_task(self._run(after), name=f"task {task}")

    def aim(self, target: TaskTarget) -> None:
        if target != self._target:
            self._target = target
            self._changed.set()

    def restart(self) -> None:
        self._report(Condition.RESTARTING)
        self._restarts.forget()
        self._wants_restart = True
        self._changed.set()

    def report_again(self) -> None:
        """Another worker has reported something about this task meanwhile."""
        if self._reported is not None:
            self._report(*self._reported)

    def send(self, message: object) -> None:
        if self._process is not None:
            self._process.send(message)

    async def end(self) -> None:
        """Stop for good; returns when the process is gone."""
        self._ends = True
        self._changed.set()
        await self._loop

    async def _run(self, after: asyncio.Task[None] | None) -> None:
        if after is not None:
            await asyncio.wait([after])
        while not self._ends:
            target, self._wants_restart = self._target, False
            if target.config is None:
                await self._change()
                continue
            try:
                trace = await self._attempt(target, target.config)
            except Exception:
                # A defect here must not take the worker with it, must show, and must not end the task for good.
                _logger.exception("task %s could not be run", self._task)
                trace = FAILED_HERE
            if trace is not None:
                await self._back_off(trace)

    async def _attempt(self, target: TaskTarget, config: Mapping[str, str]) -> str | None:
        """Run until the task fails, whose trace is returned, or the target changes."""
        self._trace, self.metrics = "", {}
        ended: asyncio.Future[ProcessEnd] = asyncio.get_running_loop().create_future()
        self._restarts.started()
        try:
            spec = await self._prepared(target, config)
            if spec is None:
                return None
            self._process = await self._context.host.start(spec, self._receive, ended.set_result)
        except (ConnectError, WorkerError, StoreFailure, Superseded, OSError) as failure:
            return f"{type(failure).__name__}: {failure}"
        for level in self._context.loggers.changes:
            self.send(level)
        try:
            await self._follow(target, ended)
        finally:
            process, self._process = self._process, None
            if not ended.done():
                await process.stop(self._context.grace_s)
        if self._is_outdated(config):
            return None
        return self._trace or ended.result().trace or ENDED

    async def _prepared(self, target: TaskTarget, config: Mapping[str, str]) -> TaskSpec | None:
        """What to start the task with; None when the target changes before it is known, since Kafka may not answer for long."""
        preparing = asyncio.create_task(self._context.task_spec(self._task, config, starts_paused=target.is_paused))
        try:
            async with asyncio.timeout(PREPARE_TIMEOUT_S):
                while not preparing.done():
                    if self._target != target or self._is_outdated(config):
                        return None
                    await self._changed_or(preparing)
        except TimeoutError:
            raise WorkerError(f"how far it has been read could not be learnt in {PREPARE_TIMEOUT_S:g} s") from None
        finally:
            preparing.cancel()
            await asyncio.gather(preparing, return_exceptions=True)
        return preparing.result()

    async def _changed_or(self, other: asyncio.Future[Any]) -> None:
        """Wait until the target may have changed, or the other is done."""
        changing = asyncio.create_task(self._change())
        await asyncio.wait([changing, other], return_when=asyncio.FIRST_COMPLETED)
        changing.cancel()

    async def _follow(self, target: TaskTarget, ended: asyncio.Future[ProcessEnd]) -> None:
        """Return when the process has ended or should."""
        while not ended.done():
            # A change while the process started comes first.
            if self._is_outdated(target.config):
                return
            if self._target.is_paused != target.is_paused:
                target = self._target
                self.send(Pause() if target.is_paused else Resume())
            await self._changed_or(ended)

    def _is_outdated(self, config: Mapping[str, str] | None) -> bool:
        return self._ends or self._wants_restart or self._target.config != config

    async def _back_off(self, trace: str) -> None:
        delay_s = self._restarts.delay_s()
        message = f"{trace.rstrip()}\n{self._restarts.note(delay_s)}"
        self._report(Condition.FAILED, message)
        _logger.warning("task %s failed: %s", self._task, trace.partition("\n")[0])
        try:
            async with asyncio.timeout(delay_s):
                await self._change()
        except TimeoutError:
            # Until it runs, its status shows why it is started again.
            self._report(Condition.RESTARTING, message)

    async def _change(self) -> None:
        await self._changed.wait()
        self._changed.clear()

    def _receive(self, message: TaskMessage) -> None:
        task = self._task
        match message:
            case RunningState():
                self._report(Condition.RUNNING)
            case PausedState():
                self._report(Condition.PAUSED)
            case RetryState(reason, attempt):
                self._report(Condition.RUNNING, f"{reason}\nAttempt {attempt} has failed; the task tries on.")
            case IdleState(reason):
                self._report(Condition.RUNNING, reason)
            case TaskFailure(trace):
                self._trace = trace
            case UsedTopics(topics):
                self._context.note_topics(task, topics)
            case OffsetReport(offsets):
                self._context.offsets.keep(task.connector, offsets)
            case MetricsReport(values):
                self.metrics = values

    def _report(self, condition: Condition, trace: str = "") -> None:
        """A task that should not run any more may not exist any more either."""
        if self._target.config is not None:
            self._reported = condition, trace
            self._context.statuses.task(self._task, condition, trace)
