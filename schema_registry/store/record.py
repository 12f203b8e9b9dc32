"""A record on its way to the log."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Record:
    """Bytes of a key and of its value; no value deletes the key."""

    key: bytes
    value: bytes | None

    @property
    def size_bytes(self) -> int:
        return len(self.key) + len(self.value or b"")
