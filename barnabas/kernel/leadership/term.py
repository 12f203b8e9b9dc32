"""One instance's time as the leader: prepared, led, resigned."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from barnabas.wire.recovery import Recovery


class Term:
    """Whether this instance leads, and whether it is known who does.

    `begin` calls `prepare`, again and again while it fails; once it has returned this instance leads, and `on_ready` is called. `end` calls
    `resign`, and cancels a preparation that is not finished. A failure of the type `fenced` ends the preparation: another instance has
    become the leader, and `on_fenced` is called.
    """

    def __init__(
        self,
        prepare: Callable[[], Awaitable[None]],
        resign: Callable[[], Awaitable[None]],
        on_ready: Callable[[], None],
        *,
        logger: logging.Logger,
        fenced: type[Exception] | tuple[()] = (),
        on_fenced: Callable[[], None] = lambda: None,
    ) -> None:
        self.is_leader = False
        self._prepare = prepare
        self._resign = resign
        self._on_ready = on_ready
        self._fenced = fenced
        self._on_fenced = on_fenced
        self._recovery = Recovery("preparing to lead", logger)
        self._preparing: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._resigning = asyncio.Lock()

    @property
    def has_begun(self) -> bool:
        return self._preparing is not None

    @property
    def is_settled(self) -> bool:
        """Whether this instance leads, or knows that another one does."""
        return self._settled.is_set()

    @property
    def error(self) -> str | None:
        """Why the preparation fails."""
        return self._recovery.error

    async def settle(self, timeout_s: float) -> bool:
        """Wait until it is known who leads. False if it is not in time."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._settled.wait()
        except TimeoutError:
            return False
        return True

    def begin(self) -> None:
        if self._preparing is None:
            self._preparing = asyncio.create_task(self._run(), name="prepare to lead")

    def follow(self) -> None:
        """Another instance leads."""
        self._settled.set()

    async def end(self) -> None:
        self.is_leader = False
        self._settled.clear()
        self._recovery.forget()
        preparing, self._preparing = self._preparing, None
        if preparing is not None:
            preparing.cancel()
        # Elected again meanwhile, this instance prepares only when nothing is left of the former time.
        async with self._resigning:
            if preparing is not None:
                await asyncio.gather(preparing, return_exceptions=True)
                await self._resign()

    def suspend(self) -> None:
        """A rebalance begins: a leader goes on, and the others do not know who leads."""
        if not self.is_leader:
            self._settled.clear()

    async def _run(self) -> None:
        async with self._resigning:
            pass
        while True:
            try:
                await self._prepare()
            except self._fenced:
                self._on_fenced()
                return
            except Exception as failure:  # noqa: BLE001 - an elected instance that gives up would leave no leader at all
                await self._recovery.after(failure)
            else:
                break
        self.is_leader = True
        self._recovery.forget()
        self._on_ready()
        self._settled.set()
