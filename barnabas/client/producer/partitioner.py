"""Which partition a record without a key goes to: to one partition until a batch of bytes is full."""

import random
from collections.abc import Sequence


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
