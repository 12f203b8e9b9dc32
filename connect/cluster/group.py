"""What a worker needs to know of its group, whether it is one of many or alone."""

from __future__ import annotations

import asyncio
from typing import Protocol

from connect.cluster.membership import Duties
from connect.cluster.plan import Piece, Plan


class Group(Protocol):
    @property
    def plan(self) -> Plan | None:
        """Who does what; None while that is not known."""

    @property
    def leads(self) -> bool:
        """Whether this worker decides for the group."""

    @property
    def leader_url(self) -> str | None:
        """Where the leader is, if it is another worker and known."""

    @property
    def error(self) -> str | None:
        """Why this worker takes no part in its group, as long as that is so."""

    def start(self) -> None: ...

    async def stop(self) -> None: ...

    async def settle(self, timeout_s: float) -> None:
        """Wait until there is a leader, or the time is up."""

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
        self.leads = False
        self.leader_url: str | None = None
        self.error: str | None = None
        self._duties = duties
        self._starting: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._starting = asyncio.create_task(self._start())

    async def stop(self) -> None:
        await self.settle(0)
        self.leads = False
        await self._duties.resign()

    async def settle(self, timeout_s: float) -> None:
        """There is nobody to wait for."""
        if self._starting is not None:
            await self._starting

    async def _start(self) -> None:
        await self._duties.lead()
        self.leads = True
        self.consider()

    def consider(self) -> None:
        if self.leads:
            self._duties.take(self._duties.wanted(), 0)

    def rejoin(self) -> None:
        self.consider()

    def owner_url(self, piece: Piece) -> str | None:
        return None
