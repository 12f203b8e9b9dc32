"""The sparse map from timestamps to offsets of one segment: the content of a `.timeindex` file."""

from __future__ import annotations

import struct
import sys
from array import array
from bisect import bisect_left, bisect_right
from operator import le, lt
from typing import Final, NamedTuple

ENTRY_BYTES: Final = 12
NO_TIMESTAMP: Final = -1

_ENTRY: Final = struct.Struct(">qI")
_SWAPPED: Final = sys.byteorder == "little"


class TimeEntry(NamedTuple):
    """The largest timestamp so far, and the last offset of its batch relative to the segment's base offset."""

    timestamp: int
    relative_offset: int


class TimeIndex:
    """Entries in memory, in which timestamps and offsets grow; `written` of them are in the file already."""

    __slots__ = ("offsets", "timestamps", "written")

    def __init__(self, timestamps: array[int] | None = None, offsets: array[int] | None = None) -> None:
        self.timestamps = array("q") if timestamps is None else timestamps
        self.offsets = array("I") if offsets is None else offsets
        self.written = 0

    def __len__(self) -> int:
        return len(self.timestamps)

    @property
    def memory_bytes(self) -> int:
        return ENTRY_BYTES * len(self.timestamps)

    def append(self, timestamp: int, relative_offset: int) -> None:
        """Add an entry if the timestamp is larger than all before."""
        timestamps = self.timestamps
        if timestamp > (timestamps[-1] if timestamps else NO_TIMESTAMP):
            timestamps.append(timestamp)
            self.offsets.append(relative_offset)

    def offset_at_or_below(self, timestamp: int) -> int:
        """The relative offset of the last entry whose timestamp is not larger; 0 if there is none."""
        slot = bisect_right(self.timestamps, timestamp)
        return self.offsets[slot - 1] if slot else 0

    def last(self) -> TimeEntry | None:
        return TimeEntry(self.timestamps[-1], self.offsets[-1]) if self.timestamps else None

    def keep_below(self, relative_offset: int) -> None:
        """Forget the entries from an offset on."""
        slot = bisect_left(self.offsets, relative_offset)
        if slot < len(self):
            del self.timestamps[slot:]
            del self.offsets[slot:]
            self.written = 0  # the file holds too much, so it is to be written anew

    def unwritten(self) -> bytes:
        """The entries that are not in the file yet, as they stand there."""
        start = self.written
        words = array("I", self.timestamps[start:].tobytes())
        entries = array("I", bytes(ENTRY_BYTES * (len(self.timestamps) - start)))
        entries[0::3] = words[1::2] if _SWAPPED else words[0::2]
        entries[1::3] = words[0::2] if _SWAPPED else words[1::2]
        entries[2::3] = self.offsets[start:]
        if _SWAPPED:
            entries.byteswap()
        return entries.tobytes()

    @classmethod
    def parse(cls, data: bytes) -> TimeIndex | None:
        """Read a file's content; None when it cannot be a time index."""
        if len(data) % ENTRY_BYTES:
            return None
        entries = array("I", data)
        if _SWAPPED:
            entries.byteswap()
        words = array("I", bytes(len(data) // 3 * 2))
        words[1 if _SWAPPED else 0 :: 2] = entries[0::3]
        words[0 if _SWAPPED else 1 :: 2] = entries[1::3]
        index = cls(array("q", words.tobytes()), entries[2::3])
        if not all(map(lt, index.timestamps, memoryview(index.timestamps)[1:])):
            return None
        if not all(map(le, index.offsets, memoryview(index.offsets)[1:])):
            return None
        index.written = len(index)
        return index


def parse_entry(data: bytes) -> TimeEntry:
    """One entry of 12 bytes: the last of a file says what the largest timestamp of its segment is."""
    return TimeEntry(*_ENTRY.unpack(data))
