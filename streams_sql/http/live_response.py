"""An answer that goes on until it ends, its client has gone, or the server stops."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

PIECE_MAX_BYTES: Final = 64 * 1024
"""What is given to the server at once. It holds a few pieces of each answer whose client does not read, whatever their size."""


class LiveResponse(Response, ABC):
    """Sends what `pieces` yields: the next one is asked for when the client has taken the last."""

    def __init__(self, media_type: str) -> None:
        self.status_code = 200
        self.background = None
        self.media_type = media_type
        self.init_headers({"cache-control": "no-store"})

    @abstractmethod
    def pieces(self) -> AsyncGenerator[bytes]: ...

    async def end(self) -> None:
        """Give back what the answer holds. Called once, however it ended."""

    async def watch(self, receive: Receive) -> None:
        """Return when the answer is to end before it is whole: by itself, when the client has gone."""
        while (await receive())["type"] != "http.disconnect":
            pass

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        sending = asyncio.ensure_future(self._send(send))
        watching = asyncio.ensure_future(self.watch(receive))
        try:
            await asyncio.wait((sending, watching), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sending.cancel()
            watching.cancel()
            await asyncio.gather(sending, watching, return_exceptions=True)
            await self.end()
        if not sending.cancelled():
            sending.result()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        # The head goes out with the first piece, which may take its time; clients send rows when they have seen the head.
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        async with aclosing(self.pieces()) as pieces:
            async for piece in pieces:
                for start in range(0, len(piece), PIECE_MAX_BYTES):
                    part = piece[start : start + PIECE_MAX_BYTES]
                    await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
