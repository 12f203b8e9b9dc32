"""What a stream can show: colours only on a terminal, and not where NO_COLOR is set."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import Final, TextIO

BOLD: Final = "1"
DIM: Final = "2"
RED: Final = "31"
GREEN: Final = "32"
YELLOW: Final = "33"
CYAN: Final = "36"

WIDTH_DEFAULT: Final = 100


def shows_colours(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """As https://no-color.org has it: any value of NO_COLOR that is not empty turns colours off."""
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def painted(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if text else text


def width() -> int:
    return shutil.get_terminal_size((WIDTH_DEFAULT, 24)).columns


def colours_here(stream: TextIO) -> bool:
    return shows_colours(stream, os.environ)
