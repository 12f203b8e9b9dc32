"""A task that this worker is to run: its process, and what becomes of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from barnabas.kernel.kafka_log.failures import StoreFailure, Superseded
from connect.api.failures import ConnectError
from connect.tasks.host import ProcessEnd, TaskProcess
from connect.tasks.messages import (
    Failed,
    Figures,
    OffsetsReached,
    Pause,
    Paused,
    Resume,
    Retrying,
    Running,
    TaskMessage,
    TopicsUsed,
    Waiting,
)
from connect.tasks.spec import TaskId, TaskSpec
from connect.worker.failures import WorkerError
from connect.worker.restarts import Restarts
from connect.worker.running import RunningTools
from connect.worker.views import Condition

ENDED: Final = "The task ended without being asked to, and did not say why."

FAILED_HERE: Final = "The worker failed to run this task; see its log."
PREPARE_TIMEOUT_S: Final = 180.0
"""For all that is read before a task starts; each step of it has a shorter limit."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Wish:
    """How a task should be. No config: it should not run, for now."""

    config: Mapping[str, str] | None
    is_paused: bool = False


class TaskRun:
    """Keeps a task as it is wished. One coroutine does everything, so that what is asked meanwhile never crosses what is under way."""

    def __init__(self, task: TaskId, tools: RunningTools, after: asyncio.Task[None] | None = None) -> None:
        """`after` is the end of a former run of the same task, which is waited for."""
        self.figures: Mapping[str, float] = {}
        self._task = task
        self._tools = tools
        self._wish = Wish(None)
        self._wants_restart = False
        self._ends = False
        self._restarts = Restarts(tools.restart_policy)
        self._changed = asyncio.Event()
        self._process: TaskProcess | None = None
        self._trace = ""
        self._told: tuple[Condition, str] | None = None
        self._keeping = asyncio.create_task(self._keep(after), name=f"task {task}")

    def want(self, wish: Wish) -> None:
        if wish != self._wish:
            self._wish = wish
            self._changed.set()

    def restart(self) -> None:
        self._tell(Condition.RESTARTING)
        self._restarts.forget()
        self._wants_restart = True
        self._changed.set()

    def tell_again(self) -> None:
        """Somebody else has said something about this task meanwhile."""
        if self._told is not None:
            self._tell(*self._told)

    def send(self, message: object) -> None:
        if self._process is not None:
            self._process.send(message)

    async def end(self) -> None:
        """Stop for good; returns when the process is gone."""
        self._ends = True
        self._changed.set()
        await self._keeping

    async def _keep(self, after: asyncio.Task[None] | None) -> None:
        if after is not None:
            await asyncio.wait([after])
        while not self._ends:
            wish, self._wants_restart = self._wish, False
            if wish.config is None:
                await self._change()
                continue
            try:
                trace = await self._run(wish, wish.config)
            except Exception:
                # A defect here must not take the worker with it, must show, and must not end the task for good.
                _logger.exception("task %s could not be run", self._task)
                trace = FAILED_HERE
            if trace is not None:
                await self._back_off(trace)

    async def _run(self, wish: Wish, config: Mapping[str, str]) -> str | None:
        """Run until the task fails, whose trace is returned, or something else is wished."""
        self._trace, self.figures = "", {}
        ended: asyncio.Future[ProcessEnd] = asyncio.get_running_loop().create_future()
        self._restarts.started()
        try:
            spec = await self._prepared(wish, config)
            if spec is None:
                return None
            self._process = await self._tools.host.start(spec, self._hear, ended.set_result)
        except (ConnectError, WorkerError, StoreFailure, Superseded, OSError) as failure:
            return f"{type(failure).__name__}: {failure}"
        for level in self._tools.levels():
            self.send(level)
        try:
            await self._follow(wish, ended)
        finally:
            process, self._process = self._process, None
            if not ended.done():
                await process.stop(self._tools.grace_s)
        if self._is_wished_otherwise(config):
            return None
        return self._trace or ended.result().trace or ENDED

    async def _prepared(self, wish: Wish, config: Mapping[str, str]) -> TaskSpec | None:
        """What to start the task with; None when something else is wished before it is known, since Kafka may not answer for long."""
        preparing = asyncio.create_task(self._tools.task_spec(self._task, config, starts_paused=wish.is_paused))
        try:
            async with asyncio.timeout(PREPARE_TIMEOUT_S):
                while not preparing.done():
                    if self._wish != wish or self._is_wished_otherwise(config):
                        return None
                    await self._changed_or(preparing)
        except TimeoutError:
            raise WorkerError(f"how far it has been read could not be learnt in {PREPARE_TIMEOUT_S:g} s") from None
        finally:
            preparing.cancel()
            await asyncio.gather(preparing, return_exceptions=True)
        return preparing.result()

    async def _changed_or(self, other: asyncio.Future[Any]) -> None:
        """Wait until something else may be wished, or the other is done."""
        changing = asyncio.create_task(self._change())
        await asyncio.wait([changing, other], return_when=asyncio.FIRST_COMPLETED)
        changing.cancel()

    async def _follow(self, wish: Wish, ended: asyncio.Future[ProcessEnd]) -> None:
        """Return when the process has ended or should."""
        while not ended.done():
            # What was wished while the process started is looked at first.
            if self._is_wished_otherwise(wish.config):
                return
            if self._wish.is_paused != wish.is_paused:
                wish = self._wish
                self.send(Pause() if wish.is_paused else Resume())
            await self._changed_or(ended)

    def _is_wished_otherwise(self, config: Mapping[str, str] | None) -> bool:
        return self._ends or self._wants_restart or self._wish.config != config

    async def _back_off(self, trace: str) -> None:
        delay_s = self._restarts.delay_s()
        told = f"{trace.rstrip()}\n{self._restarts.note(delay_s)}"
        self._tell(Condition.FAILED, told)
        _logger.warning("task %s failed: %s", self._task, trace.partition("\n")[0])
        try:
            async with asyncio.timeout(delay_s):
                await self._change()
        except TimeoutError:
            # Until it runs, whoever looks sees why it is started again.
            self._tell(Condition.RESTARTING, told)

    async def _change(self) -> None:
        await self._changed.wait()
        self._changed.clear()

    def _hear(self, message: TaskMessage) -> None:
        task = self._task
        match message:
            case Running():
                self._tell(Condition.RUNNING)
            case Paused():
                self._tell(Condition.PAUSED)
            case Retrying(reason, attempt):
                self._tell(Condition.RUNNING, f"{reason}\nAttempt {attempt} has failed; the task tries on.")
            case Waiting(reason):
                self._tell(Condition.RUNNING, reason)
            case Failed(trace):
                self._trace = trace
            case TopicsUsed(topics):
                self._tools.note_topics(task, topics)
            case OffsetsReached(offsets):
                self._tools.keep_offsets(task.connector, offsets)
            case Figures(values):
                self.figures = values

    def _tell(self, condition: Condition, trace: str = "") -> None:
        """A task that should not run any more may not exist any more either."""
        if self._wish.config is not None:
            self._told = condition, trace
            self._tools.board.task(self._task, condition, trace)
