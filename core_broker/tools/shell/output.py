"""A tool's standard output, whose failures can be told from those of other files."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutputError(OSError):
    """The standard output could not be written: its disk is full, for example. A reader that is gone is a BrokenPipeError."""


class _Descriptor(io.FileIO):
    def write(self, data: ReadableBuffer, /) -> int:
        write = cast("Callable[[ReadableBuffer], int]", super().write)
        try:
            return write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(error.errno, error.strerror) from None


def mark_failures() -> None:
    """From now on a failure of `sys.stdout` is an OutputError; without a standard output, as with `>&-`, there is none."""
    before = sys.stdout
    if not isinstance(before, io.TextIOWrapper):
        return
    before.flush()
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_Descriptor(before.fileno(), "w", closefd=False)),
        encoding=before.encoding,
        errors=before.errors,
        # What was unbuffered is still seen line by line.
        line_buffering=before.line_buffering or before.write_through,
    )
