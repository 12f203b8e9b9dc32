"""Regular expressions that users write. Any of them takes time in proportion to the text, however it is written."""

from __future__ import annotations

from typing import Any

import re2  # type: ignore[import-untyped]  # it has no stubs


class InvalidPattern(ValueError):
    """A text that is no regular expression; the message says why."""


def compiled(text: str) -> Any:
    """The pattern of a text; InvalidPattern when it is none."""
    options = re2.Options()
    # Whoever wrote it is told; standard error is for others.
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except re2.error as error:
        (reason,) = error.args
        raise InvalidPattern(reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)) from None
