"""Runs a worker until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from barnabas.kernel import event_loop
from barnabas.kernel.kafka_log.failures import StoreFailure
from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Settings
from connect.api.failures import ConnectError
from connect.assembly import Instance
from connect.worker.failures import WorkerError

EXIT_FAILURE: Final = 1

_logger = logging.getLogger(__name__)


def run(settings: Settings, announce: Callable[[list[tuple[str, int]]], None]) -> int:
    """Serves until SIGTERM or SIGINT; `announce` is told the addresses as soon as the worker has read what it should do."""
    return event_loop.run(_serve(settings, announce))


async def _serve(settings: Settings, announce: Callable[[list[tuple[str, int]]], None]) -> int:
    stopping = event_loop.stop_signal(event_loop.STOP_DEADLINE_S)
    try:
        instance = Instance(settings)
    except ConnectError as problem:
        _logger.critical("the worker cannot start: %s", problem)
        return EXIT_FAILURE
    server = instance.server()
    # A port that is taken shows before anything is read. While the worker starts, it says so at /health.
    server.bind()
    server.start(stopping.set)
    stopped = asyncio.create_task(stopping.wait())
    starting = asyncio.create_task(instance.start(server.addresses))
    try:
        await asyncio.wait([starting, stopped], return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            announce(server.addresses)
            await stopped
    except (WorkerError, StoreFailure, SettingError) as problem:
        _logger.critical("the worker cannot start: %s", problem)
        return EXIT_FAILURE
    finally:
        for task in (starting, stopped):
            task.cancel()
        await asyncio.gather(starting, stopped, return_exceptions=True)
        await server.stop()
        await instance.stop()
    return 0
