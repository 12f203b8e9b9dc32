"""The listeners: accepts connections, bounds their number, and ends the idle ones."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
from collections import Counter
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core_broker.connection import Connection
from core_broker.context import Listener
from core_broker.dispatch import Dispatcher
from core_broker.observer import Observer
from core_broker.quotas.connection_rates import ConnectionRates
from core_broker.request_log import RequestLog

if TYPE_CHECKING:
    from core_broker.broker import Broker

logger = logging.getLogger(__name__)

TRIM_AFTER_S = 10.0
"""A connection that is silent for this long gives its large receive buffers back."""

HOUSEKEEPING_INTERVAL_S = 5.0

TURNED_AWAY_MAX = 1_000
"""Connections over the rate of their address that are kept waiting before they are closed; more are closed at once."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    frame_max_bytes: int
    idle_max_ms: int
    total_max: int
    per_host_max: int
    per_host_overrides: Mapping[str, int]
    send_buffer_bytes: int | None
    receive_buffer_bytes: int | None

    def for_host(self, host: str) -> int:
        return self.per_host_overrides.get(host, self.per_host_max)


def bind(host: str, port: int, backlog: int) -> socket.socket:
    """A listening socket. No host means every interface, by IPv4 and IPv6; port 0 takes any free port."""
    both = host == "" and socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if both or ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=backlog, dualstack_ipv6=both)
    except OSError as problem:
        if problem.errno == errno.EADDRINUSE:
            reason = "another program, perhaps another broker, listens there already"
        elif problem.errno is None:
            raise
        else:
            reason = os.strerror(problem.errno)
        raise OSError(problem.errno, f"cannot listen on {host}:{port}: {reason}") from None


class Server:
    """Owns every connection of the broker."""

    def __init__(
        self,
        broker: Broker,
        loop: asyncio.AbstractEventLoop,
        limits: ConnectionLimits,
        rates: ConnectionRates,
    ) -> None:
        self.observer: Observer | None = None
        self.request_log = RequestLog()
        self.rates = rates
        self.accepted: Counter[str] = Counter()
        self.refused = 0
        self.expired = 0
        self.broker = broker
        self.loop = loop
        self.frame_max_bytes = limits.frame_max_bytes
        self.dispatcher = Dispatcher()
        self.tasks: set[asyncio.Task[Any]] = set()
        self.limits = limits
        self._connections: dict[Connection, None] = {}
        self._per_host: Counter[str] = Counter()
        self._turned_away: dict[Connection, None] = {}
        self._servers: list[asyncio.Server] = []
        self._housekeeping: asyncio.TimerHandle | None = None

    async def serve(self, listener: Listener, sock: socket.socket) -> None:
        """Accepts connections on a bound socket."""
        self._servers.append(await self.loop.create_server(lambda: Connection(self, listener), sock=sock))
        if self._housekeeping is None:
            self._housekeeping = self.loop.call_later(HOUSEKEEPING_INTERVAL_S, self._keep_house)

    async def stop(self) -> None:
        """Stops accepting, lets running handlers end, and closes what is left."""
        if self._housekeeping is not None:
            self._housekeeping.cancel()
        for server in self._servers:
            server.close()
        for connection in [*self._connections, *self._turned_away]:
            connection.close()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def rate_limited(self, connection: Connection, listener: Listener) -> int | None:
        """How long a new connection must wait for its first request to be looked at, in milliseconds; None: it was turned away."""
        self.accepted[listener.name] += 1
        if not self.rates.active:
            return 0
        verdict = self.rates.admit(listener.name, connection.host)
        if not verdict.refused:
            return verdict.delay_ms
        if len(self._turned_away) < TURNED_AWAY_MAX:
            self._turned_away[connection] = None
            connection.turn_away(verdict.delay_ms)
        else:
            connection.abort()
        return None

    def connections(self) -> Counter[str]:
        """How many there are on each listener."""
        return Counter(connection.listener.name for connection in self._connections)

    def admit(self, connection: Connection) -> str | None:
        """Counts a new connection in; returns the reason when it cannot stay."""
        self._connections[connection] = None
        self._per_host[connection.host] += 1
        if len(self._connections) > self.limits.total_max:
            self.refused += 1
            return f"there are already max.connections={self.limits.total_max} connections"
        allowed = self.limits.for_host(connection.host)
        if self._per_host[connection.host] > allowed:
            self.refused += 1
            return f"{connection.host} already has max.connections.per.ip={allowed} connections"
        return None

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Runs something beside; it is cancelled when the server stops."""
        task = self.loop.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    def tune(self, sock: socket.socket) -> None:
        """Sets up an accepted socket. asyncio switches Nagle's algorithm off only for sockets that it made itself."""
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # a client whose machine died says nothing
        if self.limits.send_buffer_bytes is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.limits.send_buffer_bytes)
        if self.limits.receive_buffer_bytes is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.limits.receive_buffer_bytes)

    def forget(self, connection: Connection) -> None:
        self._turned_away.pop(connection, None)
        if connection in self._connections:
            del self._connections[connection]
            self._per_host[connection.host] -= 1
            if not self._per_host[connection.host]:
                del self._per_host[connection.host]

    def _keep_house(self) -> None:
        now = self.loop.time()
        for connection in list(self._connections):
            since = connection.idle_since()
            if since is None:
                continue
            if self.limits.idle_max_ms >= 0 and (now - since) * 1000 > self.limits.idle_max_ms:
                logger.info(
                    "connection from %s closed after %d s of silence (connections.max.idle.ms)", connection, now - since
                )
                self.expired += 1
                connection.abort()
            elif now - since > TRIM_AFTER_S:
                connection.trim()
        self._housekeeping = self.loop.call_later(HOUSEKEEPING_INTERVAL_S, self._keep_house)
