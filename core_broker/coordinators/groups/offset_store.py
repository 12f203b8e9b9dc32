"""Committed offsets, those of open transactions apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class TopicPartition(NamedTuple):
    topic: str
    partition: int


class CommittedOffset(NamedTuple):
    """Where a group goes on reading a partition."""

    record_offset: int
    """Of the record that says so."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_time_ms: int
    expire_time_ms: int | None
    """When it expires, if the client set that (it could up to version 4 of OffsetCommit)."""

    topic_id: bytes


Offsets = dict[TopicPartition, CommittedOffset]
_NONE: Offsets = {}


class OffsetStore:
    """Changed by replayed records only."""

    def __init__(self) -> None:
        self._committed: dict[str, Offsets] = {}
        self._pending: dict[int, dict[str, Offsets]] = {}
        self._writers: dict[str, dict[TopicPartition, set[int]]] = {}
        self.count = 0

    def of_group(self, group_id: str) -> Mapping[TopicPartition, CommittedOffset]:
        return self._committed.get(group_id, _NONE)

    def get(self, group_id: str, key: TopicPartition) -> CommittedOffset | None:
        return self._committed.get(group_id, _NONE).get(key)

    def put(self, group_id: str, key: TopicPartition, committed: CommittedOffset) -> None:
        offsets = self._committed.get(group_id)
        if offsets is None:
            offsets = self._committed[group_id] = {}
        if key not in offsets:
            self.count += 1
        offsets[key] = committed

    def remove(self, group_id: str, key: TopicPartition) -> None:
        offsets = self._committed.get(group_id)
        if offsets is not None and offsets.pop(key, None) is not None:
            self.count -= 1
            if not offsets:
                del self._committed[group_id]
        self._forget_pending(group_id, key)

    # Offsets of open transactions.

    def put_pending(self, producer_id: int, group_id: str, key: TopicPartition, committed: CommittedOffset) -> None:
        """Keeps an offset until the producer's marker says whether it counts."""
        self._pending.setdefault(producer_id, {}).setdefault(group_id, {})[key] = committed
        self._writers.setdefault(group_id, {}).setdefault(key, set()).add(producer_id)

    def is_pending(self, group_id: str, key: TopicPartition) -> bool:
        writers = self._writers.get(group_id)
        return writers is not None and key in writers

    def pending(self, group_id: str) -> Iterable[TopicPartition]:
        """Where open transactions want to commit offsets of a group."""
        return self._writers.get(group_id, {}).keys()

    def has_pending(self, group_id: str) -> bool:
        return group_id in self._writers

    def end(self, producer_id: int, *, commits: bool) -> None:
        """A transaction ends here. An offset that was committed meanwhile stays if its record stands later in the log."""
        for group_id, offsets in self._pending.pop(producer_id, {}).items():
            for key, offset in offsets.items():
                self._remove_writer(group_id, key, producer_id)
                if commits:
                    known = self.get(group_id, key)
                    if known is None or known.record_offset < offset.record_offset:
                        self.put(group_id, key, offset)

    def _remove_writer(self, group_id: str, key: TopicPartition, producer_id: int) -> None:
        keys = self._writers[group_id]
        producers = keys[key]
        producers.discard(producer_id)
        if not producers:
            del keys[key]
            if not keys:
                del self._writers[group_id]

    def _forget_pending(self, group_id: str, key: TopicPartition) -> None:
        """A deleted offset does not come back when a transaction that knew it commits."""
        for producer_id in self._writers.get(group_id, {}).get(key, set()).copy():
            groups = self._pending[producer_id]
            del groups[group_id][key]
            if not groups[group_id]:
                del groups[group_id]
                if not groups:
                    del self._pending[producer_id]
            self._remove_writer(group_id, key, producer_id)
