"""The range assignor: each topic is cut into ranges, in the order of instance ids and then of member ids.

Topics with equal numbers of partitions and the same subscribers are cut alike, so that their partitions can be joined.
"""

from __future__ import annotations

from core_broker.coordinators.groups.assignors.group_spec import Assignment, GroupSpec


def assign_range(group: GroupSpec) -> dict[str, Assignment]:
    ordered = sorted(group.members, key=lambda member_id: _order_key(group, member_id))
    subscribers: dict[bytes, list[str]] = {}
    for member_id in ordered:
        for topic_id in group.members[member_id].topic_ids:
            subscribers.setdefault(topic_id, []).append(member_id)
    assigned: dict[str, dict[bytes, frozenset[int]]] = {member_id: {} for member_id in ordered}
    for topic_id, member_ids in subscribers.items():
        least, extra = divmod(group.partition_counts[topic_id], len(member_ids))
        start = 0
        for position, member_id in enumerate(member_ids):
            end = start + least + (position < extra)
            if start < end:
                assigned[member_id][topic_id] = frozenset(range(start, end))
            start = end
    return dict(assigned)


def _order_key(group: GroupSpec, member_id: str) -> tuple[bool, str]:
    """Static members first. Java compares UTF-16 units; ids that only differ above U+FFFF do not occur."""
    instance_id = group.members[member_id].instance_id
    return (True, member_id) if instance_id is None else (False, instance_id)
