"""What should run on this worker, and what does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from connect.cluster.plan import NO_WORK, Piece, Work
from connect.tasks.spec import TaskId
from connect.worker.connector_run import ConnectorRun, ConnectorWish
from connect.worker.running import RunningTools
from connect.worker.state import ConfigState, RestartRequested
from connect.worker.statuses import Reported, Statuses
from connect.worker.task_run import TaskRun, Wish
from connect.worker.views import Condition, TargetState

_NOTHING: Final = Wish(None)


class Runner:
    """Each piece of work has its own run, which brings it to what the config topic says: a change to one touches no other.

    `may_start` says whether new tasks of a connector may start by now; `on_released` is called when a piece that was taken from this
    worker has stopped.
    """

    def __init__(
        self,
        state: ConfigState,
        statuses: Statuses,
        tools: RunningTools,
        may_start: Callable[[str], bool],
        on_released: Callable[[], None],
    ) -> None:
        self._state = state
        self._statuses = statuses
        self._tools = tools
        self._may_start = may_start
        self._on_released = on_released
        self._connectors: dict[str, ConnectorRun] = {}
        self._tasks: dict[TaskId, TaskRun] = {}
        self._releasing: dict[Piece, asyncio.Task[None]] = {}
        self._is_closed = False

    @property
    def held(self) -> Work:
        connectors = frozenset(map(Piece, self._connectors))
        return connectors | {Piece(task.connector, task.number) for task in self._tasks}

    @property
    def releasing(self) -> Work:
        return frozenset(self._releasing) - self.held

    def figures(self) -> Mapping[TaskId, Mapping[str, float]]:
        return {task: run.figures for task, run in self._tasks.items()}

    def take(self, work: Work, generation: int) -> None:
        """Run these pieces and no others."""
        if self._is_closed:
            return
        self._tools.board.generation = generation
        for piece in self.held - work:
            self._release(piece)
        for piece in work - self.held:
            self._begin(piece)
        self.reconcile({piece.connector for piece in work})

    def reconcile(self, connectors: Iterable[str]) -> None:
        """Bring what runs here to what the config topic says of these connectors."""
        names = set(connectors)
        for name in names & self._connectors.keys():
            wish = ConnectorWish(self._state.config(name), self._state.target(name))
            self._connectors[name].want(wish)
        for task, run in self._tasks.items():
            if task.connector in names:
                run.want(self._task_wish(task))

    def correct_statuses(self) -> None:
        """A worker that was away for long may give up work late that runs here by now; nobody should take its word for it."""
        for name, connector in self._connectors.items():
            if _is_given_up(self._statuses.connector(name)):
                connector.tell_again()
        for task, run in self._tasks.items():
            if _is_given_up(self._statuses.task(task)):
                run.tell_again()

    def restart_pieces(self, request: RestartRequested) -> None:
        """Restart what runs here of a connector, as far as it was asked for."""
        for piece in restarted(self._state, self._statuses, request) & self.held:
            self.restart(piece)

    def restart(self, piece: Piece) -> None:
        if piece.is_task:
            self._tasks[piece.task].restart()
        else:
            self._connectors[piece.connector].restart()

    def send(self, message: object) -> None:
        """Tell every task's process."""
        for run in self._tasks.values():
            run.send(message)

    async def close(self) -> None:
        """Stop everything, and take nothing more."""
        self._is_closed = True
        await self.stop()

    async def stop(self) -> None:
        """Stop everything together; returns when no process is left."""
        for piece in self.held:
            self._release(piece)
        await asyncio.gather(*self._releasing.values())

    def _task_wish(self, task: TaskId) -> Wish:
        config = self._state.task(task)
        target = self._state.target(task.connector)
        if config is None or target is TargetState.STOPPED or not self._may_start(task.connector):
            return _NOTHING
        return Wish(config, target is TargetState.PAUSED)

    def _begin(self, piece: Piece) -> None:
        if piece.is_task:
            self._tasks[piece.task] = TaskRun(piece.task, self._tools, self._releasing.get(piece))
        else:
            self._connectors[piece.connector] = ConnectorRun(piece.connector, self._tools)

    def _release(self, piece: Piece) -> None:
        run: TaskRun | ConnectorRun
        run = self._tasks.pop(piece.task) if piece.is_task else self._connectors.pop(piece.connector)
        self._releasing[piece] = asyncio.create_task(self._end(piece, run), name=f"release {piece}")

    async def _end(self, piece: Piece, run: TaskRun | ConnectorRun) -> None:
        await run.end()
        if self._releasing[piece] is asyncio.current_task():
            del self._releasing[piece]
        if piece not in self.held:
            self._tell_unassigned(piece)
        if not self._releasing:
            self._on_released()

    def _tell_unassigned(self, piece: Piece) -> None:
        board = self._tools.board
        if piece.is_task:
            if self._state.task(piece.task) is not None:
                board.task(piece.task, Condition.UNASSIGNED)
        elif piece.connector in self._state:
            board.connector(piece.connector, Condition.UNASSIGNED)


def _is_given_up(reported: Reported | None) -> bool:
    return reported is not None and reported.status.condition is Condition.UNASSIGNED


def restarted(state: ConfigState, statuses: Statuses, request: RestartRequested) -> Work:
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
