"""The body of an upload of any length, as it arrives."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from starlette.requests import ClientDisconnect

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.inflation import StreamInflation
from rest_proxy.stopping import Stopping

if TYPE_CHECKING:
    from starlette.types import Message, Receive


class Upload:
    """Piece by piece, inflated. It is cut when the service stops, but only while a piece is waited for: records that have been read get
    their receipts."""

    def __init__(self, receive: Receive, stopping: Stopping, inflation: StreamInflation | None = None) -> None:
        self.is_cut = False
        self.problem: str | None = None
        """Why the rest of the upload cannot be inflated; what comes then is as it was sent, and means nothing."""
        self._receive = receive
        self._stopping = stopping
        self._inflation = inflation
        self._first: Message | None = None
        self._more = True

    @property
    def goes_on(self) -> bool:
        self.is_cut = self.is_cut or (self._more and self._stopping.is_set())
        return not self.is_cut and (self._more or self._is_inflating)

    async def begin(self) -> None:
        """Waits for the first piece, and keeps it."""
        self._first = await self._message()

    async def next(self) -> bytes:
        if self._inflation is None:
            return await self._sent()
        try:
            if not self._inflation.has_more:
                self._inflation.add(await self._sent())
                if not self._more:
                    self._inflation.finish()
            return self._inflation.piece()
        except HttpError as error:
            self.problem = error.message
            self._inflation = None
            return b""

    @property
    def _is_inflating(self) -> bool:
        return self._inflation is not None and self._inflation.has_more

    async def _sent(self) -> bytes:
        message, self._first = self._first or await self._message(), None
        if message is None:
            return b""
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        self._more = message.get("more_body", False)
        return cast("bytes", message.get("body", b""))

    async def _message(self) -> Message | None:
        """None when the service stops."""
        reading = asyncio.current_task()
        assert reading is not None, "uploads are read in tasks"
        try:
            with self._stopping.calls(reading.cancel):
                return await self._receive()
        except asyncio.CancelledError:
            if not self._stopping.is_set():
                raise
            reading.uncancel()
            return None
