"""Offsets as people name them, the same words in every command."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

# As ListOffsets has them.
EARLIEST: Final = -2
LATEST: Final = -1

_WORDS: Final[Mapping[str, int]] = {"beginning": EARLIEST, "earliest": EARLIEST, "end": LATEST, "latest": LATEST}


def parse_offset(text: str) -> int | None:
    """Return an offset, EARLIEST or LATEST; None when it is none of them."""
    return int(text) if re.fullmatch(r"[0-9]+", text) else _WORDS.get(text)
