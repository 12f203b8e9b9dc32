"""The requests of groups and offsets, each in one line of a conversation."""

from __future__ import annotations

from barnabas.wire.messages.heartbeat import HeartbeatRequest
from barnabas.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from barnabas.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from barnabas.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from barnabas.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from barnabas.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from barnabas.wire.records.consumer_protocol import ConsumerProtocolSubscription
from barnabas.wire.records.framing import encode_versioned

TOPIC = "groups-side-by-side"
SUBSCRIPTION = encode_versioned(ConsumerProtocolSubscription(topics=[TOPIC]), 1)


def join(group: str, member: str = "", **more: object) -> JoinGroupRequest:
    protocols = more.get("protocols", {"range": SUBSCRIPTION})
    assert isinstance(protocols, dict)
    instance = more.get("instance")
    session_ms = more.get("session_ms", 30_000)
    assert isinstance(session_ms, int)
    return JoinGroupRequest(
        group_id=group,
        session_timeout_ms=session_ms,
        rebalance_timeout_ms=30_000,
        member_id=member,
        group_instance_id=None if instance is None else str(instance),
        protocol_type=str(more.get("kind", "consumer")),
        protocols=[JoinGroupRequestProtocol(name=name, metadata=data) for name, data in protocols.items()],
    )


def sync(group: str, member: str, generation: int, *assigned: str, **more: str | None) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id=group,
        generation_id=generation,
        member_id=member,
        group_instance_id=more.get("instance"),
        protocol_type=more.get("kind", "consumer"),
        protocol_name=more.get("protocol", "range"),
        assignments=[SyncGroupRequestAssignment(member_id=name, assignment=b"some") for name in assigned],
    )


def beat(group: str, member: str, generation: int, instance: str | None = None) -> HeartbeatRequest:
    return HeartbeatRequest(group_id=group, generation_id=generation, member_id=member, group_instance_id=instance)


def leave(group: str, *members: tuple[str, str | None], member: str = "") -> LeaveGroupRequest:
    identities = [MemberIdentity(member_id=name, group_instance_id=instance) for name, instance in members]
    return LeaveGroupRequest(group_id=group, member_id=member, members=identities)


def commit(
    group: str,
    *offsets: tuple[str, int, int, str | None],
    member: str = "",
    generation: int = -1,
    instance: str | None = None,
    topic_id: bytes = bytes(16),
) -> OffsetCommitRequest:
    topics: dict[str, list[OffsetCommitRequestPartition]] = {}
    for topic, index, offset, note in offsets:
        topics.setdefault(topic, []).append(
            OffsetCommitRequestPartition(
                partition_index=index, committed_offset=offset, committed_leader_epoch=0, committed_metadata=note
            )
        )
    return OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=generation,
        member_id=member,
        group_instance_id=instance,
        topics=[
            OffsetCommitRequestTopic(name=topic, topic_id=topic_id, partitions=partitions)
            for topic, partitions in topics.items()
        ],
    )


def fetch(group: str, *partitions: int, everything: bool = False, topic: str = TOPIC) -> OffsetFetchRequest:
    """Fits the versions up to 7."""
    topics = None if everything else [OffsetFetchRequestTopic(name=topic, partition_indexes=list(partitions))]
    return OffsetFetchRequest(group_id=group, topics=topics)


def fetch_groups(
    *groups: str, everything: bool = False, topic_id: bytes = bytes(16), require_stable: bool = False
) -> OffsetFetchRequest:
    """Fits the versions from 8 on."""
    topics = [OffsetFetchRequestTopics(name=TOPIC, topic_id=topic_id, partition_indexes=[0, 1, 9])]
    return OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(group_id=group, topics=None if everything else topics) for group in groups],
        require_stable=require_stable,
    )


def delete_offsets(group: str, *partitions: tuple[str, int]) -> OffsetDeleteRequest:
    topics: dict[str, list[OffsetDeleteRequestPartition]] = {}
    for topic, index in partitions:
        topics.setdefault(topic, []).append(OffsetDeleteRequestPartition(partition_index=index))
    return OffsetDeleteRequest(
        group_id=group,
        topics=[OffsetDeleteRequestTopic(name=topic, partitions=indexes) for topic, indexes in topics.items()],
    )
