"""Waiting for a condition, with a deadline: the one place in the tests where time passes on purpose."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

DEADLINE_S = 90.0
POLL_INTERVAL_S = 0.02

T = TypeVar("T")


def wait_for(condition: Callable[[], T | None], what: str, deadline_s: float = DEADLINE_S) -> T:
    """Return the condition's first value that is true; fail when there is none before the deadline."""
    deadline = time.monotonic() + deadline_s
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {deadline_s:g} s in vain for {what}; the last value was {value!r}")
        time.sleep(POLL_INTERVAL_S)
    return value


async def wait_for_async(condition: Callable[[], Awaitable[T | None]], what: str, deadline_s: float = DEADLINE_S) -> T:
    """The same inside an event loop."""
    deadline = time.monotonic() + deadline_s
    while not (value := await condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {deadline_s:g} s in vain for {what}; the last value was {value!r}")
        await asyncio.sleep(POLL_INTERVAL_S)
    return value
