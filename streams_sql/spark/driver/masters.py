"""Spark's masters: this machine, or a cluster."""

from __future__ import annotations

import os
import re
from typing import Final

SLOTS_PER_CORE: Final = 4

_LOCAL: Final = re.compile(r"local(?:\[(\d+|\*)(?:,\d+)?])?")


def default_master() -> str:
    return f"local[{SLOTS_PER_CORE * _cores()}]"


def is_local(master: str) -> bool:
    """Whether Spark runs here; no name at all stands for the default."""
    return not master or _LOCAL.fullmatch(master) is not None


def slots_of(master: str) -> int | None:
    """How many tasks run at a time; None for a cluster, of which that is not known before it is there."""
    found = _LOCAL.fullmatch(master or default_master())
    if found is None:
        return None
    match found[1]:
        case None:
            return 1
        case "*":
            return _cores()
        case number:
            return int(number)


def _cores() -> int:
    return len(os.sched_getaffinity(0))
