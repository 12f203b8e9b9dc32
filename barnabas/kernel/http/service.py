"""A service behind HTTP listeners, as the service runner starts and stops it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from barnabas.kernel.http.server import Server


class HttpInstance(Protocol):
    """The parts of one instance of a service, in the order in which they start and stop."""

    def server(self) -> Server: ...

    async def start(self, addresses: Sequence[tuple[str, int]]) -> None:
        """Prepare everything that requests need; `addresses` are those of the bound listeners."""

    async def stop(self) -> None: ...


async def _no_streams() -> None:
    return


class HttpService:
    """Binds first, so that a port in use is reported before anything is read.

    With `responds_early` requests are served while the instance starts, and say so. `end_streams` ends the requests that would keep the
    server from stopping.
    """

    def __init__(
        self,
        instance: HttpInstance,
        *,
        responds_early: bool = False,
        end_streams: Callable[[], Awaitable[None]] = _no_streams,
    ) -> None:
        self._instance = instance
        self._server = instance.server()
        self._responds_early = responds_early
        self._end_streams = end_streams

    @property
    def addresses(self) -> Sequence[tuple[str, int]]:
        return self._server.addresses

    async def start(self, on_failure: Callable[[], None]) -> None:
        self._server.bind()
        if self._responds_early:
            self._server.start(on_failure)
        await self._instance.start(self._server.addresses)
        if not self._responds_early:
            self._server.start(on_failure)

    async def stop(self) -> None:
        await self._end_streams()
        await self._server.stop()
        await self._instance.stop()
