"""The end of the service, for answers that would else go on for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stopping(asyncio.Event):
    """Set once. Whoever has nothing to wait with is called."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: set[Callable[[], object]] = set()

    @contextmanager
    def calls(self, call: Callable[[], object]) -> Iterator[None]:
        """Within the context, `call` is called when the service stops."""
        self._calls.add(call)
        try:
            yield
        finally:
            self._calls.discard(call)

    def set(self) -> None:
        super().set()
        for call in list(self._calls):
            call()
