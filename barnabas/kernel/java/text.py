"""Java's way to write values and to order them, where the output of a tool depends on it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from barnabas.kernel.java.hash_map import hash_map_order


def computed_map_order(keys: Iterable[str]) -> list[str]:
    """The order in which a HashMap hands out `keys` that were put there by computeIfAbsent, one after the other.

    Unlike put, that method places a key in front of those that fell into the same bucket earlier.
    """
    return hash_map_order(reversed(list(dict.fromkeys(keys))))


def boolean(value: bool) -> str:
    return "true" if value else "false"


def file_path(text: str) -> str:
    """A path as Java's File shows it: no double slashes, none at the end."""
    shown = re.sub("/+", "/", text)
    return shown if shown == "/" else shown.rstrip("/")


def absolute_path(path: str) -> str:
    """As Java's File makes it absolute: the working folder in front, dots left alone."""
    return path if path.startswith("/") else f"{os.getcwd()}/{path}"
