"""The uniform assignor when members subscribe to different topics: an even load as far as the subscriptions allow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from core_broker.coordinators.groups.assignors.group_spec import Assignment, GroupSpec
from core_broker.coordinators.groups.assignors.java_order import text_order, uuid_order_key
from core_broker.coordinators.groups.assignors.load_levels import LoadLevels

ROUNDS_MAX: Final = 16
"""Of going through all topics. Subscriptions that overlap without being equal may take long to settle; this is near enough."""

_NOBODY: Final = -1


def assign_uneven_subscriptions(group: GroupSpec) -> dict[str, Assignment]:
    return _UnevenSubscriptions(group).assign()


class _UnevenSubscriptions:
    """Members are numbered in Java's order; a partition's owner and a member's load are kept by those numbers."""

    def __init__(self, group: GroupSpec) -> None:
        self._group = group
        self._members = text_order(group.members)
        self._loads = [0] * len(self._members)
        self._subscribers: dict[bytes, list[int]] = {}
        for number, member_id in enumerate(self._members):
            for topic_id in group.members[member_id].topic_ids:
                self._subscribers.setdefault(topic_id, []).append(number)
        self._owners = {topic_id: [_NOBODY] * group.partition_counts[topic_id] for topic_id in self._subscribers}

    def assign(self) -> dict[str, Assignment]:
        if not self._subscribers:
            return {}
        self._keep()
        self._assign_free()
        self._balance([topic_id for topic_id, numbers in self._subscribers.items() if len(numbers) > 1])
        return self._result()

    def _keep(self) -> None:
        for number, member_id in enumerate(self._members):
            spec = self._group.members[member_id]
            for topic_id, partitions in spec.assigned.items():
                if topic_id in spec.topic_ids:
                    for partition in partitions:
                        self._own(topic_id, partition, number)

    def _own(self, topic_id: bytes, partition: int, number: int) -> None:
        owners = self._owners[topic_id]
        if owners[partition] != _NOBODY:
            self._loads[owners[partition]] -= 1
        owners[partition] = number
        self._loads[number] += 1

    def _sorted(self, topic_ids: Iterable[bytes]) -> list[bytes]:
        """Topics with most partitions for each subscriber first: what is hard to spread comes before what evens it out."""

        def key(topic_id: bytes) -> tuple[float, int, tuple[int, int]]:
            subscribers = len(self._subscribers[topic_id])
            return -len(self._owners[topic_id]) / subscribers, subscribers, uuid_order_key(topic_id)

        return sorted(topic_ids, key=key)

    def _assign_free(self) -> None:
        for topic_id in self._sorted(topic_id for topic_id, owners in self._owners.items() if _NOBODY in owners):
            levels = LoadLevels(self._subscribers[topic_id], self._loads)
            for partition, owner in enumerate(self._owners[topic_id]):
                if owner == _NOBODY:
                    self._own(topic_id, partition, levels.next_least_loaded())

    def _balance(self, topic_ids: list[bytes]) -> None:
        """Goes round until a whole round has moved nothing."""
        ordered = self._sorted(topic_ids)
        last_moved = -1
        for _ in range(ROUNDS_MAX):
            for position, topic_id in enumerate(ordered):
                if position == last_moved:
                    return
                if self._balance_topic(topic_id) or last_moved == -1:
                    last_moved = position

    def _balance_topic(self, topic_id: bytes) -> int:
        """Moves partitions from the most loaded subscribers to the least loaded; returns how many."""
        levels = LoadLevels(self._subscribers[topic_id], self._loads)
        if levels.imbalance <= 1:
            return 0
        owned: dict[int, list[int]] = {}
        for partition, owner in enumerate(self._owners[topic_id]):
            owned.setdefault(owner, []).append(partition)
        moved = 0
        while not levels.are_level():
            giver = levels.next_most_loaded()
            while giver is not None and not owned.get(giver):
                levels.exclude_most_loaded()
                giver = levels.next_most_loaded()
            if giver is None:
                break
            partition = owned[giver].pop()
            taker = levels.next_least_loaded()
            if levels.are_level():
                break
            self._own(topic_id, partition, taker)
            moved += 1
        return moved

    def _result(self) -> dict[str, Assignment]:
        partitions: list[dict[bytes, set[int]]] = [{} for _ in self._members]
        for topic_id, owners in self._owners.items():
            for partition, owner in enumerate(owners):
                partitions[owner].setdefault(topic_id, set()).add(partition)
        return {
            member_id: {topic_id: frozenset(numbers) for topic_id, numbers in partitions[number].items()}
            for number, member_id in enumerate(self._members)
        }
