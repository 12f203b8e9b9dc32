"""The sparse map from offsets to byte positions of one segment: the content of an `.index` file."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left, bisect_right
from operator import lt
from typing import Final, NamedTuple

ENTRY_BYTES: Final = 8

_SWAPPED: Final = sys.byteorder == "little"


class OffsetEntry(NamedTuple):
    """The last offset of a batch, relative to the segment's base offset, and where that batch starts."""

    relative_offset: int
    position: int


class OffsetIndex:
    """Entries in memory; `written` of them are in the file already."""

    __slots__ = ("offsets", "positions", "written")

    def __init__(self, offsets: array[int] | None = None, positions: array[int] | None = None) -> None:
        self.offsets = array("I") if offsets is None else offsets
        self.positions = array("I") if positions is None else positions
        self.written = 0

    def __len__(self) -> int:
        return len(self.offsets)

    @property
    def memory_bytes(self) -> int:
        return ENTRY_BYTES * len(self.offsets)

    def append(self, relative_offset: int, position: int) -> None:
        self.offsets.append(relative_offset)
        self.positions.append(position)

    def position_at_or_below(self, relative_offset: int) -> int:
        """Where to start looking for an offset: at a batch whose last offset does not lie above it."""
        slot = bisect_right(self.offsets, relative_offset)
        return self.positions[slot - 1] if slot else 0

    def last(self) -> OffsetEntry | None:
        return OffsetEntry(self.offsets[-1], self.positions[-1]) if self.offsets else None

    def keep_below(self, position: int) -> None:
        """Forget the entries of batches that start at or after a position."""
        slot = bisect_left(self.positions, position)
        if slot < len(self):
            del self.offsets[slot:]
            del self.positions[slot:]
            self.written = 0  # the file holds too much, so it is to be written anew

    def unwritten(self) -> bytes:
        """The entries that are not in the file yet, as they stand there."""
        start = self.written
        entries = array("I", bytes(ENTRY_BYTES * (len(self.offsets) - start)))
        entries[0::2] = self.offsets[start:]
        entries[1::2] = self.positions[start:]
        if _SWAPPED:
            entries.byteswap()
        return entries.tobytes()

    @classmethod
    def parse(cls, data: bytes, segment_bytes: int) -> OffsetIndex | None:
        """Read a file's content; None when it cannot be the index of a segment of that size."""
        if len(data) % ENTRY_BYTES:
            return None
        entries = array("I", data)
        if _SWAPPED:
            entries.byteswap()
        index = cls(entries[0::2], entries[1::2])
        if not _increases(index.offsets) or not _increases(index.positions):
            return None
        if index.positions and index.positions[-1] >= segment_bytes:
            return None
        index.written = len(index)
        return index


def _increases(values: array[int]) -> bool:
    return all(map(lt, values, memoryview(values)[1:]))
