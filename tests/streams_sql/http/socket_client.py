"""A websocket as a browser opens it: the handshake, and frames of text until the server closes."""

from __future__ import annotations

import base64
import os
import socket
import struct
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, BinaryIO
from urllib.parse import quote

import orjson

TEXT, CLOSE = 1, 8
LENGTH_2_BYTES, LENGTH_8_BYTES = 126, 127
NO_CODE = 0


@dataclass
class WebSocket:
    """`status` is that of the handshake. Use as a context."""

    connection: socket.socket
    path: str
    close_code: int = NO_CODE
    close_reason: str = ""
    origin: str | None = None
    status: int = field(init=False)
    _stream: BinaryIO = field(init=False)

    def __enter__(self) -> WebSocket:
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET {self.path} HTTP/1.1",
            "host: localhost",
            "connection: upgrade",
            "upgrade: websocket",
            f"sec-websocket-key: {key}",
            "sec-websocket-version: 13",
            *([] if self.origin is None else [f"origin: {self.origin}"]),
        ]
        self.connection.sendall("\r\n".join([*lines, "", ""]).encode())
        self._stream = self.connection.makefile("rb")
        self.status = int(self._stream.readline().split()[1])
        while self._stream.readline().strip():
            pass
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._stream.close()
        self.connection.close()

    def text(self) -> Any:
        """The next text, as JSON; None when the server has closed. Then the code and the reason are there."""
        first, second = self._stream.read(2)
        length = second & 0x7F
        if length == LENGTH_2_BYTES:
            (length,) = struct.unpack(">H", self._stream.read(2))
        elif length == LENGTH_8_BYTES:
            (length,) = struct.unpack(">Q", self._stream.read(8))
        payload = self._stream.read(length)
        if first & 0x0F == CLOSE:
            if payload:
                self.close_code, self.close_reason = int.from_bytes(payload[:2], "big"), payload[2:].decode()
            return None
        assert first & 0x0F == TEXT
        return orjson.loads(payload)

    def texts(self) -> list[Any]:
        """All that come until the server closes."""
        found = []
        while (text := self.text()) is not None:
            found.append(text)
        return found


def query_path(request: object) -> str:
    return f"/ws/query?request={quote(orjson.dumps(request))}"
