"""Which partition a record goes to: by its key's hash, or, without a key, to one partition until a batch of bytes is full."""

import random
from collections.abc import Sequence
from typing import Final

_SEED: Final = 0x9747B28C
_MULTIPLIER: Final = 0x5BD1E995
_SHIFT: Final = 24
_MASK: Final = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """The 32-bit hash that every Kafka client spreads keys with, without sign."""
    length = len(data)
    value = (_SEED ^ length) & _MASK
    whole = length & ~3
    for position in range(0, whole, 4):
        part = int.from_bytes(data[position : position + 4], "little") * _MULTIPLIER & _MASK
        part = (part ^ part >> _SHIFT) * _MULTIPLIER & _MASK
        value = (value * _MULTIPLIER & _MASK) ^ part
    if whole < length:
        value = (value ^ int.from_bytes(data[whole:], "little")) * _MULTIPLIER & _MASK
    value = (value ^ value >> 13) * _MULTIPLIER & _MASK
    return value ^ value >> 15


def partition_of_key(key: bytes, partitions: int) -> int:
    return (murmur2(key) & 0x7FFFFFFF) % partitions


class StickyPartition:
    """The partition of one topic that records without a key go to now; another one after every `batch_bytes`."""

    __slots__ = ("_batch_bytes", "_left_bytes", "_random", "partition")

    def __init__(self, batch_bytes: int, chooser: random.Random) -> None:
        self._batch_bytes = max(1, batch_bytes)
        self._random = chooser
        self._left_bytes = 0
        self.partition = -1

    def take(self, size_bytes: int, available: Sequence[int]) -> int:
        """The partition for a record of `size_bytes`; `available` are those that have a leader."""
        if self._left_bytes <= 0 or self.partition < 0:
            self.partition = available[self._random.randrange(len(available))]
            self._left_bytes = self._batch_bytes
        self._left_bytes -= size_bytes
        return self.partition
