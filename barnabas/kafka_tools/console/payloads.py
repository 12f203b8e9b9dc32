"""The values that kafka-producer-perf-test sends."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from typing import Final

from barnabas.kafka_tools.shell.exits import ToolError

_LETTERS: Final = 26
# Every byte as one of Java's 26 letters; not quite evenly, which no broker notices.
_TO_LETTERS: Final = bytes(ord("A") + byte % _LETTERS for byte in range(256))

# How many, the number of the first: the values.
Payloads = Callable[[int, int], list[bytes]]


def of_size(size_bytes: int, chooser: random.Random) -> Payloads:
    """Random letters, another text for each record."""

    def make(count: int, _first: int) -> list[bytes]:
        letters = chooser.randbytes(count * size_bytes).translate(_TO_LETTERS)
        return [letters[start : start + size_bytes] for start in range(0, len(letters), size_bytes)]

    return make


def monotonic() -> Payloads:
    return lambda count, first: [b"%d" % number for number in range(first, first + count)]


def of_file(path: str, delimiter: str, chooser: random.Random) -> Payloads:
    """Any of the texts in a file."""
    print(f"Reading payloads from: {os.path.abspath(path)}")
    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8", "replace")
    except OSError:
        text = ""
    if not text:
        raise ToolError("File does not exist or empty file provided.")
    listed = re.split(delimiter, text)
    while len(listed) > 1 and not listed[-1]:
        listed.pop()  # Java's split drops empty strings at the end
    print(f"Number of records read: {len(listed)}")
    encoded = [payload.encode() for payload in listed]
    return lambda count, _first: chooser.choices(encoded, k=count)
