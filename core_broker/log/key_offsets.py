"""The last offset of each key in the part of a log that was not cleaned yet."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Final

ENTRY_BYTES: Final = 160
"""What an entry takes, measured with keys of 16 bytes: the key, the offset, and its share of a table that is half empty."""

SHARDS: Final = 256
"""One table that doubles, or goes, stops every thread for tens of milliseconds; small ones do not."""

_WHOLE_KEY_MAX_BYTES: Final = 32
_DIGEST_BYTES: Final = 33  # no whole key is as long, so the two cannot be mixed up
_SHARD_MASK: Final = SHARDS - 1


def _condense(key: bytes) -> bytes:
    return key if len(key) <= _WHOLE_KEY_MAX_BYTES else blake2b(key, digest_size=_DIGEST_BYTES).digest()


class KeyOffsets:
    """Takes keys in the order of their offsets until it is full. Long keys are told apart by a digest of 264 bits.

    `latest` is the last offset up to which everything was seen: what is known of a key holds up to there.
    """

    __slots__ = ("_count", "_shards", "capacity", "latest")

    def __init__(self, capacity: int) -> None:
        self.capacity = max(capacity, 1)
        self.latest = -1
        self._count = 0
        self._shards: list[dict[bytes, int]] = [{} for _ in range(SHARDS)]

    @classmethod
    def within(cls, memory_bytes: int, load_factor: float) -> KeyOffsets:
        return cls(int(memory_bytes * load_factor) // ENTRY_BYTES)

    def __len__(self) -> int:
        return self._count

    @property
    def is_full(self) -> bool:
        return self._count >= self.capacity

    def put(self, key: bytes, offset: int) -> None:
        if len(key) > _WHOLE_KEY_MAX_BYTES:
            key = _condense(key)
        shard = self._shards[hash(key) & _SHARD_MASK]
        if key not in shard:
            self._count += 1
        shard[key] = self.latest = offset

    def last_offset(self, key: bytes) -> int:
        """The last offset of a key; -1 if it was not seen."""
        if len(key) > _WHOLE_KEY_MAX_BYTES:
            key = _condense(key)
        return self._shards[hash(key) & _SHARD_MASK].get(key, -1)

    def release(self) -> Iterator[None]:
        """Give the memory back, a part with each step."""
        self._count = 0
        while self._shards:
            del self._shards[-1]
            yield
