"""Messages between the worker and a process of its own as they cross the socket: a length, then the pickled message."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from multiprocessing.reduction import ForkingPickler
from typing import Any, Final

_LENGTH: Final = struct.Struct("!I")


def frame(message: object) -> bytes:
    body = ForkingPickler.dumps(message)
    return _LENGTH.pack(len(body)) + bytes(body)


async def receive(reader: asyncio.StreamReader) -> Any:
    """The next message; IncompleteReadError when there is none any more."""
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    return ForkingPickler.loads(await reader.readexactly(length))


class Channel:
    """The end of the socket that a task's process holds. Any thread may send, one receives."""

    def __init__(self, own: socket.socket) -> None:
        self._socket = own
        self._file = own.makefile("rb")
        self._sending = threading.Lock()

    def send(self, message: object) -> None:
        """A worker that has gone does not hear it; whoever receives notices that."""
        data = frame(message)
        with self._sending:
            try:
                self._socket.sendall(data)
            except ConnectionError:
                return

    def receive(self) -> Any:
        """The next message; EOFError when the worker has gone."""
        length = self._exactly(_LENGTH.size)
        return ForkingPickler.loads(self._exactly(_LENGTH.unpack(length)[0]))

    def _exactly(self, size: int) -> bytes:
        data = self._file.read(size)
        if len(data) < size:
            raise EOFError("the worker has gone")
        return data
