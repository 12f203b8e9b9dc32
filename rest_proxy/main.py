"""Runs an instance of the REST proxy until it is told to stop."""

from __future__ import annotations

from collections.abc import Callable

from barnabas.kernel import event_loop
from barnabas.kernel.settings import Settings
from rest_proxy.assembly import Instance


def run(settings: Settings, announce: Callable[[list[tuple[str, int]]], None]) -> int:
    """Serves until SIGTERM or SIGINT; `announce` is told the addresses as soon as requests are answered."""
    return event_loop.run(_serve(settings, announce))


async def _serve(settings: Settings, announce: Callable[[list[tuple[str, int]]], None]) -> int:
    stopping = event_loop.stop_signal()
    instance = Instance(settings)
    server = instance.server()
    # A port that is taken shows before any client is made.
    server.bind()
    try:
        server.start(stopping.set)
        announce(server.addresses)
        await stopping.wait()
    finally:
        await instance.end_streams()
        await server.stop()
        await instance.stop()
    return 0
