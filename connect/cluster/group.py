"""What a worker needs to know of its group, whether it is one of many or alone."""

from __future__ import annotations

import asyncio
from typing import Protocol

from barnabas.kernel.leadership.routing import LedGroup
from connect.cluster.membership import Duties
from connect.cluster.plan import Piece, Plan


class Group(LedGroup, Protocol):
    @property
    def plan(self) -> Plan | None:
        """Who does what; None while that is not known."""

    @property
    def error(self) -> str | None:
        """Why this worker takes no part in its group, as long as that is so."""

    def start(self) -> None: ...

    async def stop(self) -> None: ...

    def consider(self) -> None:
        """The config topic has changed: share out anew if there is more or less to do now."""

    def rejoin(self) -> None:
        """Share out anew."""

    def owner_url(self, piece: Piece) -> str | None:
        """Where a piece of work is done, if that is another worker."""


class Alone:
    """A standalone worker decides by itself and does everything."""

    def __init__(self, duties: Duties) -> None:
        self.plan: Plan | None = None
        self.is_leader = False
        self.leader_url: str | None = None
        self.error: str | None = None
        self._duties = duties
        self._starting: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._starting = asyncio.create_task(self._start())

    async def stop(self) -> None:
        await self.settle(0)
        self.is_leader = False
        await self._duties.resign()

    async def settle(self, timeout_s: float) -> bool:
        """There is no other worker to wait for."""
        if self._starting is not None:
            await self._starting
        return self.is_leader

    async def _start(self) -> None:
        await self._duties.lead()
        self.is_leader = True
        self.consider()

    def consider(self) -> None:
        if self.is_leader:
            self._duties.take(self._duties.wanted(), 0)

    def rejoin(self) -> None:
        self.consider()

    def owner_url(self, piece: Piece) -> str | None:
        return None
