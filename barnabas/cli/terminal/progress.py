"""A line on standard error that shows how far long work has got; nothing where it is not a terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from rich import progress

DELAY_S: Final = 0.1
"""Work that ends sooner shows nothing."""


class Progress:
    """`total` may be unknown: then there is a count, and a bar without an end."""

    def __init__(self, out: TextIO, what: str, total: int | None = None, *, is_shown: bool = True) -> None:
        self._out = out
        self._what = what
        self._total = total
        self._is_shown = is_shown and out.isatty()
        self._begun_s = time.monotonic()
        self._done = 0
        self._display: progress.Progress | None = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        self.clear()

    def advance(self, count: int = 1) -> None:
        self._done += count
        if not self._is_shown or time.monotonic() - self._begun_s < DELAY_S:
            return
        if self._display is None:
            from barnabas.cli.terminal.progress_bar import progress_bar

            self._display = progress_bar(self._out, self._what, self._total)
            self._display.start()
        for task in self._display.task_ids:
            self._display.update(task, completed=self._done)

    def clear(self) -> None:
        """Take the line away, before something else is printed."""
        if self._display is not None:
            self._display.stop()
            self._display = None
