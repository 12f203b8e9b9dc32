"""Which server of a service runs the queries and writes commands."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from barnabas.kernel.kafka_log.failures import Superseded
from barnabas.kernel.kafka_log.log import ConfigLog
from barnabas.kernel.leadership.election import Election, ElectionSettings
from barnabas.kernel.leadership.identity import Identity
from barnabas.wire.client import Client
from streams_sql.engine.failures import Unavailable

SETTLE_TIMEOUT_S: Final = 15.0
"""How long a change waits for a leader."""
LEASES_PER_SESSION: Final = 20
"""How often the lease of the queries is renewed."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Duties:
    """What leading means. `lead` is called when this server has become the leader and has read every command; when it is one no more,
    `resign` returns as soon as nothing runs here. Meanwhile `lease` gets the time, of the monotonic clock, until which no other server can lead;
    None when that does not matter any more."""

    lead: Callable[[], None]
    resign: Callable[[], Awaitable[None]]
    lease: Callable[[float | None], None]


class Leadership:
    def __init__(
        self, client: Client, identity: Identity, settings: ElectionSettings, log: ConfigLog, duties: Duties
    ) -> None:
        self._log = log
        self._duties = duties
        self._own_url = identity.url
        self._lease_interval_s = settings.session_timeout_ms / 1000 / LEASES_PER_SESSION
        self._leasing: asyncio.Task[None] | None = None
        self._election = Election(
            client, identity, settings, on_elected=self._lead, on_deposed=self._resign, fenced=Superseded
        )

    def start(self) -> None:
        self._election.start()

    async def stop(self) -> None:
        """Only when nothing runs here any more does this server leave the others, one of which takes over then."""
        await self._election.stop()

    def lost(self) -> None:
        """Kafka has refused a command: another server leads."""
        self._election.rejoin()

    @property
    def is_leader(self) -> bool:
        return self._election.is_leader

    @property
    def leader_url(self) -> str | None:
        """Where changes are made, if that is another server and known."""
        return self._election.leader_url

    @property
    def error(self) -> str | None:
        return self._election.error

    async def settle(self, timeout_s: float = SETTLE_TIMEOUT_S) -> bool:
        """Wait until it is known who leads. Unavailable if it is not in time."""
        if not await self._election.settle(timeout_s):
            reason = self._election.error or "the election goes on"
            raise Unavailable(f"No server of this service leads yet: {reason}. Try again in a moment.")
        return True

    def check(self) -> None:
        """Unavailable where another server has to make changes."""
        if not self.is_leader:
            raise Unavailable(f"Changes are made by {self._election.leader and self._election.leader.url}, not here.")

    async def _lead(self) -> None:
        await self._log.lead()
        _logger.info("%s runs the queries", self._own_url)
        self._duties.lease(self._election.session_ends_s)
        self._leasing = asyncio.create_task(self._renew(), name="renew the lease")
        self._duties.lead()

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._lease_interval_s)
            self._duties.lease(self._election.session_ends_s)

    async def _resign(self) -> None:
        if self._leasing is not None:
            self._leasing.cancel()
            self._leasing = None
            await self._duties.resign()
            self._duties.lease(None)
            _logger.info("%s does not run the queries any more", self._own_url)
        await self._log.resign()
