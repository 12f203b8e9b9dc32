"""A streaming upload on a bare socket: records go out while receipts come in."""

from __future__ import annotations

import json
import socket
from types import TracebackType
from typing import Any, Self

from tests.rest_proxy.v3.v3_service import V3Service

DEADLINE_S = 90.0
RECEIVED_BYTES = 1 << 16


class Upload:
    """Use as a context. `finish` ends the upload; leaving without it is what a client does that dies."""

    def __init__(self, service: V3Service, topic: str) -> None:
        host, _, port = service.url.removeprefix("http://").rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=DEADLINE_S)
        path = f"/v3/clusters/{service.cluster_id}/topics/{topic}/records"
        self.socket.sendall(
            f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
            "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n".encode()
        )
        self._received = b""
        self.head = self._until(b"\r\n\r\n").decode()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _value: object, _trace: TracebackType | None) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(b"%x\r\n%b\r\n" % (len(data), data))

    def receipts(self, count: int) -> list[dict[str, Any]]:
        """The next receipts, as soon as they are there."""
        found: list[dict[str, Any]] = []
        while len(found) < count:
            chunk = self._chunk()
            assert chunk, f"the answer ended after {len(found)} of {count} receipts"
            found += [json.loads(line) for line in chunk.split(b"\r\n") if line]
        return found

    def finish(self) -> list[dict[str, Any]]:
        """Ends the upload; the receipts that were still to come."""
        self.socket.sendall(b"0\r\n\r\n")
        return self.rest()

    def rest(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while chunk := self._chunk():
            found += [json.loads(line) for line in chunk.split(b"\r\n") if line]
        return found

    def _chunk(self) -> bytes:
        size = int(self._until(b"\r\n"), 16)
        while len(self._received) < size + 2:
            self._receive()
        chunk, self._received = self._received[:size], self._received[size + 2 :]
        return chunk

    def _until(self, end: bytes) -> bytes:
        while end not in self._received:
            self._receive()
        found, _, self._received = self._received.partition(end)
        return found

    def _receive(self) -> None:
        data = self.socket.recv(RECEIVED_BYTES)
        assert data, "the connection was closed"
        self._received += data
