"""What clients were promised and what they were shown, to be compared with what a broker has."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from barnabas.wire.batch import Record


class Place(NamedTuple):
    topic: str
    partition: int


class Ledger:
    """Kept by all clients of a test together. No two records of a test have the same value."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sent: dict[Place, set[bytes]] = defaultdict(set)
        self._acknowledged: dict[Place, dict[int, bytes]] = defaultdict(dict)
        self._seen: dict[Place, dict[int, bytes]] = defaultdict(dict)

    @property
    def places(self) -> list[Place]:
        with self._lock:
            return list(self._sent)

    @property
    def acknowledged_count(self) -> int:
        with self._lock:
            return sum(map(len, self._acknowledged.values()))

    def send(self, place: Place, values: Sequence[bytes]) -> None:
        """Before a batch is sent."""
        with self._lock:
            self._sent[place].update(values)

    def acknowledge(self, place: Place, base_offset: int, values: Sequence[bytes]) -> None:
        """The broker has promised that the batch is safe, and told its offset."""
        with self._lock:
            self._note(self._acknowledged[place], dict(enumerate(values, base_offset)), place)

    def see(self, place: Place, records: Sequence[Record]) -> None:
        """A consumer got these."""
        with self._lock:
            self._note(self._seen[place], {record.offset: record.value or b"" for record in records}, place)

    def forget(self, topic: str) -> None:
        """The topic was deleted."""
        with self._lock:
            for notes in (self._sent, self._acknowledged, self._seen):
                for place in [place for place in notes if place.topic == topic]:
                    del notes[place]

    def check(self, place: Place, records: Sequence[Record]) -> None:
        """Fails unless the records are what a partition may hold."""
        stored = {record.offset: record.value or b"" for record in records}
        assert [record.offset for record in records] == list(range(len(records))), f"gaps in {place}"
        with self._lock:
            for notes, what in ((self._acknowledged, "acknowledged"), (self._seen, "read by a consumer")):
                lost = {offset: value[:40] for offset, value in notes[place].items() if stored.get(offset) != value}
                assert not lost, f"of {place}, which ends at {len(records)}, these were {what} and are lost: {lost}"
            invented = set(stored.values()) - self._sent[place]
            assert not invented, f"nobody sent these to {place}: {[value[:40] for value in invented]}"
        assert len(set(stored.values())) == len(stored), f"something is twice in {place}"

    def _note(self, notes: dict[int, bytes], found: dict[int, bytes], place: Place) -> None:
        for offset, value in found.items():
            assert notes.setdefault(offset, value) == value, f"offset {offset} of {place} was another record before"
