"""How long a read may stay on a thread at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

LONG_TURN_S: Final = 0.25
"""Other requests for the same instance, such as its deletion, come in between."""
SHORT_TURN_S: Final = 0.02
"""When more reads wait for records than there are threads, they take turns."""


class Pace:
    """Shared by all instances. A read that waits goes back into the line after each turn, unless the service stops."""

    def __init__(self, threads: int, stopping: asyncio.Event) -> None:
        self._threads = threads
        self._stopping = stopping
        self._reads = 0

    @property
    def is_over(self) -> bool:
        return self._stopping.is_set()

    @property
    def turn_s(self) -> float:
        return LONG_TURN_S if self._reads < self._threads else SHORT_TURN_S

    @contextmanager
    def reading(self) -> Iterator[None]:
        self._reads += 1
        try:
            yield
        finally:
            self._reads -= 1
