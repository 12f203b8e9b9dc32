"""The leader's own work: the key that workers sign with, fencing, and removing old statuses."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable
from typing import Final

from barnabas.kernel.kafka_log.failures import StoreFailure, Superseded
from connect.api.plugin import PluginKind
from connect.cluster.failures import WorkerError
from connect.cluster.signatures import new_session_key
from connect.errors import ConnectError
from connect.storage import config_records
from connect.storage.stores import Stores
from connect.worker.context import WorkerContext

RETRY_S: Final = 5.0
"""How soon something that failed is tried again."""
MS_PER_S: Final = 1000

_logger = logging.getLogger(__name__)


class Leader:
    """Works from `lead`, when this worker is elected, to `resign`."""

    def __init__(self, stores: Stores, context: WorkerContext, key_lifetime_ms: int) -> None:
        self._log = stores.configs.log
        self._state = stores.configs.state
        self._statuses = stores.statuses.state
        self._context = context
        self._key_lifetime_ms = key_lifetime_ms
        self._changed = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None

    async def lead(self) -> None:
        """Shut out former leaders, and read what they have written."""
        await self._log.lead()
        if self._loop is None:
            self._loop = asyncio.create_task(self._work(), name="lead")

    async def resign(self) -> None:
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.cancel()
            await asyncio.gather(loop, return_exceptions=True)
        await self._log.resign()

    def look(self) -> None:
        """Something has changed; there may be something to do."""
        self._changed.set()

    def is_fencing_needed(self, name: str) -> bool:
        """Whether tasks of a connector must wait until their forerunners are fenced."""
        config = self._state.config(name)
        if config is None or not self._context.config.exactly_once_source or not self._state.is_fencing_pending(name):
            return False
        try:
            return self._context.connector_plugin(config).kind is PluginKind.SOURCE
        except ConnectError:
            # A class that does not exist starts no task anyway, and its status says so.
            return False

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
        if not self.is_fencing_needed(name):
            return
        config = self._state.config(name)
        assert config is not None
        count = len(self._state.tasks(name))
        former = self._state.fenced_count(name)
        if former:
            await self._context.host.fence(self._context.connector_spec(name, config), former)
        await self._log.append([config_records.fencing(name, count)])

    def _tidy(self) -> None:
        """Remove the statuses of connectors and tasks that do not exist any more."""
        for name in self._statuses.names():
            if name in self._state:
                self._context.statuses.post(
                    self._statuses.forgetting_tasks(name, from_number=len(self._state.tasks(name)))
                )
            else:
                self._context.statuses.post(self._statuses.forgetting(name))
