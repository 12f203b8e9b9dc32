"""Times in patterns of Java's SimpleDateFormat, as far as numbers and names in English go."""

from __future__ import annotations

import re
import time
from typing import Final

DEFAULT_PATTERN: Final = "yyyy-MM-dd HH:mm:ss:SSS"
# Quoted text, a run of one letter, or anything else.
_PIECE: Final = re.compile(r"'((?:[^']|'')*)'|(([A-Za-z])\3*)|([^A-Za-z']+)")
_NUMBERS: Final = {"d": "%d", "H": "%H", "m": "%M", "s": "%S", "h": "%I", "D": "%j"}


def format_time(pattern: str, moment_ms: int) -> str:
    """A moment in local time."""
    local = time.localtime(moment_ms / 1000)
    out = []
    for quoted, run, letter, other in _PIECE.findall(pattern):
        if not run:
            out.append(quoted.replace("''", "'") or other or "'")
        elif letter == "S":
            out.append(f"{moment_ms % 1000:0{len(run)}}")
        elif letter in "yu":
            out.append(time.strftime("%y" if len(run) == 2 else "%Y", local))
        elif letter in "ML":
            out.append(
                time.strftime("%B" if len(run) > 3 else "%b", local) if len(run) > 2 else f"{local.tm_mon:0{len(run)}}"
            )
        elif letter == "E":
            out.append(time.strftime("%A" if len(run) > 3 else "%a", local))
        elif letter in "zZX":
            out.append(time.strftime("%Z" if letter == "z" else "%z", local))
        elif letter == "a":
            out.append(time.strftime("%p", local))
        elif letter in _NUMBERS:
            out.append(f"{int(time.strftime(_NUMBERS[letter], local)):0{len(run)}}")
        else:
            raise ValueError(f"Illegal pattern character '{letter}'")
    return "".join(out)
