"""Groups and offsets over a raw socket, each call one request of a chosen version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from barnabas.wire.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse
from barnabas.wire.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from barnabas.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from barnabas.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from barnabas.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from barnabas.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from barnabas.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
)
from barnabas.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from barnabas.wire.records.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
)
from barnabas.wire.records.framing import encode_versioned
from tests.core_broker.broker_client import BrokerClient

GROUP_KEY, TRANSACTION_KEY = 0, 1
SESSION_MS = 30_000


def subscription(*topics: str) -> bytes:
    return encode_versioned(ConsumerProtocolSubscription(topics=list(topics)), 1)


def assignment(topic: str, *partitions: int) -> bytes:
    assigned = [TopicPartition(topic=topic, partitions=list(partitions))]
    return encode_versioned(ConsumerProtocolAssignment(assigned_partitions=assigned), 1)


class GroupClient(BrokerClient):
    session_ms = SESSION_MS
    """How long its members may be silent, and a rebalance may wait for them."""

    def find(self, key: str, kind: int = GROUP_KEY) -> Coordinator:
        request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
        return self.ask(request, FindCoordinatorResponse, 4).coordinators[0]

    def join_request(
        self, group: str, member: str = "", *, topic: str = "t", instance: str | None = None
    ) -> JoinGroupRequest:
        return JoinGroupRequest(
            group_id=group,
            session_timeout_ms=self.session_ms,
            rebalance_timeout_ms=self.session_ms,
            member_id=member,
            group_instance_id=instance,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=subscription(topic))],
        )

    def join(self, group: str, member: str = "", *, topic: str = "t", instance: str | None = None) -> JoinGroupResponse:
        """Joins as clients do: with the id that it is given, if it is given one."""
        answer = self.ask(self.join_request(group, member, topic=topic, instance=instance), JoinGroupResponse, 9)
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            return self.join(group, answer.member_id, topic=topic, instance=instance)
        return answer

    def sync(
        self, group: str, member: str, generation: int, assignments: Mapping[str, bytes] | None = None
    ) -> SyncGroupResponse:
        request = SyncGroupRequest(
            group_id=group,
            generation_id=generation,
            member_id=member,
            protocol_type="consumer",
            protocol_name="range",
            assignments=[
                SyncGroupRequestAssignment(member_id=name, assignment=data)
                for name, data in (assignments or {}).items()
            ],
        )
        return self.ask(request, SyncGroupResponse, 5)

    def enter(self, group: str, *, topic: str = "t", instance: str | None = None) -> str:
        """Becomes the only member of a stable group, with partition 0 of the topic."""
        joined = self.join(group, topic=topic, instance=instance)
        assert joined.error_code == ErrorCode.NONE
        synced = self.sync(group, joined.member_id, joined.generation_id, {joined.member_id: assignment(topic, 0)})
        assert synced.error_code == ErrorCode.NONE
        return joined.member_id

    def heartbeat(self, group: str, member: str, generation: int) -> int:
        request = HeartbeatRequest(group_id=group, generation_id=generation, member_id=member)
        return self.ask(request, HeartbeatResponse, 4).error_code

    def leave(self, group: str, *members: str) -> LeaveGroupResponse:
        identities = [MemberIdentity(member_id=member) for member in members]
        return self.ask(LeaveGroupRequest(group_id=group, members=identities), LeaveGroupResponse, 5)

    def commit(
        self,
        group: str,
        topic: str,
        offsets: Mapping[int, int],
        *,
        member: str = "",
        generation: int = -1,
        metadata: str = "",
    ) -> list[int]:
        """The error code of each partition."""
        partitions = [
            OffsetCommitRequestPartition(partition_index=index, committed_offset=offset, committed_metadata=metadata)
            for index, offset in offsets.items()
        ]
        request = OffsetCommitRequest(
            group_id=group,
            generation_id_or_member_epoch=generation,
            member_id=member,
            topics=[OffsetCommitRequestTopic(name=topic, partitions=partitions)],
        )
        answer = self.ask(request, OffsetCommitResponse, 9)
        return [partition.error_code for partition in answer.topics[0].partitions]

    def fetch_offsets(
        self, group: str, topic: str | None = None, partitions: Sequence[int] = (0,)
    ) -> OffsetFetchResponseGroup:
        topics = None if topic is None else [OffsetFetchRequestTopics(name=topic, partition_indexes=list(partitions))]
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=topics)])
        return self.ask(request, OffsetFetchResponse, 9).groups[0]

    def committed(self, group: str, topic: str, partition: int = 0) -> int:
        found = self.fetch_offsets(group, topic, [partition])
        assert found.error_code == ErrorCode.NONE
        return found.topics[0].partitions[0].committed_offset

    def delete_offsets(self, group: str, topic: str, *partitions: int) -> OffsetDeleteResponse:
        asked = [OffsetDeleteRequestPartition(partition_index=index) for index in partitions]
        topics = [OffsetDeleteRequestTopic(name=topic, partitions=asked)]
        return self.ask(OffsetDeleteRequest(group_id=group, topics=topics), OffsetDeleteResponse, 0)

    def describe(self, group: str) -> DescribedGroup:
        request = DescribeGroupsRequest(groups=[group], include_authorized_operations=True)
        return self.ask(request, DescribeGroupsResponse, 6).groups[0]

    def list_groups(self) -> ListGroupsResponse:
        return self.ask(ListGroupsRequest(), ListGroupsResponse, 5)

    def delete_group(self, group: str) -> int:
        return self.ask(DeleteGroupsRequest(groups_names=[group]), DeleteGroupsResponse, 2).results[0].error_code
