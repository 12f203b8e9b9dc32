"""Runs an instance of the registry until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable

from barnabas.kernel import event_loop
from barnabas.kernel.http.server import Server
from barnabas.kernel.settings import Settings
from barnabas.wire.errors import KafkaError
from schema_registry.assembly import Instance
from schema_registry.errors import RegistryError
from schema_registry.store.failures import TopicUnfit

logger = logging.getLogger(__name__)

EXIT_FAILURE = 1


def run(settings: Settings, announce: Callable[[list[tuple[str, int]]], None]) -> int:
    """Serves until SIGTERM or SIGINT; `announce` is told the addresses as soon as reads and writes are answered."""
    return event_loop.run(_serve(settings, announce))


async def _serve(settings: Settings, announce: Callable[[list[tuple[str, int]]], None]) -> int:
    stopping = event_loop.stop_signal(event_loop.STOP_DEADLINE_S)
    instance = Instance(settings)
    server = instance.server()
    # A port that is taken shows before anything is read.
    server.bind()
    stopped = asyncio.create_task(stopping.wait())
    starting = asyncio.create_task(_start(instance, server))
    try:
        await asyncio.wait([starting, stopped], return_when=asyncio.FIRST_COMPLETED)
        status = starting.result() if starting.done() else 0
        if status == 0 and not stopping.is_set():
            # What was loaded lives as long as the process; the collector need not look at it again and again.
            gc.collect()
            gc.freeze()
            server.start(stopping.set)
            announce(server.addresses)
            await stopped
        return status
    finally:
        for task in (starting, stopped):
            task.cancel()
        await asyncio.gather(starting, stopped, return_exceptions=True)
        await server.stop()
        await instance.stop()


async def _start(instance: Instance, server: Server) -> int:
    try:
        await instance.start(server.addresses)
    except (TopicUnfit, RegistryError, KafkaError) as problem:
        logger.critical("the registry cannot start: %s", problem)
        return EXIT_FAILURE
    return 0
