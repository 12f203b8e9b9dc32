"""Tools that run until they are told to stop: the first SIGTERM or SIGINT asks them to end in order."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
# What a JVM returns when a signal ends it.
SIGNALLED: Final = 128


class StopRequest:
    """Whether a signal came, and what to return because of it."""

    def __init__(self) -> None:
        self.event = asyncio.Event()
        self.status = 0

    def request(self, number: int) -> None:
        self.status = SIGNALLED + number
        self.event.set()


@contextmanager
def stop_signals() -> Iterator[StopRequest]:
    """Inside, signals do not end the process but set the request's event."""
    loop = asyncio.get_running_loop()
    request = StopRequest()
    for number in SIGNALS:
        loop.add_signal_handler(number, request.request, number)
    try:
        yield request
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
