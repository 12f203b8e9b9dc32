"""Which writes must wait for each other: those of one subject, and those that look at many subjects with all others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager


class WriteOrder:
    """Writes to different subjects go side by side; a write that needs to be alone waits for them, and they for it.

    A write that failed for its caller may still arrive. `settle` returns when there is no such write, and comes before each
    turn: what is decided in it must not contradict what arrives later.
    """

    def __init__(self, settle: Callable[[], Awaitable[None]]) -> None:
        self._settle = settle
        self._changed = asyncio.Condition()
        self._subjects: set[str] = set()
        self._alone = 0

    @asynccontextmanager
    async def subject(self, subject: str) -> AsyncIterator[None]:
        """No other write to this subject, and none that is alone, runs meanwhile."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._alone and subject not in self._subjects)
            self._subjects.add(subject)
        try:
            await self._settle()
            yield
        finally:
            async with self._changed:
                self._subjects.discard(subject)
                self._changed.notify_all()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """No other write runs meanwhile."""
        async with self._changed:
            # Counted while it waits, so that a stream of writes to subjects cannot keep it out for ever.
            self._alone += 1
            try:
                await self._changed.wait_for(lambda: not self._subjects)
            except BaseException:
                self._alone -= 1
                raise
            self._subjects.add(_EVERY_SUBJECT)
        try:
            await self._settle()
            yield
        finally:
            async with self._changed:
                self._subjects.discard(_EVERY_SUBJECT)
                self._alone -= 1
                self._changed.notify_all()


# No subject holds a control character.
_EVERY_SUBJECT = "\0"
