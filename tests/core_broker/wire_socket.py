"""A blocking socket that speaks frames: what the wire tests use to say exactly what they mean, also nonsense."""

from __future__ import annotations

import socket
import struct
from types import TracebackType
from typing import Self, TypeVar

from barnabas.wire import apis, codec
from barnabas.wire.frames import encode_request
from barnabas.wire.struct import Message

TIMEOUT_S = 90
M = TypeVar("M", bound=Message)


class WireSocket:
    def __init__(self, address: str) -> None:
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=TIMEOUT_S)
        self._correlation_id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    def send(self, request: Message, version: int, client_id: str | None = "test") -> int:
        """Sends a request and returns its correlation id."""
        self._correlation_id += 1
        self.socket.sendall(encode_request(request, version, self._correlation_id, client_id))
        return self._correlation_id

    def receive(self, response: type[M], version: int) -> tuple[int, M]:
        """The next answer: its correlation id and its body, which must end where the frame ends."""
        frame = self.receive_frame()
        correlation_id: int = struct.unpack_from(">i", frame)[0]
        position = 4 + apis.response_header_version(response.API_KEY, version)
        message, position = codec.decode(response, version, frame, position)
        assert position == len(frame), "bytes are left behind the answer"
        return correlation_id, message

    def ask(self, request: Message, response: type[M], version: int) -> M:
        sent = self.send(request, version)
        correlation_id, message = self.receive(response, version)
        assert correlation_id == sent
        return message

    def receive_frame(self) -> bytes:
        return self._exactly(struct.unpack(">i", self._exactly(4))[0])

    def is_closed_by_peer(self) -> bool:
        """Waits until the peer hangs up; False if it sends something instead."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def _exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise ConnectionError(f"closed after {len(data)} of {count} bytes")
            data += piece
        return bytes(data)
