"""How far a view is behind its topic."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping


class Progress:
    """Told by the thread that reads, asked on the event loop. `ends` are the offsets behind the last records, as far as they are known."""

    def __init__(self, positions: Mapping[int, int]) -> None:
        self.positions: Mapping[int, int] = dict(positions)
        self.ends: Mapping[int, int] = {}
        self.has_read = any(positions.values())
        """Whether there was ever something in the topic."""
        self.is_caught_up = False
        """Whether each partition has been read to its end since the view was opened, or begun anew."""
        self.problem: str | None = None
        """Why the view does not get on, if something is wrong."""
        self._waiting: list[tuple[Mapping[int, int] | None, asyncio.Future[None]]] = []
        self._loop = asyncio.get_running_loop()

    @property
    def lag(self) -> int:
        """Offsets that are still to be read."""
        positions = self.positions
        return sum(max(0, end - positions.get(partition, 0)) for partition, end in self.ends.items())

    async def reach(self, offsets: Mapping[int, int]) -> None:
        """Return when every one of these partitions has been read up to its offset."""
        await self._wait(offsets)

    async def catch_up(self) -> None:
        """Return when everything has been read that was there when the view was opened."""
        await self._wait(None)

    async def _wait(self, offsets: Mapping[int, int] | None) -> None:
        waiting = self._loop.create_future()
        # First of all it is listed: what the thread tells from now on wakes it.
        self._waiting.append((offsets, waiting))
        self._wake()
        try:
            await waiting
        finally:
            self._waiting = [(other, future) for other, future in self._waiting if future is not waiting]

    def _has_reached(self, offsets: Mapping[int, int] | None) -> bool:
        if offsets is None:
            return self.is_caught_up
        return all(self.positions.get(partition, 0) >= offset for partition, offset in offsets.items())

    def _wake(self) -> None:
        for offsets, waiting in self._waiting:
            if not waiting.done() and self._has_reached(offsets):
                waiting.set_result(None)

    def cancel(self) -> None:
        """Nobody reads any more."""
        for _, waiting in self._waiting:
            waiting.cancel()

    # --- on the thread that reads ---

    def tell(self, positions: Mapping[int, int], ends: Mapping[int, int], *, is_caught_up: bool) -> None:
        self.positions = positions
        self.ends = ends
        self.has_read = self.has_read or any(positions.values())
        self.is_caught_up = is_caught_up
        if self._waiting and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)
