"""The aborted transactions that ended in one segment: the content of a `.txnindex` file."""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

_VERSION: Final = 0
_ENTRY: Final = struct.Struct(">hqqqq")
ENTRY_BYTES: Final = _ENTRY.size


class AbortedTransaction(NamedTuple):
    """`last_offset` is that of the abort marker; `last_stable_offset` is what it was once the marker stood."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class TransactionIndex:
    """Entries in memory, ordered by their markers; `written` of them are in the file already."""

    __slots__ = ("entries", "written")

    def __init__(self, entries: list[AbortedTransaction] | None = None) -> None:
        self.entries = [] if entries is None else entries
        self.written = 0

    def __len__(self) -> int:
        return len(self.entries)

    def keep_below(self, offset: int) -> None:
        """Forget the transactions whose markers stand at or above an offset."""
        kept = [entry for entry in self.entries if entry.last_offset < offset]
        if len(kept) < len(self.entries):
            self.entries = kept
            self.written = 0  # the file holds too much, so it is to be written anew

    def collect(self, first_offset: int, end_offset: int, found: list[AbortedTransaction]) -> bool:
        """Add what overlaps [first_offset, end_offset) to `found`; True when later segments cannot hold more."""
        for entry in self.entries:
            if entry.last_offset >= first_offset and entry.first_offset < end_offset:
                found.append(entry)
            if entry.last_stable_offset >= end_offset:
                return True
        return False

    def unwritten(self) -> bytes:
        """The entries that are not in the file yet, as they stand there."""
        return b"".join(_ENTRY.pack(_VERSION, *entry) for entry in self.entries[self.written :])

    @classmethod
    def parse(cls, data: bytes, base_offset: int) -> TransactionIndex | None:
        """Read a file's content; None when it cannot be the index of the segment with that base offset."""
        if len(data) % ENTRY_BYTES:
            return None
        entries = []
        previous = base_offset - 1
        for version, *fields in _ENTRY.iter_unpack(data):
            entry = AbortedTransaction(*fields)
            if version != _VERSION or entry.last_offset <= previous or entry.first_offset > entry.last_offset:
                return None
            previous = entry.last_offset
            entries.append(entry)
        index = cls(entries)
        index.written = len(entries)
        return index
