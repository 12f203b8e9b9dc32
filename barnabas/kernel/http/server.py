"""The ASGI server inside our own event loop: sockets, HTTP/1.1 and HTTP/2 are granian's, handlers run beside the service's own tasks."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import socket
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from granian._granian import SocketHolder
from granian.constants import Interfaces, SSLProtocols
from granian.http import HTTP1Settings, HTTP2Settings
from granian.log import LogLevels
from granian.server import embed

from barnabas.kernel.http.listeners import BACKLOG, Listener
from barnabas.kernel.http.tls import TlsFiles

if TYPE_CHECKING:
    from starlette.types import ASGIApp

logger = logging.getLogger(__name__)

CONNECTIONS_MAX: Final = 4096
"""Open connections; further ones wait until one of these closes."""
DESCRIPTORS_KEPT: Final = 256
"""For everything but connections of clients. A server without descriptors tries to accept again and again, without a pause."""
HEADERS_MAX_BYTES: Final = 64 * 1024
"""Request line and headers together; more is a 431."""
IDLE_MAX_MS: Final = 60_000
"""A connection on which no whole request head arrives for this long is closed, between requests too."""
STREAMS_MAX: Final = 200
"""Requests under way on one HTTP/2 connection."""
STOP_DEADLINE_S: Final = 10.0

# Levels and handlers are ours to set: the server's log goes the way of all logs, from errors on.
_LOG_SETTINGS: Final[dict[str, Any]] = {
    "incremental": True,
    "handlers": {},
    "loggers": {"_granian": {"propagate": True}},
}


class _ListenerServer(embed.Server):
    """granian on a socket of ours. Its own would share the port with any other program that asks for that."""

    def __init__(
        self, app: ASGIApp, bound: socket.socket, tls: TlsFiles | None, connections_max: int, *, websockets: bool
    ) -> None:
        super().__init__(
            app,
            interface=Interfaces.ASGINL,
            websockets=websockets,
            backlog=BACKLOG,
            backpressure=connections_max,
            http1_settings=HTTP1Settings(header_read_timeout=IDLE_MAX_MS, max_buffer_size=HEADERS_MAX_BYTES),
            http2_settings=HTTP2Settings(max_headers_size=HEADERS_MAX_BYTES, max_concurrent_streams=STREAMS_MAX),
            log_level=LogLevels.error,
            log_dictconfig=_LOG_SETTINGS,
            ssl_cert=None if tls is None else tls.certificate,
            ssl_key=None if tls is None else tls.key,
            ssl_key_password=None if tls is None else tls.key_password,
            ssl_protocol_min=SSLProtocols.tls12,
        )
        self._bound = bound

    def _init_shared_socket(self) -> None:
        # The server closes the descriptor when it stops.
        descriptor = self._bound.detach()
        holder: Any = SocketHolder
        self._shd = holder(descriptor, False, BACKLOG) if sys.platform == "linux" else holder(descriptor, False)


class Server:
    """Serves one application on several listeners.

    `bind` takes the addresses and raises OSError if it cannot; from then on clients wait in the queue of the socket, and `start` serves
    them. `stop` ends listening at once and lets requests under way finish. An application that takes `websockets` is called with their
    scopes, too.
    """

    def __init__(
        self, app: ASGIApp, listeners: Sequence[Listener], tls: TlsFiles | None = None, *, websockets: bool = False
    ) -> None:
        if tls is not None:
            tls.check()
        self._app = app
        self._listeners = listeners
        self._tls = tls
        self._websockets = websockets
        self._bound: list[socket.socket] = []
        self._servers: list[_ListenerServer] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = False
        self.addresses: list[tuple[str, int]] = []
        """Hosts and ports as they are, in the order of the listeners; known once they are bound."""

    def bind(self) -> None:
        with contextlib.ExitStack() as undo:
            self._bound = [undo.enter_context(listener.bind()) for listener in self._listeners]
            undo.pop_all()
        self.addresses = [bound.getsockname()[:2] for bound in self._bound]

    def start(self, failed: Callable[[], None]) -> None:
        """Serves from now on, in the running loop. `failed` is called if a listener ends by itself, which it should never do."""

        def ended(task: asyncio.Task[None]) -> None:
            if not self._stopping and not task.cancelled():
                logger.critical("%s has ended by itself", task.get_name(), exc_info=task.exception())
                failed()

        share = max(1, connections_max() // len(self._listeners))
        for listener, bound in zip(self._listeners, self._bound, strict=True):
            tls = self._tls if listener.scheme == "https" else None
            server = _ListenerServer(self._app, bound, tls, share, websockets=self._websockets)
            task = asyncio.create_task(server.serve(), name=f"the listener {listener.host}:{listener.port}")
            task.add_done_callback(ended)
            self._servers.append(server)
            self._tasks.append(task)

    async def stop(self, deadline_s: float = STOP_DEADLINE_S) -> None:
        """Requests that are still under way at the deadline are left to the end of the process."""
        self._stopping = True
        for bound in self._bound:
            # Those of running listeners are theirs to close, and no longer here.
            bound.close()
        for server in self._servers:
            server.stop()  # type: ignore[no-untyped-call]
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=deadline_s)
            if late:
                logger.warning("connections were still open %g s after the listeners had closed", deadline_s)


def connections_max() -> int:
    """What the process may have open bounds its connections, too."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY:
        return CONNECTIONS_MAX
    return max(1, min(CONNECTIONS_MAX, allowed - DESCRIPTORS_KEPT))
