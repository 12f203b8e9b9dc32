"""Answers on their way to the socket."""

from __future__ import annotations

import asyncio
import os
import socket
from collections import deque
from collections.abc import Callable, Iterable

from core_broker.log.reader import FileRange

JOIN_MAX_BYTES = 16 * 1024
"""Up to here copying the pieces of an answer together is cheaper than handing them to the kernel one by one."""

Piece = bytes | bytearray | memoryview | FileRange


class SendQueue:
    """Writes straight to the socket, and waits by itself when that is full: so what is sent from a file stays in the file until then.

    The transport keeps reading from the socket and closing it. An event loop does not let others watch a descriptor that
    belongs to one of its transports, nor send with flags, so that is done on a duplicate, made when it is first needed.
    """

    __slots__ = ("_descriptor", "_failed", "_loop", "_pieces", "_position", "_resumed", "_socket", "blocked")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        descriptor: int,
        resumed: Callable[[], None],
        failed: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._descriptor = descriptor
        self._socket: socket.socket | None = None
        self._resumed = resumed
        self._failed = failed
        self._pieces: deque[Piece] = deque()
        self._position = 0
        """How much of the first piece has been sent."""
        self.blocked = False

    def send(self, pieces: list[Piece], size_bytes: int) -> None:
        if size_bytes <= JOIN_MAX_BYTES:
            self._pieces.append(b"".join(pieces))  # type: ignore[arg-type]  # a range of a file is never this small
        else:
            self._pieces.extend(_joined(pieces))
        if not self.blocked:
            self._pump()

    def close(self) -> None:
        """Forgets what nobody will read any more."""
        self._pieces.clear()
        if self._socket is not None:
            self._loop.remove_writer(self._socket)
            self._socket.close()
            self._socket = None

    def _pump(self) -> None:
        """Sends until everything is sent or the socket is full."""
        pieces = self._pieces
        try:
            while pieces:
                piece = pieces[0]
                if isinstance(piece, FileRange):
                    sent = piece.send(self._descriptor, self._position)
                else:
                    sent = self._write(piece)
                if sent == 0:
                    self._wait()
                    return
                self._position += sent
                if self._position == len(piece):
                    pieces.popleft()
                    self._position = 0
        except OSError:  # the client has gone, or a file cannot be read: either way the answer cannot be finished
            pieces.clear()
            self._failed()

    def _write(self, piece: bytes | bytearray | memoryview) -> int:
        rest = memoryview(piece)[self._position :] if self._position else piece
        try:
            if len(self._pieces) == 1:
                return os.write(self._descriptor, rest)
            # More follows at once: else the head of an answer would travel, and wake the client, alone.
            return self._duplicate().send(rest, socket.MSG_MORE)
        except BlockingIOError:
            return 0

    def _duplicate(self) -> socket.socket:
        if self._socket is None:
            self._socket = socket.socket(fileno=os.dup(self._descriptor))
        return self._socket

    def _wait(self) -> None:
        self.blocked = True
        self._loop.add_writer(self._duplicate(), self._writable)

    def _writable(self) -> None:
        self._loop.remove_writer(self._duplicate())
        self.blocked = False
        self._pump()
        if not self.blocked:
            self._resumed()


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces with neighbouring small ones copied together."""
    joined: list[Piece] = []
    small: list[bytes | bytearray | memoryview] = []
    for piece in pieces:
        if isinstance(piece, FileRange) or len(piece) > JOIN_MAX_BYTES:
            if small:
                joined.append(b"".join(small))
                small = []
            joined.append(piece)
        else:
            small.append(piece)
    if small:
        joined.append(b"".join(small))
    return joined
