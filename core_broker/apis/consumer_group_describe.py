"""ConsumerGroupDescribe (key 69), versions 0 and 1: groups of the consumer protocol, their members and assignments.

v1 tells members of the classic protocol from others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
    TopicPartitions,
)
from core_broker.apis.authorized_operations import group_operations
from core_broker.context import RequestContext
from core_broker.coordinators.groups.consumer_group import NO_ASSIGNMENT, ConsumerGroup
from core_broker.coordinators.groups.consumer_member import ConsumerMember
from core_broker.coordinators.groups.target_assignment import preferred_assignor
from core_broker.metadata.image import ClusterImage
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

CLASSIC_MEMBER: Final = 0
CONSUMER_MEMBER: Final = 1


def handle(
    broker: Broker, context: RequestContext, request: ConsumerGroupDescribeRequest
) -> ConsumerGroupDescribeResponse:
    groups = []
    for group_id in request.group_ids:
        try:
            described = _describe(broker, context, group_id)
        except KafkaError as error:
            described = DescribedGroup(group_id=group_id, error_code=error.code, error_message=error.message)
        else:
            if request.include_authorized_operations:
                described.authorized_operations = group_operations(broker, context, group_id)
        groups.append(described)
    return ConsumerGroupDescribeResponse(groups=groups)


def _describe(broker: Broker, context: RequestContext, group_id: str) -> DescribedGroup:
    broker.groups.consumers.check_enabled()
    allows = broker.authorizer.allows
    if not allows(context, Operation.DESCRIBE, ResourceType.GROUP, group_id):
        raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    if not group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID, "the group id is empty")
    group = broker.groups.lookup(group_id).state.groups.get(group_id)
    if group is None:
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
    if not isinstance(group, ConsumerGroup):
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
    image = broker.metadata.image
    described = describe(group, broker.groups.consumers.settings_of(group_id).assignors[0], image)
    if not all(allows(context, Operation.DESCRIBE, ResourceType.TOPIC, topic) for topic in _topics(described)):
        raise KafkaError(
            ErrorCode.TOPIC_AUTHORIZATION_FAILED,
            "The described group uses topics that the client is not authorized to describe.",
        )
    return described


def _topics(group: DescribedGroup) -> set[str]:
    return {
        topic.topic_name
        for member in group.members
        for assignment in (member.assignment, member.target_assignment)
        for topic in assignment.topic_partitions
    }


def describe(group: ConsumerGroup, default_assignor: str, image: ClusterImage) -> DescribedGroup:
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=preferred_assignor(group.members, default_assignor),
        members=[_member(group, member, image) for member in group.members.values()],
    )


def _member(group: ConsumerGroup, member: ConsumerMember, image: ClusterImage) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topics),
        subscribed_topic_regex=member.regex,
        # What it is still giving up counts as its own.
        assignment=_assignment(_held(member), image),
        target_assignment=_assignment(group.target.get(member.member_id, NO_ASSIGNMENT), image),
        member_type=CONSUMER_MEMBER if member.classic is None else CLASSIC_MEMBER,
    )


def _held(member: ConsumerMember) -> Mapping[bytes, Iterable[int]]:
    return {
        topic_id: [*member.assigned.get(topic_id, ()), *member.revoking.get(topic_id, ())]
        for topic_id in {**member.assigned, **member.revoking}
    }


def _assignment(partitions: Mapping[bytes, Iterable[int]], image: ClusterImage) -> Assignment:
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, topic_name=image.topic_names[topic_id], partitions=sorted(numbers))
            for topic_id, numbers in partitions.items()
            if topic_id in image.topic_names
        ]
    )
