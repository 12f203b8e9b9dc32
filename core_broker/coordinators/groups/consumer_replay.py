"""How records of consumer groups change the groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from barnabas.wire.records.group_offsets import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)
from barnabas.wire.struct import Message
from core_broker.coordinators.groups.consumer_group import ConsumerGroup
from core_broker.coordinators.groups.consumer_member import LEAVING_EPOCH, NO_PARTITIONS, ConsumerMember
from core_broker.coordinators.groups.regular_expressions import ResolvedRegex

Replayer = Callable[[Any, Any], None]


class ConsumerGroups(Protocol):
    """Where the groups are."""

    def find(self, group_id: str) -> ConsumerGroup | None: ...

    def find_or_add(self, group_id: str) -> ConsumerGroup: ...

    def remove(self, group: ConsumerGroup) -> None: ...


class ConsumerReplay:
    """A tombstone for something that is not there means nothing: compaction may have taken what it is about."""

    def __init__(self, groups: ConsumerGroups) -> None:
        self._groups = groups

    def replayers(self) -> dict[type[Message], Replayer]:
        return {
            ConsumerGroupMetadataKey: self._group,
            ConsumerGroupPartitionMetadataKey: self._partition_metadata,
            ConsumerGroupMemberMetadataKey: self._subscription,
            ConsumerGroupTargetAssignmentMetadataKey: self._target_epoch,
            ConsumerGroupTargetAssignmentMemberKey: self._target,
            ConsumerGroupCurrentMemberAssignmentKey: self._assignment,
            ConsumerGroupRegularExpressionKey: self._regex,
        }

    def _group(self, key: ConsumerGroupMetadataKey, value: ConsumerGroupMetadataValue | None) -> None:
        if value is not None:
            group = self._groups.find_or_add(key.group_id)
            group.group_epoch = value.epoch
            group.metadata_hash = value.metadata_hash
        elif (found := self._groups.find(key.group_id)) is not None:
            self._groups.remove(found)

    def _partition_metadata(
        self, key: ConsumerGroupPartitionMetadataKey, value: ConsumerGroupPartitionMetadataValue | None
    ) -> None:
        group = self._groups.find(key.group_id) if value is None else self._groups.find_or_add(key.group_id)
        if group is not None:
            group.has_partition_metadata = value is not None

    def _subscription(
        self, key: ConsumerGroupMemberMetadataKey, value: ConsumerGroupMemberMetadataValue | None
    ) -> None:
        if value is not None:
            group = self._groups.find_or_add(key.group_id)
            group.put_member(_member(group, key.member_id).subscribed_as(value))
        elif (found := self._groups.find(key.group_id)) is not None:
            found.remove_member(key.member_id)

    def _target_epoch(
        self, key: ConsumerGroupTargetAssignmentMetadataKey, value: ConsumerGroupTargetAssignmentMetadataValue | None
    ) -> None:
        if value is not None:
            group = self._groups.find_or_add(key.group_id)
            group.assignment_epoch = value.assignment_epoch
            group.assignment_time_ms = value.assignment_timestamp
        elif (found := self._groups.find(key.group_id)) is not None:
            found.end_target()

    def _target(
        self, key: ConsumerGroupTargetAssignmentMemberKey, value: ConsumerGroupTargetAssignmentMemberValue | None
    ) -> None:
        if value is not None:
            self._groups.find_or_add(key.group_id).target[key.member_id] = {
                topic.topic_id: frozenset(topic.partitions) for topic in value.topic_partitions
            }
        elif (found := self._groups.find(key.group_id)) is not None:
            found.target.pop(key.member_id, None)

    def _assignment(
        self, key: ConsumerGroupCurrentMemberAssignmentKey, value: ConsumerGroupCurrentMemberAssignmentValue | None
    ) -> None:
        if value is not None:
            group = self._groups.find_or_add(key.group_id)
            group.put_member(_member(group, key.member_id).assigned_as(value))
            return
        found = self._groups.find(key.group_id)
        if found is not None and key.member_id in found.members:
            found.put_member(
                replace(
                    found.members[key.member_id],
                    member_epoch=LEAVING_EPOCH,
                    previous_epoch=LEAVING_EPOCH,
                    assigned=NO_PARTITIONS,
                    revoking=NO_PARTITIONS,
                )
            )

    def _regex(self, key: ConsumerGroupRegularExpressionKey, value: ConsumerGroupRegularExpressionValue | None) -> None:
        if value is not None:
            self._groups.find_or_add(key.group_id).regexes[key.regular_expression] = ResolvedRegex(
                frozenset(value.topics), value.version, value.timestamp
            )
        elif (found := self._groups.find(key.group_id)) is not None:
            found.regexes.pop(key.regular_expression, None)


def _member(group: ConsumerGroup, member_id: str) -> ConsumerMember:
    return group.members.get(member_id) or ConsumerMember(member_id)
