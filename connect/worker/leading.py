"""What the leader of a group does beside answering: the key that workers sign with, fencing, and tidying up."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable
from typing import Final

from barnabas.kernel.kafka_log.failures import StoreFailure, Superseded
from barnabas.kernel.kafka_log.log import ConfigLog
from connect.api.failures import ConnectError
from connect.api.plugin import PluginKind
from connect.cluster.signatures import new_session_key
from connect.worker import config_records
from connect.worker.failures import WorkerError
from connect.worker.running import RunningTools
from connect.worker.state import ConfigState
from connect.worker.statuses import Statuses

RETRY_S: Final = 5.0
"""How soon something that failed is tried again."""
MS_PER_S: Final = 1000

_logger = logging.getLogger(__name__)


class Leading:
    """Begins when this worker is elected, and ends when it is not any more."""

    def __init__(
        self, log: ConfigLog, state: ConfigState, statuses: Statuses, tools: RunningTools, key_lifetime_ms: int
    ) -> None:
        self._log = log
        self._state = state
        self._statuses = statuses
        self._tools = tools
        self._key_lifetime_ms = key_lifetime_ms
        self._changed = asyncio.Event()
        self._working: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Shut out former leaders, and read what they have written."""
        await self._log.lead()
        if self._working is None:
            self._working = asyncio.create_task(self._work(), name="lead")

    async def stop(self) -> None:
        working, self._working = self._working, None
        if working is not None:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        await self._log.resign()

    def look(self) -> None:
        """Something has changed; there may be something to do."""
        self._changed.set()

    async def _work(self) -> None:
        while True:
            self._changed.clear()
            self._tidy()
            succeeded = [await self._try(self._renew_key())]
            succeeded += [await self._try(self._fence(name)) for name in self._state.connectors]
            try:
                async with asyncio.timeout(self._key_lifetime_ms / MS_PER_S if all(succeeded) else RETRY_S):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def _try(self, step: Awaitable[None]) -> bool:
        """One step that fails must not keep the leader from the others."""
        try:
            await step
        except (WorkerError, StoreFailure, Superseded, ConnectError) as failure:
            _logger.warning("the leader tries again in %g s: %s", RETRY_S, failure)
            return False
        return True

    async def _renew_key(self) -> None:
        key = self._state.session_key
        if key is None or time.time() * MS_PER_S - key.created_ms >= self._key_lifetime_ms:
            await self._log.append([config_records.session_key(new_session_key())])

    async def _fence(self, name: str) -> None:
        """New tasks of an exactly-once source start when none of the former ones can write any more."""
        if not is_fencing_needed(self._state, self._tools, name):
            return
        config = self._state.config(name)
        assert config is not None
        count = len(self._state.tasks(name))
        former = self._state.fenced_count(name)
        if former:
            await self._tools.host.fence(self._tools.connector_spec(name, config), former)
        await self._log.append([config_records.fencing(name, count)])

    def _tidy(self) -> None:
        """Nobody wants to know how connectors and tasks are that do not exist any more."""
        for name in self._statuses.names():
            if name in self._state:
                self._tools.board.post(self._statuses.forgetting_tasks(name, from_number=len(self._state.tasks(name))))
            else:
                self._tools.board.post(self._statuses.forgetting(name))


def is_fencing_needed(state: ConfigState, tools: RunningTools, name: str) -> bool:
    """Whether tasks of a connector must wait until their forerunners are shut out."""
    config = state.config(name)
    if config is None or not tools.context.exactly_once_source or not state.is_fencing_pending(name):
        return False
    try:
        return tools.connector_plugin(config).kind is PluginKind.SOURCE
    except ConnectError:
        # A class that is not there starts no task anyway, and its status says so.
        return False
