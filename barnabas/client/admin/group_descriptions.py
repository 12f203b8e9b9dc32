"""Consumer groups as an administrator sees them, whichever of the two group protocols their members speak."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from barnabas.client.admin.group_admin import GroupAdmin
from barnabas.client.admin.session import Node, Session
from barnabas.client.consumer.assignors import TopicPartition
from barnabas.kernel.java.java_exceptions import ILLEGAL_ARGUMENT, JavaFailure
from barnabas.kernel.java.kafka_exceptions import error_of
from barnabas.wire.client import Connection
from barnabas.wire.errors import ErrorCode, KafkaError

DEAD: Final = "Dead"
EMPTY: Final = "Empty"
STABLE: Final = "Stable"
REBALANCING: Final = frozenset({"PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"})
CONSUMER_PROTOCOL_TYPES: Final = ("", "consumer")

_NOT_NEW: Final = frozenset({ErrorCode.UNSUPPORTED_VERSION, ErrorCode.GROUP_ID_NOT_FOUND})
_CLASSIC_MEMBER: Final = 0
_CONSUMER_MEMBER: Final = 1


@dataclass(frozen=True, slots=True)
class Member:
    """One member. What only the new protocol has is None in a classic group."""

    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    assignment: frozenset[TopicPartition]
    target: frozenset[TopicPartition] | None = None
    epoch: int | None = None
    is_upgraded: bool | None = None
    rack: str | None = None


@dataclass(frozen=True, slots=True)
class GroupDescription:
    group_id: str
    coordinator: Node
    state: str
    assignor: str
    members: tuple[Member, ...]
    epoch: int | None = None
    target_epoch: int | None = None


async def describe_group(session: Session, admin: GroupAdmin, group_id: str) -> GroupDescription:
    """KafkaError GROUP_ID_NOT_FOUND when there is no such group; JavaFailure when it is no group of consumers."""

    async def attempt(connection: Connection) -> GroupDescription:
        nodes = (await session.cluster()).nodes.values()
        coordinator = next(node for node in nodes if node.address == connection.address)
        try:
            return await _new(connection, coordinator, group_id)
        except KafkaError as error:
            if error.code not in _NOT_NEW:
                raise
            return await _classic(connection, coordinator, group_id)

    return await admin.at_coordinator(group_id, attempt, "describeConsumerGroups")


async def _new(connection: Connection, coordinator: Node, group_id: str) -> GroupDescription:
    from barnabas.wire.messages.consumer_group_describe import (
        Assignment,
        ConsumerGroupDescribeRequest,
        ConsumerGroupDescribeResponse,
    )

    def partitions(assignment: Assignment) -> frozenset[TopicPartition]:
        return frozenset(
            TopicPartition(topic.topic_name, number)
            for topic in assignment.topic_partitions
            for number in topic.partitions
        )

    answer = await connection.send(ConsumerGroupDescribeRequest(group_ids=[group_id]), ConsumerGroupDescribeResponse)
    group = answer.groups[0]
    if group.error_code:
        raise error_of(group.error_code, group.error_message)
    members = tuple(
        Member(
            one.member_id,
            one.instance_id,
            one.client_id,
            one.client_host,
            partitions(one.assignment),
            partitions(one.target_assignment),
            one.member_epoch,
            {_CLASSIC_MEMBER: False, _CONSUMER_MEMBER: True}.get(one.member_type),
            one.rack_id,
        )
        for one in group.members
    )
    return GroupDescription(
        group_id,
        coordinator,
        group.group_state,
        group.assignor_name,
        members,
        group.group_epoch,
        group.assignment_epoch,
    )


async def _classic(connection: Connection, coordinator: Node, group_id: str) -> GroupDescription:
    from barnabas.wire.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse

    answer = await connection.send(DescribeGroupsRequest(groups=[group_id]), DescribeGroupsResponse)
    group = answer.groups[0]
    if group.error_code == ErrorCode.GROUP_ID_NOT_FOUND:
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
    if group.error_code:
        raise error_of(group.error_code, group.error_message)
    if group.protocol_type not in CONSUMER_PROTOCOL_TYPES:
        raise JavaFailure(ILLEGAL_ARGUMENT, f"GroupId {group_id} is not a consumer group ({group.protocol_type}).")
    members = tuple(
        Member(
            one.member_id,
            one.group_instance_id,
            one.client_id,
            one.client_host,
            frozenset(_assigned(one.member_assignment)),
        )
        for one in group.members
    )
    return GroupDescription(group_id, coordinator, group.group_state, group.protocol_data, members)


def _assigned(data: bytes) -> Iterable[TopicPartition]:
    from barnabas.wire.records.consumer_protocol import ConsumerProtocolAssignment
    from barnabas.wire.records.framing import decode_newest

    if not data:
        return []
    assignment = decode_newest(ConsumerProtocolAssignment, data)
    return [
        TopicPartition(topic.topic, number) for topic in assignment.assigned_partitions for number in topic.partitions
    ]
