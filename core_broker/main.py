"""Runs a broker until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import Callable

from barnabas.kernel import event_loop
from barnabas.kernel.settings import Settings
from barnabas.wire.errors import KafkaError
from core_broker.broker import Broker
from core_broker.log.directory import LogDirectoryError

logger = logging.getLogger(__name__)

EXIT_FAILURE = 1

THREAD_SWITCH_INTERVAL_S = 0.0005
"""A thread that comes back from the disk waits this long at most for a busy event loop; Python's default is ten times as much."""


YOUNG_OBJECTS_MAX = 20_000
"""Requests leave no cycles behind, so that reference counts free nearly everything; the collector, which stops everybody, may be rare."""


def run(settings: Settings, announce: Callable[[list[tuple[str, int]]], None]) -> int:
    """Serves until SIGTERM or SIGINT; `announce` is told the addresses as soon as clients can connect."""
    sys.setswitchinterval(THREAD_SWITCH_INTERVAL_S)
    return event_loop.run(_serve(settings, announce))


async def _serve(settings: Settings, announce: Callable[[list[tuple[str, int]]], None]) -> int:
    stopping = event_loop.stop_signal()
    broker = Broker(settings, asyncio.get_running_loop())
    try:
        await broker.start()
    except (LogDirectoryError, KafkaError) as problem:
        logger.critical("the broker cannot start: %s", problem)
        return EXIT_FAILURE
    # What start-up left behind lives as long as the process; the collector need not look at it again and again.
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS_MAX)
    announce([(listener.host, listener.port) for listener in broker.listeners])
    await stopping.wait()
    try:
        await broker.stop()
    except OSError as problem:
        logger.critical(
            "the broker could not write everything when it stopped: %s; what was acknowledged is safe, and the next start recovers",
            problem,
        )
        return EXIT_FAILURE
    return 0
