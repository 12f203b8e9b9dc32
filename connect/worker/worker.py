"""The connectors and tasks that run on this worker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from connect.cluster.plan import NO_WORK, Piece, Work
from connect.storage.config_state import ConfigState, RestartRequest
from connect.storage.status import Condition, TargetState
from connect.storage.statuses import Statuses, StoredStatus
from connect.tasks.spec import TaskId
from connect.worker.context import WorkerContext
from connect.worker.worker_connector import ConnectorTarget, PublishTasks, WorkerConnector
from connect.worker.worker_task import TaskTarget, WorkerTask

_STOPPED: Final = TaskTarget(None)


class Worker:
    """Runs what is assigned to it. Each connector and each task is brought to its own target: a change to one touches no other.

    `publish_tasks` sends the task configs of a connector to the leader; `may_start` says whether new tasks of a connector may start by
    now; `on_released` is called when a piece that was taken from this worker has stopped.
    """

    def __init__(
        self,
        state: ConfigState,
        statuses: Statuses,
        context: WorkerContext,
        publish_tasks: PublishTasks,
        may_start: Callable[[str], bool],
        on_released: Callable[[], None],
    ) -> None:
        self._state = state
        self._statuses = statuses
        self._context = context
        self._publish_tasks = publish_tasks
        self._may_start = may_start
        self._on_released = on_released
        self._connectors: dict[str, WorkerConnector] = {}
        self._tasks: dict[TaskId, WorkerTask] = {}
        self._releasing: dict[Piece, asyncio.Task[None]] = {}
        self._is_closed = False
        context.loggers.listen(self._send)

    @property
    def held(self) -> Work:
        connectors = frozenset(map(Piece, self._connectors))
        return connectors | {Piece(task.connector, task.number) for task in self._tasks}

    @property
    def releasing(self) -> Work:
        return frozenset(self._releasing) - self.held

    def task_metrics(self) -> Mapping[TaskId, Mapping[str, float]]:
        return {task: run.metrics for task, run in self._tasks.items()}

    def take(self, work: Work, generation: int) -> None:
        """Run these pieces and no others."""
        if self._is_closed:
            return
        self._context.statuses.generation = generation
        for piece in self.held - work:
            self._release(piece)
        for piece in work - self.held:
            self._begin(piece)
        self.reconcile({piece.connector for piece in work})

    def reconcile(self, connectors: Iterable[str]) -> None:
        """Bring what runs here to what the config topic says of these connectors."""
        names = set(connectors)
        for name in names & self._connectors.keys():
            self._connectors[name].aim(ConnectorTarget(self._state.config(name), self._state.target(name)))
        for task, run in self._tasks.items():
            if task.connector in names:
                run.aim(self._task_target(task))

    def correct_statuses(self) -> None:
        """A worker that was away for long may report work as unassigned that runs here by now; report it again."""
        for name, connector in self._connectors.items():
            if _is_given_up(self._statuses.connector(name)):
                connector.report_again()
        for task, run in self._tasks.items():
            if _is_given_up(self._statuses.task(task)):
                run.report_again()

    def restart_pieces(self, request: RestartRequest) -> None:
        """Restart what runs here of a connector, as far as it was asked for."""
        for piece in restarted(self._state, self._statuses, request) & self.held:
            self.restart(piece)

    def restart(self, piece: Piece) -> None:
        if piece.is_task:
            self._tasks[piece.task].restart()
        else:
            self._connectors[piece.connector].restart()

    async def close(self) -> None:
        """Stop everything, and take nothing more."""
        self._is_closed = True
        await self.stop()

    async def stop(self) -> None:
        """Stop everything together; returns when no process is left."""
        for piece in self.held:
            self._release(piece)
        await asyncio.gather(*self._releasing.values())

    def _task_target(self, task: TaskId) -> TaskTarget:
        config = self._state.task(task)
        target = self._state.target(task.connector)
        if config is None or target is TargetState.STOPPED or not self._may_start(task.connector):
            return _STOPPED
        return TaskTarget(config, target is TargetState.PAUSED)

    def _send(self, message: object) -> None:
        for run in self._tasks.values():
            run.send(message)

    def _begin(self, piece: Piece) -> None:
        if piece.is_task:
            self._tasks[piece.task] = WorkerTask(piece.task, self._context, self._releasing.get(piece))
        else:
            self._connectors[piece.connector] = WorkerConnector(piece.connector, self._context, self._publish_tasks)

    def _release(self, piece: Piece) -> None:
        run: WorkerTask | WorkerConnector
        run = self._tasks.pop(piece.task) if piece.is_task else self._connectors.pop(piece.connector)
        self._releasing[piece] = asyncio.create_task(self._end(piece, run), name=f"release {piece}")

    async def _end(self, piece: Piece, run: WorkerTask | WorkerConnector) -> None:
        await run.end()
        if self._releasing[piece] is asyncio.current_task():
            del self._releasing[piece]
        if piece not in self.held:
            self._report_unassigned(piece)
        if not self._releasing:
            self._on_released()

    def _report_unassigned(self, piece: Piece) -> None:
        statuses = self._context.statuses
        if piece.is_task:
            if self._state.task(piece.task) is not None:
                statuses.task(piece.task, Condition.UNASSIGNED)
        elif piece.connector in self._state:
            statuses.connector(piece.connector, Condition.UNASSIGNED)


def _is_given_up(reported: StoredStatus | None) -> bool:
    return reported is not None and reported.status.condition is Condition.UNASSIGNED


def restarted(state: ConfigState, statuses: Statuses, request: RestartRequest) -> Work:
    """What a request for a restart is about."""
    if request.name not in state:
        return NO_WORK
    pieces = {Piece(request.name): statuses.connector(request.name)}
    if request.include_tasks:
        for number in range(len(state.tasks(request.name))):
            pieces[Piece(request.name, number)] = statuses.task(TaskId(request.name, number))
    return frozenset(
        piece
        for piece, known in pieces.items()
        if not request.only_failed or (known is not None and known.status.condition is Condition.FAILED)
    )
