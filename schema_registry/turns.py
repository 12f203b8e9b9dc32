"""Taking turns at heavy work."""

from __future__ import annotations

import asyncio


class Turns:
    """One at a time; of those who wait, who came last is next.

    A request takes several turns, and comes back for its next one behind everybody who waits for the first. In the order of
    arrival all requests would get half done together, and all too late.
    """

    def __init__(self) -> None:
        self._taken = False
        self._waiting: list[asyncio.Future[None]] = []

    async def __aenter__(self) -> None:
        if not self._taken:
            self._taken = True
            return
        called: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(called)
        try:
            await called
        except asyncio.CancelledError:
            if not called.cancelled():
                self._call_next()
            raise

    async def __aexit__(self, *_failure: object) -> None:
        self._call_next()

    def _call_next(self) -> None:
        while self._waiting:
            called = self._waiting.pop()
            if not called.done():
                called.set_result(None)
                return
        self._taken = False
