"""Reading the log from its start to its end, and on for ever."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
from collections.abc import Callable
from typing import Final

from barnabas.wire.batch import Record as StoredRecord
from barnabas.wire.recovery import Recovery
from schema_registry.store.failures import OutOfRange, TopicReplaced
from schema_registry.store.topic_log import TopicLog

POLL_MS: Final = 500

_logger = logging.getLogger(__name__)


class Reader:
    """Hands over each record once, in order, and wakes those who wait for an offset. Nothing stops it but `stop`."""

    def __init__(self, log: TopicLog, take: Callable[[StoredRecord], None], start_again: Callable[[], None]) -> None:
        self.position = 0
        """Every record before this offset has been handed over."""
        self.high_watermark = 0
        self._log = log
        self._take = take
        self._start_again = start_again
        self._recovery = Recovery("reading the schema topic", _logger)
        self._task: asyncio.Task[None] | None = None
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._tickets = itertools.count()

    @property
    def is_alive(self) -> bool:
        return self._task is not None and not self._task.done() and self._recovery.error is None

    @property
    def error(self) -> str | None:
        return self._recovery.error

    @property
    def lag(self) -> int:
        return max(0, self.high_watermark - self.position)

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="read the schema topic")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def wait_for(self, offset: int) -> None:
        """Return when the record at `offset` has been handed over."""
        if self.position > offset:
            return
        reached: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (offset, next(self._tickets), reached))
        await reached

    async def _run(self) -> None:
        while True:
            try:
                await self._read_page()
            except Exception as failure:  # noqa: BLE001 - whatever it is, a registry that reads no more is of no use
                await self._recovery.after(failure)

    async def _read_page(self) -> None:
        try:
            page = await self._log.read(self.position, POLL_MS)
        except OutOfRange:
            await self._find_place()
            return
        except TopicReplaced as replaced:
            _logger.error("%s: it is read from its start", replaced)
            self._read_again_from(0)
            return
        self._recovery.succeeded()
        self.high_watermark = page.high_watermark
        for record in page.records:
            self._take(record)
        self._reach(page.next_offset)

    async def _find_place(self) -> None:
        """Go on where the log begins now; a log that lost its end is read again as a whole."""
        start, end = await self._log.start_offset(), await self._log.end_offset()
        if self.position < start:
            _logger.warning("offsets %d to %d are gone from the schema topic", self.position, start - 1)
            self._reach(start)
        elif self.position > end:
            _logger.error(
                "the schema topic ends at offset %d, before %d that was read already: it is read again from its start",
                end, self.position,
            )  # fmt: skip
            self._read_again_from(start)
        else:
            raise OutOfRange(
                f"the schema topic holds offsets {start} to {end}, yet it refuses to read at {self.position}"
            )

    def _read_again_from(self, start: int) -> None:
        self._start_again()
        self.position = start

    def _reach(self, position: int) -> None:
        self.position = position
        while self._waiting and self._waiting[0][0] < position:
            _, _, reached = heapq.heappop(self._waiting)
            if not reached.done():
                reached.set_result(None)
