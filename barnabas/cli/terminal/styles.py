"""Styles of text, which rich renders: only on a terminal, and not where NO_COLOR is set."""

from __future__ import annotations

import os
import shutil
from typing import Final, TextIO

from barnabas.cli.output import printable

BOLD: Final = "bold"
DIM: Final = "dim"
RED: Final = "red"
GREEN: Final = "green"
YELLOW: Final = "yellow"
CYAN: Final = "cyan"

WIDTH_DEFAULT: Final = 100


def has_colours(out: TextIO) -> bool:
    """As https://no-color.org has it: any value of NO_COLOR that is not empty turns colours off, and here every style."""
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def styled(text: str, style: str | None, out: TextIO) -> str:
    """A line for `out`, in a style if it has any. A terminal gets no control characters of others; what is no terminal gets the line as it
    is."""
    if not out.isatty():
        return text
    text = printable(text.expandtabs())
    if style is None or not has_colours(out):
        return text
    from rich.color import ColorSystem
    from rich.style import Style

    return Style.parse(style).render(text, color_system=ColorSystem.STANDARD)


def width() -> int:
    return shutil.get_terminal_size((WIDTH_DEFAULT, 24)).columns
