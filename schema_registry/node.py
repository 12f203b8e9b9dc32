"""This instance among the others: it writes while it leads, hands writes on while it does not, and says how it is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus

from starlette.responses import Response

from barnabas.kernel.http.request import Request
from barnabas.wire.election.election import Election
from schema_registry.cluster.forwarding import OFFSET_HEADER, Answer, Call, Forwarder, LeaderUnreachable
from schema_registry.operations.register import Record
from schema_registry.store.record import Record as EncodedRecord
from schema_registry.store.store import Store

UNREACHABLE_RETRY_S = 0.2


class Node:
    """The store, the election and the way to the leader."""

    def __init__(self, store: Store, forwarder: Forwarder, settle_ms: int) -> None:
        self.store = store
        self._forwarder = forwarder
        self._settle_ms = settle_ms
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
        """Do a write here if this instance leads, else let the leader do it and wait until its records are here, too.

        Between two leaders, and while the group has not missed a dead one yet, a write waits rather than fail.
        """
        deadline_s = time.monotonic() + self._settle_ms / 1000
        while True:
            await self.election.settle(max(0, int((deadline_s - time.monotonic()) * 1000)))
            if self.election.is_leader:
                response = await act()
                response.headers[OFFSET_HEADER] = str(self.store.position - 1)
                return response
            try:
                answer = await self._forwarder.forward(await _call(request), self.election.leader)
            except LeaderUnreachable:
                if time.monotonic() >= deadline_s:
                    raise
                await asyncio.sleep(UNREACHABLE_RETRY_S)
            else:
                return await self._forwarded(answer)

    async def _forwarded(self, answer: Answer) -> Response:
        if answer.offset is not None:
            await self.store.wait_for(answer.offset)
        elif answer.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            await self.store.catch_up()
        return Response(answer.body, answer.status, media_type=answer.content_type)

    async def catch_up(self) -> None:
        """A leader has read all that there is; a follower asks."""
        if self._election is None or not self._election.is_leader:
            await self.store.catch_up()


async def _call(request: Request) -> Call:
    query: bytes = request.scope["query_string"]
    return Call(
        request.method,
        request.raw_path + (b"?" + query if query else b""),
        request.headers,
        await request.body(),
        request.client.host if request.client is not None else "",
    )
