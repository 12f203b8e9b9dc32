"""The writer thread: executes large writes, so that a disk that stalls does not stall the event loop with it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue

INLINE_WRITE_MAX_BYTES = 64 * 1024
"""Below this size a write goes to the page cache faster than a thread wakes up."""

Done = Callable[[Exception | None], None]


class Writer:
    """A queue of blocking writes and one thread that executes them in order. `done` is called on the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._unfinished = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._jobs: SimpleQueue[tuple[Callable[[], None], Done] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)
        self._thread.start()

    def submit(self, write: Callable[[], None], done: Done) -> None:
        self._unfinished += 1
        self._idle.clear()
        self._jobs.put((write, done))

    async def drain(self) -> None:
        """Waits until every write has ended and was reported, also those that were begun by such reports."""
        await self._idle.wait()

    def close(self) -> None:
        self._jobs.put(None)
        self._thread.join()

    def _finish(self, done: Done, error: Exception | None) -> None:
        try:
            done(error)
        finally:
            self._unfinished -= 1
            if self._unfinished == 0:
                self._idle.set()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            write, done = job
            error: Exception | None = None
            try:
                write()
            except Exception as problem:  # noqa: BLE001 - whatever it was, the partition must not wait for ever
                error = problem
            try:
                self._loop.call_soon_threadsafe(self._finish, done, error)
            except RuntimeError:  # the loop was closed under us: the broker is gone, nobody waits for the answer
                return
