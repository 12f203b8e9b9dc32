"""Memory that a task does not use any more, given back to the system when it has nothing to do."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Final


def _trim() -> Callable[[int], int] | None:
    """What the C library has for it; others than glibc give memory back by themselves, or not at all."""
    found: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return found


_TRIM: Final = _trim()


class UnusedMemory:
    """A busy task leaves free pieces behind, which the C library keeps. They go once, when it has become idle."""

    def __init__(self) -> None:
        self._was_busy = False

    def busy(self) -> None:
        self._was_busy = True

    def idle(self) -> None:
        if self._was_busy:
            self._was_busy = False
            if _TRIM is not None:
                _TRIM(0)
