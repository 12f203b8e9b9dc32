"""Write the statuses of what runs here."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Final

from barnabas.kernel.kafka_log.failures import StoreFailure
from barnabas.kernel.kafka_log.log import LogRecord
from connect.storage.status import Condition, Status
from connect.storage.status_store import StatusStore
from connect.storage.statuses import StoredStatus, connector_status, task_status, topic_used
from connect.tasks.spec import TaskId

RETRY_S: Final = 1.0
RECORDS_MAX: Final = 1_000
TRACE_CHARACTERS_MAX: Final = 16_000
"""Of a longer trace the end is cut: the cause comes first."""
FLUSH_TIMEOUT_S: Final = 3.0

_logger = logging.getLogger(__name__)


class StatusWriter:
    """Writes in the background: of the records that wait, the last for each key counts, and it is retried until it succeeds."""

    def __init__(self, store: StatusStore, worker_id: str) -> None:
        self.generation = 0
        self._log = store.log
        self._statuses = store.state
        self._worker_id = worker_id
        self._pending: dict[bytes, LogRecord] = {}
        self._posted = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()
        self._writing = asyncio.create_task(self._write(), name="write statuses")

    async def stop(self, *, waits: bool) -> None:
        """Give what waits a last chance, if it has one."""
        try:
            async with asyncio.timeout(FLUSH_TIMEOUT_S if waits else 0):
                await self._empty.wait()
        except TimeoutError:
            _logger.warning("%d statuses could not be written", len(self._pending))
        self._writing.cancel()
        await asyncio.gather(self._writing, return_exceptions=True)

    def connector(self, name: str, condition: Condition, trace: str = "") -> None:
        status = self._status(condition, trace)
        if self._is_news(status, self._statuses.connector(name)):
            self.post([connector_status(name, status, self.generation)])

    def task(self, task: TaskId, condition: Condition, trace: str = "") -> None:
        status = self._status(condition, trace)
        if self._is_news(status, self._statuses.task(task)):
            self.post([task_status(task, status, self.generation)])

    def topics(self, task: TaskId, topics: Iterable[str]) -> None:
        known = self._statuses.topics(task.connector)
        self.post(topic_used(task, topic) for topic in topics if topic not in known)

    def post(self, records: Iterable[LogRecord]) -> None:
        for record in records:
            # The later one goes to the end, so that it is not written before others that came earlier.
            self._pending.pop(record.key, None)
            self._pending[record.key] = record
        if self._pending:
            self._empty.clear()
            self._posted.set()

    def _status(self, condition: Condition, trace: str) -> Status:
        return Status(condition, self._worker_id, trace[:TRACE_CHARACTERS_MAX])

    def _is_news(self, status: Status, known: StoredStatus | None) -> bool:
        if known is None:
            return True
        if status.condition is Condition.UNASSIGNED and known.status.worker_id != self._worker_id:
            # Another worker has taken over and said so.
            return False
        # What is being written is not known yet, and may differ from what is.
        return not self._empty.is_set() or known != StoredStatus(status, self.generation)

    async def _write(self) -> None:
        while True:
            await self._posted.wait()
            self._posted.clear()
            while self._pending:
                keys = list(self._pending)[:RECORDS_MAX]
                records = [self._pending.pop(key) for key in keys]
                try:
                    await self._log.append(records)
                except StoreFailure as failure:
                    _logger.warning("statuses could not be written, and will be tried again: %s", failure)
                    self._pending = {record.key: record for record in records} | self._pending
                    await asyncio.sleep(RETRY_S)
            self._empty.set()
