"""A client for streams, on a bare socket: it writes while it reads, counts what comes, and decodes nothing."""

from __future__ import annotations

import socket
import threading
import time
from types import TracebackType
from typing import Final

from benchmarks.connection import HOST
from benchmarks.wire import UnexpectedAnswer

STREAM_LIMIT_SECONDS: Final = 120
RECEIVE_BYTES: Final = 1 << 20
LINE_END: Final = b"\r\n"
HEAD_END: Final = LINE_END * 2


class Occurrences:
    """Counts a word in bytes that come piece by piece, across their borders too."""

    def __init__(self, word: bytes) -> None:
        self._word = word
        self._rest = b""
        self.count = 0

    def feed(self, piece: bytes) -> None:
        data = self._rest + piece
        self.count += data.count(self._word)
        # Too short to hold the word once more.
        self._rest = data[len(data) - min(len(data), len(self._word) - 1) :]


class ChunkedBody:
    """Takes the framing off a body whose length was not known before. A server may cut its chunks anywhere."""

    def __init__(self) -> None:
        self._rest = b""
        self._left = 0  # bytes of the chunk that has begun, and of the line end behind it

    def feed(self, piece: bytes) -> bytes:
        data, start, parts = self._rest + piece, 0, []
        while start < len(data):
            if not self._left:
                end = data.find(LINE_END, start)
                if end < 0:
                    break
                self._left = int(data[start:end], 16) + len(LINE_END)
                start = end + len(LINE_END)
            parts.append(data[start : start + max(0, self._left - len(LINE_END))])
            passed = min(self._left, len(data) - start)
            self._left -= passed
            start += passed
        self._rest = data[start:]
        return b"".join(parts)


def chunk(data: bytes) -> bytes:
    """A part of a body whose length is not known before."""
    return b"%x\r\n%b\r\n" % (len(data), data)


class HttpStream:
    """One request whose answer is a stream."""

    def __init__(self, port: int, request: bytes) -> None:
        self._socket = socket.create_connection((HOST, port), timeout=STREAM_LIMIT_SECONDS)
        self._socket.sendall(request)

    def __enter__(self) -> HttpStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def read_head(self) -> bytes:
        """Returns what came behind the head."""
        data = b""
        while HEAD_END not in data:
            data += self._receive()
        head, _, rest = data.partition(HEAD_END)
        if b" 200 " not in head.split(b"\r\n", 1)[0]:
            raise UnexpectedAnswer(f"the stream began with {data[:300]!r}")
        return rest

    def read(self, word: bytes, count: int) -> None:
        """Returns when the word has come so often."""
        self.read_on(word, count, self.read_head())

    def read_on(self, word: bytes, count: int, begun: bytes) -> None:
        """The same behind the head, with what came of the body already."""
        body, found = ChunkedBody(), Occurrences(word)
        found.feed(body.feed(begun))
        while found.count < count:
            found.feed(body.feed(self._receive()))
        if found.count > count:
            raise UnexpectedAnswer(f"the stream has {found.count} times {word!r}, and {count} were to come")

    def write(self, data: bytes, times: int) -> None:
        """Sends the same chunk again and again, and the end of the body."""
        part = chunk(data)
        try:
            for _ in range(times):
                self._socket.sendall(part)
            self._socket.sendall(chunk(b""))
        except OSError:
            # The reading side sees why.
            self._socket.close()

    def _receive(self) -> bytes:
        data = self._socket.recv(RECEIVE_BYTES)
        if not data:
            raise UnexpectedAnswer("the stream ended too early")
        return data


def get(path: str, accept: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\nAccept: {accept}\r\n\r\n".encode()


def seconds_to_read(port: int, request: bytes, word: bytes, count: int) -> float:
    began = time.monotonic()
    with HttpStream(port, request) as stream:
        stream.read(word, count)
    return time.monotonic() - began


def seconds_to_upload(port: int, path: str, data: bytes, times: int, receipts: tuple[bytes, int]) -> float:
    """Until the last of the receipts, whose mark and number are given."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    began = time.monotonic()
    with HttpStream(port, head.encode()) as stream:
        writing = threading.Thread(target=stream.write, args=(data, times), daemon=True)
        writing.start()
        stream.read(*receipts)
        ended = time.monotonic()
        writing.join()
    return ended - began
