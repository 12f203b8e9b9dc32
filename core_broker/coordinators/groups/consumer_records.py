"""The records of consumer groups, keys 3 to 8 and 16."""

from __future__ import annotations

from barnabas.wire.records.group_offsets import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
    TopicPartition,
)
from core_broker.coordinators.groups.assignors.group_spec import Assignment
from core_broker.coordinators.groups.consumer_member import ConsumerMember
from core_broker.coordinators.groups.regular_expressions import ResolvedRegex
from core_broker.coordinators.record import CoordinatorRecord


def subscription(group_id: str, member: ConsumerMember) -> CoordinatorRecord:
    key = ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id)
    return CoordinatorRecord(key, member.subscription())


def current_assignment(group_id: str, member: ConsumerMember) -> CoordinatorRecord:
    key = ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member.member_id)
    return CoordinatorRecord(key, member.assignment())


def target_assignment(group_id: str, member_id: str, assignment: Assignment) -> CoordinatorRecord:
    return CoordinatorRecord(
        ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id),
        ConsumerGroupTargetAssignmentMemberValue(
            topic_partitions=[
                TopicPartition(topic_id=topic_id, partitions=sorted(partitions))
                for topic_id, partitions in assignment.items()
            ]
        ),
    )


def target_epoch(group_id: str, epoch: int, time_ms: int) -> CoordinatorRecord:
    return CoordinatorRecord(
        ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id),
        ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=epoch, assignment_timestamp=time_ms),
    )


def group_epoch(group_id: str, epoch: int, metadata_hash: int) -> CoordinatorRecord:
    return CoordinatorRecord(
        ConsumerGroupMetadataKey(group_id=group_id),
        ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash),
    )


def resolved_regex(group_id: str, regex: str, resolved: ResolvedRegex) -> CoordinatorRecord:
    return CoordinatorRecord(
        ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=regex),
        ConsumerGroupRegularExpressionValue(
            topics=sorted(resolved.topics), version=resolved.version, timestamp=resolved.time_ms
        ),
    )


# Tombstones.


def no_regex(group_id: str, regex: str) -> CoordinatorRecord:
    return CoordinatorRecord(ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=regex), None)


def no_current_assignment(group_id: str, member_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id), None)


def no_target_assignment(group_id: str, member_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id), None)


def no_subscription(group_id: str, member_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member_id), None)


def no_member(group_id: str, member_id: str) -> list[CoordinatorRecord]:
    """The subscription goes last: it is what makes a member."""
    return [
        no_current_assignment(group_id, member_id),
        no_target_assignment(group_id, member_id),
        no_subscription(group_id, member_id),
    ]


def no_partition_metadata(group_id: str) -> CoordinatorRecord:
    """Brokers before 4.1 kept what they knew of topics in such a record."""
    return CoordinatorRecord(ConsumerGroupPartitionMetadataKey(group_id=group_id), None)


def no_target_epoch(group_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id), None)


def no_group(group_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(ConsumerGroupMetadataKey(group_id=group_id), None)
