"""Answers on their way to the socket."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Iterable

from core_broker.log.reader import FileRange

PART_BYTES = 256 * 1024
"""What is read from a file at a time for a client that reads slowly."""

JOIN_MAX_BYTES = 16 * 1024
"""Up to here copying the pieces of an answer together is cheaper than handing them to the kernel one by one."""

Piece = bytes | bytearray | memoryview | FileRange

# One for all connections, since the event loop reads one part at a time.
_part = memoryview(bytearray(PART_BYTES))


class SendQueue:
    """Writes straight to the socket as long as that takes everything; the transport gets what it did not take.

    No more than one part is in memory for a client that reads slowly: while `blocked`, the rest stays in its file, and
    `resume` goes on when the transport has sent what it had.
    """

    __slots__ = ("_descriptor", "_pieces", "_position", "_transport", "blocked")

    def __init__(self, transport: asyncio.Transport, descriptor: int) -> None:
        self._transport = transport
        self._descriptor = descriptor
        self._pieces: deque[Piece] = deque()
        self._position = 0
        self.blocked = False

    def send(self, pieces: list[Piece], size_bytes: int) -> None:
        if self.blocked:
            self._pieces.extend(pieces)
        elif size_bytes <= JOIN_MAX_BYTES:
            self._write(b"".join(pieces))  # type: ignore[arg-type]  # a range of a file is never this small
        else:
            self._pieces.extend(_joined(pieces))
            self.resume()

    def resume(self) -> None:
        self.blocked = False
        pieces = self._pieces
        try:
            while pieces and not self.blocked:
                piece = pieces[0]
                if isinstance(piece, FileRange):
                    self._send_range(piece)
                    if self._position < len(piece):
                        continue
                    self._position = 0
                else:
                    self._write(piece)
                if pieces:
                    pieces.popleft()
        except OSError:  # the client has gone, or the file cannot be read: either way the answer cannot be finished
            self._abort()

    def _send_range(self, piece: FileRange) -> None:
        sent = piece.send(self._descriptor, self._position)
        if sent == 0:
            # The socket is full. The transport waits for it, and for that it needs something to send.
            sent = piece.read_into(_part, self._position)
            self._write(_part[:sent])
        self._position += sent

    def clear(self) -> None:
        """Forgets what nobody will read any more."""
        self._pieces.clear()

    def _write(self, data: bytes | bytearray | memoryview) -> None:
        try:
            sent = os.write(self._descriptor, data)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._abort()
            return
        if sent < len(data):
            self._transport.write(bytes(memoryview(data)[sent:]))
            # It may have got rid of everything at once, and then it will not say that it is ready for more.
            self.blocked = self._transport.get_write_buffer_size() > 0

    def _abort(self) -> None:
        """The client has gone. The transport tells the connection."""
        self.blocked = True
        self._pieces.clear()
        self._transport.abort()


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
