"""The group of a worker, whether it is one of many or standalone."""

from __future__ import annotations

import asyncio
from typing import Protocol

from barnabas.kernel.leadership.routing import LedGroup
from connect.cluster.plan import Piece, Plan, Work


class RebalanceListener(Protocol):
    """What a member does with the assignments of its group."""

    @property
    def config_position(self) -> int:
        """How far this worker has read the config topic."""

    def wanted(self) -> Work:
        """All the work of the group."""

    def held(self) -> tuple[Work, Work]:
        """What this worker holds, and what it holds only until it has stopped."""

    def take(self, work: Work, generation: int) -> None:
        """Do this and nothing else; returns immediately."""

    def drop(self) -> None:
        """The group has lost this worker: stop everything, since others will do it."""

    async def lead(self) -> None:
        """Prepare to lead the group; called again if it fails."""

    async def resign(self) -> None: ...


class Group(LedGroup, Protocol):
    """Complete before `start`, which joins it: until then there is no plan and no leader."""

    @property
    def plan(self) -> Plan | None:
        """Who does what; None while that is not known."""

    @property
    def error(self) -> str | None:
        """Why this worker takes no part in its group, as long as that is so."""

    def start(self) -> None: ...

    async def stop(self) -> None: ...

    def consider(self) -> None:
        """The config topic has changed: rebalance if there is more or less to do now."""

    def rejoin(self) -> None:
        """Rebalance."""

    def owner_url(self, piece: Piece) -> str | None:
        """Where a piece of work is done, if that is another worker."""


class StandaloneGroup:
    """The group of a standalone worker, which leads and does everything."""

    def __init__(self, listener: RebalanceListener) -> None:
        self.plan: Plan | None = None
        self.is_leader = False
        self.leader_url: str | None = None
        self.error: str | None = None
        self._listener = listener
        self._starting: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._starting = asyncio.create_task(self._start())

    async def stop(self) -> None:
        await self.settle(0)
        self.is_leader = False
        await self._listener.resign()

    async def settle(self, timeout_s: float) -> bool:
        """There is no other worker to wait for."""
        if self._starting is not None:
            await self._starting
        return self.is_leader

    async def _start(self) -> None:
        await self._listener.lead()
        self.is_leader = True
        self.consider()

    def consider(self) -> None:
        if self.is_leader:
            self._listener.take(self._listener.wanted(), 0)

    def rejoin(self) -> None:
        self.consider()

    def owner_url(self, piece: Piece) -> str | None:
        return None
