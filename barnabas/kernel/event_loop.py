"""The event loop of a service: uvloop where it is installed, and an event that tells when to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

logger = logging.getLogger(__name__)

EXIT_LATE: Final = 1
STOP_DEADLINE_S: Final = 20.0
"""How long services take to end that have nothing of their own to lose; supervisors and orchestrators wait for 30 s."""


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    try:
        import uvloop
    except ImportError:
        logger.info("uvloop is not installed; the standard event loop serves")
        return asyncio.new_event_loop
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def run(main: Coroutine[Any, Any, int]) -> int:
    """Run a service to its end and return its exit status."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(main)


def stop_signal(deadline_s: float | None = None) -> asyncio.Event:
    """An event of the running loop that SIGTERM and SIGINT set. A process that lives on for so long after that is ended, and says what it
    waited for."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if deadline_s is not None and not stopping.is_set():
            # A thread, since it may be the loop that is stuck; and no timer of the loop, which may be closed by then.
            guard = threading.Timer(deadline_s, _end_late, (loop, deadline_s))
            guard.daemon = True
            guard.start()
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    return stopping


def _end_late(loop: asyncio.AbstractEventLoop, deadline_s: float) -> None:
    waiting = [
        f"{task.get_name()} at {', '.join(_places(task))}" for task in asyncio.all_tasks(loop) if not task.done()
    ]
    threads = [thread.name for thread in threading.enumerate()]
    logger.critical(
        "the service has not ended %g s after it was told to, and is ended now; tasks: %s; threads: %s",
        deadline_s,
        "; ".join(sorted(waiting)) or "none",
        ", ".join(sorted(threads)),
    )
    logging.shutdown()
    os._exit(EXIT_LATE)


def _places(task: asyncio.Task[Any]) -> list[str]:
    return [f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}" for frame in task.get_stack()]
