"""Java's String.hashCode, by which Kafka chooses the partition of a group or a transactional id."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_MASK: Final = 0xFFFF_FFFF
_SIGN: Final = 0x8000_0000
REMEMBERED_MAX: Final = 10_000


@lru_cache(maxsize=REMEMBERED_MAX)
def java_hash(text: str) -> int:
    """A 32-bit number with a sign, over the UTF-16 units of the text."""
    units = memoryview(text.encode("utf-16-be", "surrogatepass"))
    value = 0
    for position in range(0, len(units), 2):
        value = (31 * value + (units[position] << 8 | units[position + 1])) & _MASK
    return value - (1 << 32) if value & _SIGN else value
