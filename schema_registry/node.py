"""This instance among the others: it writes while it leads, hands writes on while it does not, and says how it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Final

from starlette.responses import Response

from barnabas.kernel.http.request import Request
from barnabas.kernel.leadership.election import Election
from barnabas.kernel.leadership.forwarding import Forwarder
from barnabas.kernel.leadership.routing import lead_or_forward
from schema_registry.operations.register import Record
from schema_registry.store.record import Record as EncodedRecord
from schema_registry.store.store import Store

OFFSET_HEADER: Final = "X-Barnabas-Offset"
"""The last offset of a write; a follower responds when it has read as far."""


class Node:
    """The store, the election and the way to the leader."""

    def __init__(self, store: Store, forwarder: Forwarder, settle_s: float) -> None:
        self.store = store
        self._forwarder = forwarder
        self._settle_s = settle_s
        self._election: Election | None = None

    @property
    def election(self) -> Election:
        assert self._election is not None, "the election begins when the address of this instance is known"
        return self._election

    def take_part(self, election: Election) -> None:
        self._election = election
        election.start()

    async def leave(self) -> None:
        if self._election is not None:
            await self._election.stop()

    async def write(self, records: Sequence[Record]) -> None:
        """Write records, and return when they are replayed."""
        await self.store.write(
            [EncodedRecord(key.encode(), None if value is None else value.encode()) for key, value in records]
        )

    async def settle(self) -> None:
        """Wait until nothing is in doubt that was written before."""
        await self.store.settle()

    async def lead(self, request: Request, act: Callable[[], Awaitable[Response]]) -> Response:
        """Do a write here if this instance leads, else let the leader do it and wait until its records are here, too."""

        async def write() -> Response:
            response = await act()
            response.headers[OFFSET_HEADER] = str(self.store.position - 1)
            return response

        return await lead_or_forward(request, write, self.election, self._forwarder, self._settle_s, self._follow)

    async def _follow(self, response: Response) -> None:
        offset = response.headers.get(OFFSET_HEADER, "")
        if offset.isdigit():
            await self.store.wait_for(int(offset))
        elif response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR:
            await self.store.catch_up()

    async def catch_up(self) -> None:
        """A leader has read all that there is; a follower asks."""
        if self._election is None or not self._election.is_leader:
            await self.store.catch_up()
