"""This worker as a member of its group: it replays what the group was told, runs its share of it, and leads when it is elected."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from barnabas.kernel.kafka_log.log import ConfigLog, LogRecord
from connect.cluster.group import Group
from connect.cluster.plan import Piece, Work
from connect.worker.leading import Leading
from connect.worker.loggers import Loggers
from connect.worker.runner import Runner
from connect.worker.state import ConfigState, ConnectorChanged, LevelChanged, RestartRequested
from connect.worker.statuses import Statuses


@dataclass(frozen=True, slots=True)
class Equipment:
    """What the member works with once everything has been read."""

    config_log: ConfigLog
    runner: Runner
    leading: Leading
    group: Group


class Member:
    def __init__(self, loggers: Loggers) -> None:
        self.state = ConfigState()
        self.statuses = Statuses()
        self._loggers = loggers
        self._equipment: Equipment | None = None
        self._dropping: asyncio.Task[None] | None = None

    def equip(self, equipment: Equipment) -> None:
        self._equipment = equipment

    # --- replay ---

    def apply_configs(self, records: Sequence[LogRecord]) -> None:
        """What comes before the worker runs is state alone; later records also ask for something."""
        changes = [change for record in records if (change := self.state.apply(record)) is not None]
        equipment = self._equipment
        if equipment is None:
            return
        equipment.runner.reconcile({change.name for change in changes if isinstance(change, ConnectorChanged)})
        for change in changes:
            if isinstance(change, RestartRequested):
                equipment.runner.restart_pieces(change)
            elif isinstance(change, LevelChanged):
                self.set_level(change.namespace, change.level)
        equipment.group.consider()
        equipment.leading.look()

    def apply_statuses(self, records: Sequence[LogRecord]) -> None:
        for record in records:
            self.statuses.apply(record)
        if self._equipment is None:
            return
        self._equipment.runner.correct_statuses()
        if any(name not in self.state for name in self.statuses.names()):
            self._equipment.leading.look()

    def set_level(self, namespace: str, level: str) -> list[str]:
        changed = self._loggers.set(namespace, level)
        if self._equipment is not None:
            for message in self._loggers.for_tasks:
                self._equipment.runner.send(message)
        return changed

    # --- duties in the group ---

    @property
    def config_position(self) -> int:
        return self._equipped.config_log.position

    def wanted(self) -> Work:
        connectors = frozenset(map(Piece, self.state.connectors))
        return connectors | {Piece(task.connector, task.number) for task in self.state.task_ids()}

    def held(self) -> tuple[Work, Work]:
        runner = self._equipped.runner
        return runner.held, runner.releasing

    def take(self, work: Work, generation: int) -> None:
        self._equipped.runner.take(work, generation)

    def drop(self) -> None:
        self._dropping = asyncio.create_task(self._equipped.runner.stop(), name="drop all work")

    async def lead(self) -> None:
        await self._equipped.leading.start()

    async def resign(self) -> None:
        await self._equipped.leading.stop()

    def released(self) -> None:
        """Something that was to move to another worker has stopped here."""
        group = self._equipped.group
        if group.plan is not None and group.plan.moving:
            group.rejoin()

    def fenced(self) -> None:
        """Another worker has begun to lead."""
        self._equipped.group.rejoin()

    @property
    def _equipped(self) -> Equipment:
        assert self._equipment is not None, "the member has no equipment yet"
        return self._equipment
