"""Standard output whose failures can be told from those of sockets and other files."""

from __future__ import annotations

import io
import os
import sys
from typing import Any


class OutputError(Exception):
    """Standard output took no more: the disk is full, or (`reader_gone`) nobody reads the pipe."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(f"cannot write the output: {cause.strerror}")
        self.reader_gone = isinstance(cause, BrokenPipeError)


class _Descriptor(io.FileIO):
    def write(self, data: Any, /) -> int:
        try:
            # A file that must not block would answer None; standard output blocks.
            return super().write(data) or 0
        except OSError as error:
            raise OutputError(error) from None


def install() -> None:
    """Let a failed write to standard output raise OutputError, unless a program has put something else in its place."""
    now = sys.__stdout__
    if not isinstance(now, io.TextIOWrapper) or sys.stdout is not now:
        return
    raw = _Descriptor(now.fileno(), "w", closefd=False)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=now.encoding,
        errors=now.errors,
        # What was unbuffered is still seen line by line.
        line_buffering=now.line_buffering or now.write_through,
    )


def flush() -> None:
    """Write what waits, while a failure can still be told: at exit it is too late. With `>&-` there is nothing to write to."""
    if sys.stdout is not None:
        sys.stdout.flush()


def discard() -> None:
    """Let what could not be written go nowhere, so that the exit does not try it again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
