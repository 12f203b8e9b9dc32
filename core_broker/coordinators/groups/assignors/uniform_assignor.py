"""The uniform assignor: everybody gets as many partitions as everybody else, give or take one, and keeps what it has."""

from __future__ import annotations

from core_broker.coordinators.groups.assignors.group_spec import Assignment, GroupSpec
from core_broker.coordinators.groups.assignors.java_order import (
    copied_topic_order,
    partition_order,
    text_order,
    topic_order,
)
from core_broker.coordinators.groups.assignors.uneven_subscriptions import assign_uneven_subscriptions


def assign_uniform(group: GroupSpec) -> dict[str, Assignment]:
    if not group.members:
        return {}
    return assign_same_subscriptions(group) if group.is_homogeneous else assign_uneven_subscriptions(group)


def assign_same_subscriptions(group: GroupSpec) -> dict[str, Assignment]:
    """All members subscribe to the same topics."""
    members = text_order(group.members)
    topic_ids = group.members[members[0]].topic_ids
    if not topic_ids:
        return {}
    return _SameSubscriptions(group, members, topic_ids).assign()


class _SameSubscriptions:
    def __init__(self, group: GroupSpec, members: list[str], topic_ids: frozenset[bytes]) -> None:
        self._group = group
        self._members = members
        self._topic_ids = topic_ids
        self._free: list[tuple[bytes, int]] = []
        self._assigned: dict[str, dict[bytes, frozenset[int]]] = {}

    def assign(self) -> dict[str, Assignment]:
        total = sum(self._group.partition_counts[topic_id] for topic_id in self._topic_ids)
        self._collect_free()
        start = 0
        for member_id, missing in self._keep(*divmod(total, len(self._members))):
            for topic_id, partition in self._free[start : start + missing]:
                kept = self._assigned[member_id]
                kept[topic_id] = kept.get(topic_id, frozenset()) | {partition}
            start += missing
        return dict(self._assigned)

    def _collect_free(self) -> None:
        """What nobody has now. What members must give up comes behind it."""
        taken = {
            (topic_id, partition)
            for spec in self._group.members.values()
            for topic_id, partitions in spec.assigned.items()
            for partition in partitions
        }
        for topic_id in copied_topic_order(self._topic_ids):
            for partition in range(self._group.partition_counts[topic_id]):
                if (topic_id, partition) not in taken:
                    self._free.append((topic_id, partition))

    def _keep(self, least: int, extras: int) -> list[tuple[str, int]]:
        """Leaves each member what its quota allows; returns who can take more, and how much."""
        unfilled = []
        for position, member_id in enumerate(self._members):
            has_extra = extras > 0
            quota = self._keep_within(member_id, least + has_extra)
            if quota > 0 and has_extra and len(self._members) - position > extras:
                # Others come who may need the extra partition in order to keep what they have.
                quota -= 1
                has_extra = False
            if quota > 0:
                unfilled.append((member_id, quota))
            extras -= has_extra
        return unfilled

    def _keep_within(self, member_id: str, quota: int) -> int:
        """Returns how much of the quota is left."""
        current = self._group.members[member_id].assigned
        kept: dict[bytes, frozenset[int]] = {}
        self._assigned[member_id] = kept
        for topic_id in topic_order(current):
            if topic_id not in self._topic_ids:
                continue
            ordered = partition_order(current[topic_id])
            if ordered[:quota]:
                kept[topic_id] = frozenset(ordered[:quota])
            self._free.extend((topic_id, partition) for partition in ordered[quota:])
            quota -= len(ordered[:quota])
        return quota
