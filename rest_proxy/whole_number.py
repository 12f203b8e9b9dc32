"""Whole numbers as clients write them: 5, and also "5" or 5.0, since not every language has types that keep them apart."""

from __future__ import annotations

import re
from typing import Final

DIGITS_MAX: Final = 19
"""Of a number that is written as a text."""

_DIGITS: Final = re.compile(r"-?[0-9]+")


def as_integer(value: object) -> int | None:
    """The number that is meant; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and len(value) <= DIGITS_MAX and _DIGITS.fullmatch(value):
        return int(value)
    return None
