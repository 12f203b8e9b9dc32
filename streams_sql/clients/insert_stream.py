"""Rows that are written as they come to be, over a connection of their own: HTTP clients do not read an answer before the request is whole."""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from streams_sql.clients.failures import ServerUnreachable
from streams_sql.clients.insert_exchange import UNACKED_MAX, InsertExchange
from streams_sql.clients.protocol import ANSWER_TIMEOUT_S, CONNECT_TIMEOUT_S, unreachable

RECEIVE_BYTES: Final = 64 * 1024
_PORTS: Final = {"http": 80, "https": 443}


class InsertStream:
    """For one thread. A row is under way when `send` returns, and in the topic when `flush` or `close` does. Both raise RowsRefused if rows
    did not fit; the others were written all the same."""

    def __init__(self, url: str, target: str) -> None:
        self._url = url
        self._exchange = InsertExchange(url, target)
        try:
            self._socket = _connected(url)
            self._socket.sendall(self._exchange.opening())
        except OSError as problem:
            raise unreachable(url, problem) from None
        self._is_open = True

    def __enter__(self) -> InsertStream:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            # What has gone wrong already is what must be told.
            self._disconnect()

    @property
    def written(self) -> int:
        """Rows that are known to be in the topic."""
        return self._exchange.written

    def send(self, row: Mapping[str, Any]) -> None:
        """Refused when the target takes no rows, ServerUnreachable when it takes none any more. Waits while too many are under way."""
        self._send(self._exchange.row(row))
        while self._has_data() or self._exchange.under_way >= UNACKED_MAX:
            self._receive()
            self._exchange.check()

    def flush(self) -> int:
        """Wait until each row that was sent is in the topic or refused; returns how many have been written."""
        while self._exchange.under_way and not self._exchange.is_over:
            self._receive()
        return self._exchange.result()

    def close(self) -> int:
        """As `flush`, and no more rows can be sent."""
        if not self._is_open:
            return self.written
        try:
            self._send(self._exchange.ending())
            while not self._exchange.is_over:
                self._receive()
        finally:
            self._disconnect()
        return self._exchange.result()

    def _disconnect(self) -> None:
        self._is_open = False
        self._socket.close()

    def _send(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError as problem:
            self._explain()
            raise unreachable(self._url, problem) from None

    def _explain(self) -> None:
        """A server that takes no more has said why, maybe."""
        with contextlib.suppress(OSError, ServerUnreachable):
            while not self._exchange.is_over:
                self._exchange.receive(self._socket.recv(RECEIVE_BYTES))
        self._exchange.check()

    def _receive(self) -> None:
        try:
            data = self._socket.recv(RECEIVE_BYTES)
        except OSError as problem:
            raise unreachable(self._url, problem) from None
        self._exchange.receive(data)

    def _has_data(self) -> bool:
        if self._exchange.is_over:
            return False
        if isinstance(self._socket, ssl.SSLSocket) and self._socket.pending():
            return True
        return bool(select.select([self._socket], [], [], 0)[0])


def _connected(url: str) -> socket.socket:
    scheme, host, port = place_of(url)
    connection = socket.create_connection((host, port), CONNECT_TIMEOUT_S)
    connection.settimeout(ANSWER_TIMEOUT_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return (
        ssl.create_default_context().wrap_socket(connection, server_hostname=host) if scheme == "https" else connection
    )


def place_of(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    if parts.hostname is None or parts.scheme not in _PORTS:
        raise ServerUnreachable(f"{url!r} is no address of a SQL server: write it as http://host:port")
    return parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme]
