"""Writing to the log: one batch under way, and all that arrives meanwhile goes into the next."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from schema_registry.errors import RegistryError
from schema_registry.store.failures import Fenced, RecordsTooLarge, StoreFailed
from schema_registry.store.record import Record
from schema_registry.store.topic_log import TopicLog

GROUP_MAX_BYTES: Final = 512 * 1024
QUEUE_MAX_BYTES: Final = 64 * 1024 * 1024
IDLE_MAX_S: Final = 600.0
NO_OFFSET: Final = -1

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class _Write:
    """Records that belong together, and where their offsets are awaited. Who waits no more has cancelled it."""

    records: Sequence[Record]
    size_bytes: int
    offsets: asyncio.Future[list[int]]


class Writer:
    """Takes writes while this instance leads."""

    def __init__(self, log: TopicLog, on_fenced: Callable[[], None]) -> None:
        self._log = log
        self._on_fenced = on_fenced
        self._queue: deque[_Write] = deque()
        self._queue_bytes = 0
        self._arrived = asyncio.Event()
        self.sent_s = 0.0
        """When the latest batch was sent first, on the clock of the event loop."""
        self._under_way: list[_Write] = []
        self._answered = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.left_offset = NO_OFFSET
        """The last record that was written and that nobody waits for any more: it may not have been applied yet."""

    @property
    def in_doubt(self) -> bool:
        """Whether a batch is under way that somebody has stopped waiting for: it may still be written."""
        return any(write.offsets.cancelled() for write in self._under_way)

    @property
    def is_running(self) -> bool:
        return self._task is not None and not self._task.done()

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="write to the schema topic")

    async def stop(self) -> None:
        """Write no more; whoever still waits is told that another instance leads."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        self._drop_queue()

    def submit(self, records: Sequence[Record]) -> asyncio.Future[list[int]]:
        """Queue records that are written together or not at all; their offsets, once the log has them."""
        if not self.is_running:
            raise Fenced("this instance does not lead")
        if self._queue_bytes > QUEUE_MAX_BYTES:
            raise StoreFailed("too many writes wait for the schema topic; try again later")
        write = _Write(
            records,
            sum(record.size_bytes for record in records),
            asyncio.get_running_loop().create_future(),
        )
        self._queue.append(write)
        self._queue_bytes += write.size_bytes
        self._arrived.set()
        return write.offsets

    def leave(self, offsets: asyncio.Future[list[int]]) -> None:
        """Wait no more for a write, whatever becomes of it."""
        if offsets.done() and not offsets.cancelled() and offsets.exception() is None:
            self.left_offset = max(self.left_offset, offsets.result()[-1])
        offsets.cancel()

    async def settled(self) -> None:
        """Return when no write is in doubt."""
        while self.in_doubt:
            await self._answered.wait()

    async def _run(self) -> None:
        try:
            while True:
                await self._write_next()
        except Fenced:
            _logger.warning("another instance leads now; this one writes no more")
            self._on_fenced()
        finally:
            self._drop_queue()

    async def _write_next(self) -> None:
        group: list[_Write] = []
        try:
            group = await self._next_group()
            self._under_way = group
            self.sent_s = asyncio.get_running_loop().time()
            self._answered.clear()
            await self._write(group)
        except (Fenced, asyncio.CancelledError):
            _refuse(group, Fenced("this instance lost the lead before the write was done; send it again"))
            raise
        except Exception as failure:
            _logger.exception("a write failed")
            _refuse(group, StoreFailed(f"the write failed: {failure}"))
        finally:
            self._under_way = []
            self._answered.set()

    async def _next_group(self) -> list[_Write]:
        while not self._queue:
            self._arrived.clear()
            try:
                async with asyncio.timeout(IDLE_MAX_S):
                    await self._arrived.wait()
            except TimeoutError:
                await self._log.keep()
        group: list[_Write] = []
        size_bytes = 0
        while self._queue and (not group or size_bytes + self._queue[0].size_bytes <= GROUP_MAX_BYTES):
            write = self._queue.popleft()
            self._queue_bytes -= write.size_bytes
            if not write.offsets.done():
                group.append(write)
                size_bytes += write.size_bytes
        return group

    async def _write(self, group: list[_Write]) -> None:
        records = [record for write in group for record in write.records]
        if not records:
            return
        try:
            offset = await self._log.append(records)
        except RecordsTooLarge as failure:
            if len(group) == 1:
                _refuse(group, failure)
                return
            for write in group:
                await self._write([write])
        except StoreFailed as failure:
            _refuse(group, failure)
        else:
            for write in group:
                offsets = list(range(offset, offset + len(write.records)))
                offset += len(write.records)
                if write.offsets.done():
                    self.left_offset = offsets[-1]
                else:
                    write.offsets.set_result(offsets)

    def _drop_queue(self) -> None:
        _refuse(self._queue, Fenced("another instance leads now; send the request again"))
        self._queue.clear()
        self._queue_bytes = 0


def _refuse(writes: Sequence[_Write] | deque[_Write], failure: RegistryError) -> None:
    for write in writes:
        if not write.offsets.done():
            write.offsets.set_exception(failure)
