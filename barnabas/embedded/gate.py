"""The network between clients and a broker, with the faults that networks have: what clients connect to passes everything on."""

from __future__ import annotations

import asyncio
import socket
from typing import Final

CHUNK_BYTES: Final = 262_144
CONNECT_TIMEOUT_S: Final = 5.0


class Gate:
    """Belongs to the broker's event loop. `delay_ms` holds each piece on its way in both directions, in order; while `is_shut`,
    connections are accepted and closed at once; while `is_stalled`, nothing passes and nothing is closed, as with a cable that is pulled."""

    def __init__(self) -> None:
        self.delay_ms = 0
        self.is_shut = False
        self._open = asyncio.Event()
        self._open.set()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._target: tuple[str, int] | None = None
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def port(self) -> int:
        port: int = self._socket.getsockname()[1]
        return port

    @property
    def is_stalled(self) -> bool:
        return not self._open.is_set()

    def stall(self, is_stalled: bool) -> None:
        if is_stalled:
            self._open.clear()
        else:
            self._open.set()

    async def open(self, target: tuple[str, int]) -> None:
        """Begin to pass on to the broker, which listens there by now."""
        self._target = target
        self._server = await asyncio.start_server(self._pass, sock=self._socket, limit=CHUNK_BYTES)

    def drop_connections(self) -> int:
        """Cut all connections; returns how many there were. Clients may come again at once."""
        for writer in self._writers:
            # A reset, not an orderly end: what was under way is lost.
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
            writer.transport.abort()
        count = len(self._writers) // 2
        self._writers.clear()
        return count

    async def close(self) -> None:
        if self._server is None:
            self._socket.close()
            return
        self._server.close()
        self.stall(False)
        self.drop_connections()
        await self._server.wait_closed()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert self._target is not None, "the gate has been opened"
        if self.is_shut:
            writer.transport.abort()
            return
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                inner_reader, inner_writer = await asyncio.open_connection(*self._target, limit=CHUNK_BYTES)
        except (OSError, TimeoutError):
            writer.transport.abort()
            return
        both = {writer, inner_writer}
        self._writers |= both
        try:
            await asyncio.gather(self._copy(reader, inner_writer), self._copy(inner_reader, writer))
        finally:
            self._writers -= both
            for one in both:
                one.close()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while piece := await reader.read(CHUNK_BYTES):
                if self.delay_ms:
                    await asyncio.sleep(self.delay_ms / 1000)
                await self._open.wait()
                writer.write(piece)
                await writer.drain()
        except OSError:
            # One of the two has gone, and so must the other.
            pass
        finally:
            writer.close()
