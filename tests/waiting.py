"""Waiting for a condition, with a deadline: the one place in the tests where time passes on purpose."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

DEADLINE_S = 90.0
POLL_INTERVAL_S = 0.02
POLL_INTERVAL_LAST_S = 0.1
POLL_SHARE = 0.05
"""Of the time that one has waited, between two looks: what takes long is looked at less often, since looks cost what is waited for its processor."""

T = TypeVar("T")


def wait_for(condition: Callable[[], T | None], what: str, deadline_s: float = DEADLINE_S) -> T:
    """Return the condition's first value that is true; fail when there is none before the deadline."""
    begun = time.monotonic()
    while not (value := condition()):
        waited_s = time.monotonic() - begun
        if waited_s > deadline_s:
            raise AssertionError(f"waited {deadline_s:g} s in vain for {what}; the last value was {value!r}")
        time.sleep(_pause_s(waited_s))
    return value


async def wait_for_async(condition: Callable[[], Awaitable[T | None]], what: str, deadline_s: float = DEADLINE_S) -> T:
    """The same inside an event loop."""
    begun = time.monotonic()
    while not (value := await condition()):
        waited_s = time.monotonic() - begun
        if waited_s > deadline_s:
            raise AssertionError(f"waited {deadline_s:g} s in vain for {what}; the last value was {value!r}")
        await asyncio.sleep(_pause_s(waited_s))
    return value


def _pause_s(waited_s: float) -> float:
    return min(max(POLL_INTERVAL_S, POLL_SHARE * waited_s), POLL_INTERVAL_LAST_S)
