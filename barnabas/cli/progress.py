"""A line on standard error that shows how far long work has got; nothing where nobody looks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TextIO

from barnabas.cli import terminal

EVERY_S: Final = 0.1
BAR_CHARACTERS: Final = 24
_CLEAR_LINE: Final = "\r\x1b[2K"


class Progress:
    """`total` may be unknown: then there is a count and no bar."""

    def __init__(
        self, stream: TextIO, what: str, total: int | None = None, *, clock_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._what = what
        self._total = total
        self._clock_s = clock_s
        self._start_s = clock_s()
        self._shown_s = self._start_s
        self._is_shown = False
        self._done = 0
        self._wanted = stream.isatty()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        self.clear()

    def advance(self, count: int = 1) -> None:
        self._done += count
        now_s = self._clock_s()
        if self._wanted and now_s - self._shown_s >= EVERY_S:
            self._shown_s = now_s
            self._is_shown = True
            self._stream.write(_CLEAR_LINE + self.text(now_s))
            self._stream.flush()

    def clear(self) -> None:
        """Take the line away, before something else is printed."""
        if self._is_shown:
            self._stream.write(_CLEAR_LINE)
            self._stream.flush()
            self._is_shown = False

    def text(self, now_s: float) -> str:
        elapsed_s = max(now_s - self._start_s, 1e-9)
        rate = f"{self._done / elapsed_s:,.0f}/s"
        if not self._total:
            line = f"{self._what}: {self._done:,}  {rate}"
        else:
            part = min(self._done / self._total, 1.0)
            full = int(part * BAR_CHARACTERS)
            bar = "█" * full + "░" * (BAR_CHARACTERS - full)
            line = f"{self._what}: {bar} {part:4.0%}  {self._done:,} of {self._total:,}  {rate}"
        return line[: terminal.width() - 1]
