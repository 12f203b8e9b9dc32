"""This worker as a member of its group: it follows the config topic and its assignments, and leads when it is elected."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from barnabas.kernel.leadership.forwarding import Forwarder
from connect.cluster.group import Group, RebalanceListener
from connect.cluster.plan import Piece, Work
from connect.herder.leader import Leader
from connect.herder.task_config_publisher import TaskConfigPublisher
from connect.storage.config_state import Change, ConnectorChange, LevelChange, RestartRequest
from connect.storage.stores import Stores
from connect.worker.context import WorkerContext
from connect.worker.worker import Worker


class Member:
    """Owns the group, the worker and the leader, which need each other: each change of the config topic and each assignment goes
    through here."""

    def __init__(
        self,
        stores: Stores,
        context: WorkerContext,
        forwarder: Forwarder,
        key_lifetime_ms: int,
        make_group: Callable[[RebalanceListener], Group],
    ) -> None:
        self._configs = stores.configs
        self._statuses = stores.statuses.state
        self._loggers = context.loggers
        self._drop: asyncio.Task[None] | None = None
        self._leader = Leader(stores, context, key_lifetime_ms)
        self.group = make_group(self)
        self.publisher = TaskConfigPublisher(stores.configs, self.group, forwarder)
        self.worker = Worker(
            stores.configs.state,
            self._statuses,
            context,
            self.publisher.publish,
            lambda connector: not self._leader.is_fencing_needed(connector),
            self._rejoin_if_moving,
        )
        stores.configs.listen(self)
        stores.statuses.listen(self._on_status_changes)

    # --- changes of the topics ---

    def on_config_changes(self, changes: Sequence[Change]) -> None:
        self.worker.reconcile({change.name for change in changes if isinstance(change, ConnectorChange)})
        for change in changes:
            if isinstance(change, RestartRequest):
                self.worker.restart_pieces(change)
            elif isinstance(change, LevelChange):
                self._loggers.set(change.namespace, change.level)
        self.group.consider()
        self._leader.look()

    def on_fenced(self) -> None:
        self.group.rejoin()

    def _on_status_changes(self) -> None:
        self.worker.correct_statuses()
        if any(name not in self._configs.state for name in self._statuses.names()):
            self._leader.look()

    # --- the group's assignments ---

    @property
    def config_position(self) -> int:
        return self._configs.log.position

    def wanted(self) -> Work:
        state = self._configs.state
        connectors = frozenset(map(Piece, state.connectors))
        return connectors | {Piece(task.connector, task.number) for task in state.task_ids()}

    def held(self) -> tuple[Work, Work]:
        return self.worker.held, self.worker.releasing

    def take(self, work: Work, generation: int) -> None:
        self.worker.take(work, generation)

    def drop(self) -> None:
        self._drop = asyncio.create_task(self.worker.stop(), name="drop all work")

    async def lead(self) -> None:
        await self._leader.lead()

    async def resign(self) -> None:
        await self._leader.resign()

    def _rejoin_if_moving(self) -> None:
        """Something that was to move to another worker has stopped here."""
        if self.group.plan is not None and self.group.plan.moving:
            self.group.rejoin()
