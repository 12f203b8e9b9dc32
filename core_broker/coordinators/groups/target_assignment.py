"""The target assignment of a consumer group: what each member shall have in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

from core_broker.coordinators.groups import consumer_records as records
from core_broker.coordinators.groups.assignors.catalogue import ASSIGNORS
from core_broker.coordinators.groups.assignors.group_spec import Assignment, GroupSpec, MemberSpec
from core_broker.coordinators.groups.assignors.java_order import text_order
from core_broker.coordinators.groups.consumer_group import NO_ASSIGNMENT, ConsumerGroup
from core_broker.coordinators.groups.consumer_member import ConsumerMember
from core_broker.coordinators.groups.subscriptions import is_homogeneous, topic_ids_of
from core_broker.coordinators.record import CoordinatorRecord
from core_broker.metadata.image import ClusterImage


class Target(NamedTuple):
    """What one member shall have, and in which epoch that was decided."""

    epoch: int
    assignment: Assignment


def members_with(group: ConsumerGroup, updated: ConsumerMember) -> dict[str, ConsumerMember]:
    """The members once a change has been written: one is new, changed, or takes the place of a static member."""
    members = {**group.members, updated.member_id: updated}
    replaced = None if updated.instance_id is None else group.static_members.get(updated.instance_id)
    if replaced is not None and replaced != updated.member_id:
        members.pop(replaced, None)
    return members


def preferred_assignor(members: Mapping[str, ConsumerMember], default: str, *, known: Collection[str] = ()) -> str:
    """What most members ask for. Between equals, as in Kafka's hash map: a name that is not `known` from before, else the first."""
    votes = assignor_votes(members)
    most = max(votes.values(), default=0)
    best = text_order([name for name, count in votes.items() if count == most])
    return next((name for name in best if known and name not in known), best[0] if best else default)


def assignor_votes(members: Mapping[str, ConsumerMember]) -> Counter[str]:
    return Counter(member.server_assignor for member in members.values() if member.server_assignor is not None)


def compute_target(
    group: ConsumerGroup, members: Mapping[str, ConsumerMember], assignor: str, image: ClusterImage
) -> dict[str, Assignment]:
    """For every member. A member that takes the place of a static one starts from what that one had."""
    specs = {
        member_id: MemberSpec(member.instance_id, topic_ids_of(member, group.regexes, image), group.target_of(member))
        for member_id, member in members.items()
    }
    subscribed = frozenset[bytes]().union(*(spec.topic_ids for spec in specs.values()))
    counts = {topic_id: len(image.topics[image.topic_names[topic_id]].partitions) for topic_id in subscribed}
    spec = GroupSpec(specs, counts, is_homogeneous(members.values(), group.regexes))
    assigned = ASSIGNORS[assignor](spec)
    return {member_id: assigned.get(member_id, NO_ASSIGNMENT) for member_id in members}


def target_records(
    group: ConsumerGroup, target: Mapping[str, Assignment], epoch: int, now_ms: int
) -> list[CoordinatorRecord]:
    """What is different from the target before it, and the new epoch."""
    changes = [
        records.target_assignment(group.group_id, member_id, assignment)
        for member_id, assignment in target.items()
        if group.target.get(member_id) != assignment
    ]
    return [*changes, records.target_epoch(group.group_id, epoch, now_ms)]
