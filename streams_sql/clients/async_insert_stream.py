"""Rows as they come to be, written by programs of asyncio: apart, since asyncio takes longer to load than a call."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

from streams_sql.clients.insert_exchange import UNACKED_MAX, InsertExchange
from streams_sql.clients.insert_stream import RECEIVE_BYTES, place_of
from streams_sql.clients.protocol import ANSWER_TIMEOUT_S, CONNECT_TIMEOUT_S, unreachable


class AsyncInsertStream:
    """The same as InsertStream for asyncio; `async with` opens it."""

    def __init__(self, url: str, target: str) -> None:
        self._url = url
        self._exchange = InsertExchange(url, target)
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._news = asyncio.Event()

    async def __aenter__(self) -> AsyncInsertStream:
        scheme, host, port = place_of(self._url)
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                self._reader, self._writer = await asyncio.open_connection(host, port, ssl=scheme == "https" or None)
        except OSError as problem:
            raise unreachable(self._url, problem) from None
        self._reading = asyncio.create_task(self._read(self._reader))
        await self._send(self._exchange.opening())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            await self.close()
        else:
            await self._disconnect()

    @property
    def written(self) -> int:
        return self._exchange.written

    async def send(self, row: Mapping[str, Any]) -> None:
        await self._send(self._exchange.row(row))
        while self._exchange.under_way >= UNACKED_MAX and not self._exchange.is_over:
            await self._receive()
        self._exchange.check()

    async def flush(self) -> int:
        while self._exchange.under_way and not self._exchange.is_over:
            await self._receive()
        return self._exchange.result()

    async def close(self) -> int:
        if self._writer is None:
            return self.written
        try:
            await self._send(self._exchange.ending())
            while not self._exchange.is_over:
                await self._receive()
        finally:
            await self._disconnect()
        return self._exchange.result()

    async def _disconnect(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        if self._writer is not None:
            self._writer.close()
            with contextlib.suppress(OSError):
                await self._writer.wait_closed()
            self._writer = None

    async def _send(self, data: bytes) -> None:
        assert self._writer is not None, "the stream is open"
        try:
            self._writer.write(data)
            await self._writer.drain()
        except OSError as problem:
            await self._receive()
            self._exchange.check()
            raise unreachable(self._url, problem) from None

    async def _receive(self) -> None:
        """Wait until something has come, or nothing comes any more."""
        assert self._reading is not None, "the stream is open"
        if self._reading.done():
            self._reading.result()
            return
        self._news.clear()
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                await self._news.wait()
        except TimeoutError as problem:
            raise unreachable(self._url, problem) from None

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while not self._exchange.is_over:
                self._exchange.receive(await reader.read(RECEIVE_BYTES))
                self._news.set()
        except OSError as problem:
            raise unreachable(self._url, problem) from None
        finally:
            self._news.set()
