"""An answer that goes on until its client has gone, or the service stops."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Final

import orjson
from starlette.responses import Response

from rest_proxy.formats.failure import FormatFailure
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.streams.framing import Framing
from rest_proxy.v3.receipts import error_fields
from rest_proxy.v3.record_reader import error_of

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

PIECE_MAX_BYTES: Final = 64 * 1024
"""What is given to the server at once. It holds a few pieces of each stream whose client does not read, whatever their size."""


class StreamAnswer(Response, ABC):
    """Sends what `bodies` yields. The next one is asked for when the client has taken the last."""

    def __init__(self, framing: Framing, stopping: asyncio.Event) -> None:
        self.status_code = 200
        self.background = None
        self.media_type = framing.value
        self.init_headers({"cache-control": "no-store"})
        self._framing = framing
        self._stopping = stopping

    @abstractmethod
    def bodies(self) -> AsyncIterator[bytes]:
        """KafkaFailure and FormatFailure end the stream with their message."""

    def opening(self) -> bytes:
        """What the client is sent at once."""
        return self._framing.heartbeat

    @abstractmethod
    async def end(self) -> None:
        """Gives back what the stream holds."""

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        sending = asyncio.ensure_future(self._send(send))
        others = [asyncio.ensure_future(_gone(receive)), asyncio.ensure_future(self._stopping.wait())]
        try:
            await asyncio.wait([sending, *others], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in (sending, *others):
                each.cancel()
            await asyncio.gather(sending, *others, return_exceptions=True)
            await self.end()
        if sending.cancelled():
            await send({"type": "http.response.body", "body": b""})
        else:
            sending.result()

    async def _send(self, send: Send) -> None:
        # A first sign at once, so that the client knows that it is heard.
        await send({"type": "http.response.body", "body": self.opening(), "more_body": True})
        last = b""
        try:
            async for body in self.bodies():
                for start in range(0, len(body), PIECE_MAX_BYTES):
                    piece = body[start : start + PIECE_MAX_BYTES]
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
        except (KafkaFailure, FormatFailure) as failure:
            last = self._framing.error(orjson.dumps(error_fields(error_of(failure))))
        await send({"type": "http.response.body", "body": last})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
