"""An instance's membership of a group, for as long as the instance runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from barnabas.wire.client import Client
from barnabas.wire.membership import GroupMember, GroupSettings, Participant


class Participation:
    """Joins the group again after every failure. `on_failure` is called with each, and waits before the next attempt."""

    def __init__(
        self,
        client: Client,
        settings: GroupSettings,
        participant: Participant,
        on_failure: Callable[[Exception], Awaitable[None]],
    ) -> None:
        self._client = client
        self._settings = settings
        self._participant = participant
        self._on_failure = on_failure
        self._member: GroupMember | None = None
        self._running: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        return self._running is not None and not self._running.done()

    @property
    def session_ends_s(self) -> float:
        """Until when, by the monotonic clock, the group cannot have replaced this instance."""
        return 0.0 if self._member is None else self._member.session_ends_s

    def start(self) -> None:
        self._running = asyncio.create_task(self._run(), name=f"member of group {self._settings.group_id}")

    async def stop(self, timeout_s: float) -> None:
        """Leave the group, if that is possible in time."""
        if self._running is None:
            return
        if self._member is not None:
            self._member.stop()
            await asyncio.wait([self._running], timeout=timeout_s)
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)

    def rejoin(self) -> None:
        """Start a rebalance."""
        if self._member is not None:
            self._member.rejoin()

    async def _run(self) -> None:
        while True:
            self._member = GroupMember(self._client, self._settings, self._participant)
            try:
                await self._member.run()
            except Exception as failure:  # noqa: BLE001 - whatever it is, an instance must not drop out of its group for good
                await self._on_failure(failure)
            else:
                return
