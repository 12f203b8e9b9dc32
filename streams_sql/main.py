"""Runs an instance until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import Callable
from typing import Final

from barnabas.kernel import event_loop
from barnabas.kernel.kafka_log.failures import StoreFailure
from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Settings
from streams_sql.assembly import Instance
from streams_sql.engine.failures import EngineError

EXIT_FAILURE: Final = 1
YOUNG_OBJECTS_MAX: Final = 50_000
"""Records, rows and answers hold no cycles: to look for some in them took as long as to work them out."""
THREAD_SWITCH_INTERVAL_S: Final = 0.0005
"""A request waits no longer than this for a thread that decodes records for a view; Python's default is ten times as much."""

_logger = logging.getLogger(__name__)


def run(settings: Settings, announce: Callable[[list[tuple[str, int]]], None]) -> int:
    """Serves until SIGTERM or SIGINT; `announce` is told the addresses as soon as the catalogue has been read."""
    sys.setswitchinterval(THREAD_SWITCH_INTERVAL_S)
    return event_loop.run(_serve(settings, announce))


def gather_garbage_rarely() -> None:
    """What start-up left behind lives as long as the process; the collector need not look at it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS_MAX)


async def _serve(settings: Settings, announce: Callable[[list[tuple[str, int]]], None]) -> int:
    stopping = event_loop.stop_signal(event_loop.STOP_DEADLINE_S)
    instance = Instance(settings)
    server = instance.server()
    # A port that is taken shows before anything is read. While the server starts, it says so at /healthcheck.
    server.bind()
    server.start(stopping.set)
    stopped = asyncio.create_task(stopping.wait())
    starting = asyncio.create_task(instance.start(server.addresses))
    try:
        await asyncio.wait([starting, stopped], return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            gather_garbage_rarely()
            announce(server.addresses)
            await stopped
    except (EngineError, StoreFailure, SettingError) as problem:
        _logger.critical("the server cannot start: %s", problem)
        return EXIT_FAILURE
    finally:
        for task in (starting, stopped):
            task.cancel()
        await asyncio.gather(starting, stopped, return_exceptions=True)
        await instance.end_queries()
        await server.stop()
        await instance.stop()
    return 0
