"""How much space a log directory has left, and whether that is enough."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

NEARLY_FULL_BYTES: Final = 1_000_000_000
"""Below this much the broker warns: time to act before writes fail."""

_UNITS: Final = ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"))


class Level(Enum):
    ENOUGH = "enough"
    NEARLY_FULL = "nearly full"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class DiskSpace:
    """The free bytes of a log directory. The disk is full when it cannot take `batch_max_bytes`, the largest batch that a client may send."""

    directory: str
    free_bytes: int
    batch_max_bytes: int

    @property
    def level(self) -> Level:
        if self.free_bytes < self.batch_max_bytes:
            return Level.FULL
        return Level.NEARLY_FULL if self.free_bytes < NEARLY_FULL_BYTES else Level.ENOUGH

    def __str__(self) -> str:
        found = f"disk {self.level.value}: {self.directory}: {size_text(self.free_bytes)} free"
        if self.level is Level.FULL:
            found += f", and a batch may have {size_text(self.batch_max_bytes)} (message.max.bytes)"
        return found


def size_text(size_bytes: int) -> str:
    """Bytes in the largest unit that fits."""
    for unit_bytes, unit in _UNITS:
        if size_bytes >= unit_bytes:
            return f"{size_bytes / unit_bytes:.4g} {unit}"
    return f"{size_bytes} bytes"
