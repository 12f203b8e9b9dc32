"""Records that a consumer has fetched and no client has been given yet, and how far clients have been given the rest."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from rest_proxy.v2.consuming.partition import FetchedRecord, Partition

RECORDS_MAX: Final = 20_000
"""No more are fetched than so many, and one batch: small records cost more memory than their bytes tell."""


class Backlog:
    """Used by the thread that fetches and by the event loop at once; nothing here waits for anything but the other's few steps.

    A record leaves when its answer is ready, not before: a read that fails or is given up loses none.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._records: deque[FetchedRecord] = deque()
        self._bytes = 0
        self._positions: dict[Partition, int] = {}

    @property
    def size_bytes(self) -> int:
        return self._bytes

    def holds(self, min_bytes: int, max_bytes: int) -> bool:
        """Whether there is enough for an answer: more than the one, or as much as there may be."""
        return bool(self._records) and (self._bytes > min_bytes or not self.takes(max_bytes))

    def takes(self, max_bytes: int) -> bool:
        """Whether there is something, and room for more."""
        return 0 < len(self._records) < RECORDS_MAX and self._bytes < max_bytes

    def add(self, records: Iterable[FetchedRecord]) -> None:
        with self._lock:
            for record in records:
                self._records.append(record)
                self._bytes += record.size_bytes

    def first(self, max_bytes: int) -> list[FetchedRecord]:
        """The oldest records, together no more than so many bytes; but always one, if there is any."""
        chosen: list[FetchedRecord] = []
        room = max_bytes
        with self._lock:
            for record in self._records:
                room -= record.size_bytes
                if room < 0 and chosen:
                    break
                chosen.append(record)
        return chosen

    def given(self, records: Sequence[FetchedRecord]) -> None:
        """These of the oldest have been given to a client. What was dropped meanwhile is not counted."""
        with self._lock:
            for record in records:
                if self._records and self._records[0] is record:
                    self._records.popleft()
                    self._bytes -= record.size_bytes
                    self._positions[record.partition] = record.offset + 1

    def drop(self, partitions: Collection[Partition]) -> None:
        """Forget what belongs to partitions that are consumed by others from now on, or from elsewhere."""
        with self._lock:
            self._records = deque(record for record in self._records if record.partition not in partitions)
            self._bytes = sum(record.size_bytes for record in self._records)
            for partition in partitions:
                self._positions.pop(partition, None)

    def move(self, partition: Partition, offset: int) -> None:
        """The next record of a partition that a client wants."""
        with self._lock:
            self._positions[partition] = offset

    def positions(self) -> dict[Partition, int]:
        """The next record of each partition that a client has read from or moved in."""
        with self._lock:
            return dict(self._positions)

    def restart(self, positions: Mapping[Partition, int]) -> None:
        """Forget all but these positions."""
        with self._lock:
            self._records.clear()
            self._bytes = 0
            self._positions = dict(positions)
