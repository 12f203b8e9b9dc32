"""The event loop of a service: uvloop where it is installed, and an event that tells when to stop."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Coroutine
from typing import Any

logger = logging.getLogger(__name__)


def run(main: Coroutine[Any, Any, int]) -> int:
    """Run a service to its end and return its exit status."""
    try:
        import uvloop
    except ImportError:
        logger.info("uvloop is not installed; the standard event loop serves")
        return asyncio.run(main)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)


def stop_signal() -> asyncio.Event:
    """An event of the running loop that SIGTERM and SIGINT set."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    return stopping
