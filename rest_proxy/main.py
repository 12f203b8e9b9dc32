"""Runs an instance of the REST proxy until it is told to stop."""

from __future__ import annotations

import gc
from collections.abc import Callable

from barnabas.kernel import event_loop
from barnabas.kernel.settings import Settings
from rest_proxy.assembly import Instance

YOUNG_OBJECTS_MAX = 50_000
"""A request leaves no cycles behind, but may hold thousands of objects; the collector, which would look at them all, may be rare."""


def run(settings: Settings, announce: Callable[[list[tuple[str, int]]], None]) -> int:
    """Serves until SIGTERM or SIGINT; `announce` is told the addresses as soon as requests are answered."""
    return event_loop.run(_serve(settings, announce))


async def _serve(settings: Settings, announce: Callable[[list[tuple[str, int]]], None]) -> int:
    stopping = event_loop.stop_signal(event_loop.STOP_DEADLINE_S)
    instance = Instance(settings)
    server = instance.server()
    # A port that is taken shows before any client is made.
    server.bind()
    try:
        server.start(stopping.set)
        # What start-up left behind lives as long as the process; the collector need not look at it again and again.
        gc.collect()
        gc.freeze()
        gc.set_threshold(YOUNG_OBJECTS_MAX)
        announce(server.addresses)
        await stopping.wait()
    finally:
        instance.end_streams()
        await server.stop()
        await instance.stop()
    return 0
