"""A member that speaks the classic protocol to both brokers. Each gives it another member id, so answers are compared without."""

from __future__ import annotations

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from barnabas.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from barnabas.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from barnabas.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from barnabas.wire.records.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
)
from barnabas.wire.records.framing import decode_versioned, encode_versioned
from tests.core_broker.coordinators.groups.dialogue import Dialogue, Owned

SESSION_TIMEOUT_MS = 30_000
REBALANCE_TIMEOUT_MS = 60_000
SUBSCRIPTION_VERSION = 1
COMMIT_BY_NAME_VERSION = 9


class ClassicTalker:
    def __init__(self, dialogue: Dialogue, group_id: str, *topics: str, instance_id: str | None = None) -> None:
        self._dialogue = dialogue
        self._group_id = group_id
        self._topics = topics
        self._instance_id = instance_id
        self.member_ids = dict.fromkeys(dialogue.sides, "")
        self.generation = -1
        self.owned: Owned = {}

    def join(self) -> ErrorCode:
        answers = {name: self._join(name) for name in self._dialogue.sides}
        seen = {(answer.error_code, answer.generation_id, answer.protocol_name) for answer in answers.values()}
        assert len(seen) == 1, f"ours: {answers['ours']}\nkafka: {answers['kafka']}"
        for name, answer in answers.items():
            self.member_ids[name] = answer.member_id
        ((code, self.generation, _),) = seen
        return ErrorCode(code)

    def _join(self, name: str) -> JoinGroupResponse:
        subscription = ConsumerProtocolSubscription(
            topics=list(self._topics),
            owned_partitions=[TopicPartition(topic=topic, partitions=parts) for topic, parts in self.owned.items()],
        )
        request = JoinGroupRequest(
            group_id=self._group_id,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            member_id=self.member_ids[name],
            group_instance_id=self._instance_id,
            protocol_type="consumer",
            protocols=[
                JoinGroupRequestProtocol(name="range", metadata=encode_versioned(subscription, SUBSCRIPTION_VERSION))
            ],
        )
        side = self._dialogue.sides[name]
        answer = side.ask(request, JoinGroupResponse)
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            request.member_id = answer.member_id
            answer = side.ask(request, JoinGroupResponse)
        return answer

    def sync(self, assignment: Owned | None = None, user_data: bytes | None = None) -> ErrorCode:
        """As the leader of a classic group, or as one of the members that the broker assigns to."""
        answers = {name: self._sync(name, assignment, user_data) for name in self._dialogue.sides}
        codes = {answer.error_code for answer in answers.values()}
        assert len(codes) == 1
        (code,) = codes
        if code == ErrorCode.NONE:
            got = [_partitions(answer.assignment) for answer in answers.values()]
            assert got[0] == got[1]
            self.owned = got[0]
        return ErrorCode(code)

    def _sync(self, name: str, assignment: Owned | None, user_data: bytes | None) -> SyncGroupResponse:
        member_id = self.member_ids[name]
        assigned = ConsumerProtocolAssignment(
            assigned_partitions=[
                TopicPartition(topic=topic, partitions=parts) for topic, parts in (assignment or {}).items()
            ],
            user_data=user_data,
        )
        request = SyncGroupRequest(
            group_id=self._group_id,
            generation_id=self.generation,
            member_id=member_id,
            group_instance_id=self._instance_id,
            protocol_type="consumer",
            protocol_name="range",
            assignments=[]
            if assignment is None
            else [SyncGroupRequestAssignment(member_id=member_id, assignment=encode_versioned(assigned, 1))],
        )
        return self._dialogue.sides[name].ask(request, SyncGroupResponse)

    def heartbeat(self, generation: int | None = None) -> ErrorCode:
        codes = {
            side.ask(
                HeartbeatRequest(
                    group_id=self._group_id,
                    generation_id=self.generation if generation is None else generation,
                    member_id=self.member_ids[name],
                    group_instance_id=self._instance_id,
                ),
                HeartbeatResponse,
            ).error_code
            for name, side in self._dialogue.sides.items()
        }
        assert len(codes) == 1, codes
        return ErrorCode(codes.pop())

    def commit(self, topic: str, generation: int | None = None) -> ErrorCode:
        codes = set()
        for name, side in self._dialogue.sides.items():
            request = OffsetCommitRequest(
                group_id=self._group_id,
                generation_id_or_member_epoch=self.generation if generation is None else generation,
                member_id=self.member_ids[name],
                group_instance_id=self._instance_id,
                topics=[
                    OffsetCommitRequestTopic(
                        name=topic, partitions=[OffsetCommitRequestPartition(partition_index=0, committed_offset=1)]
                    )
                ],
            )
            (answered,) = side.ask(request, OffsetCommitResponse, COMMIT_BY_NAME_VERSION).topics
            codes.add(answered.partitions[0].error_code)
        assert len(codes) == 1, codes
        return ErrorCode(codes.pop())

    def leave(self) -> None:
        for name, side in self._dialogue.sides.items():
            identity = MemberIdentity(member_id=self.member_ids[name], group_instance_id=self._instance_id)
            request = LeaveGroupRequest(group_id=self._group_id, members=[identity])
            answer = side.ask(request, LeaveGroupResponse)
            assert answer.error_code == ErrorCode.NONE
            assert [member.error_code for member in answer.members] == [ErrorCode.NONE]


def _partitions(assignment: bytes) -> Owned:
    if not assignment:
        return {}
    decoded = decode_versioned(ConsumerProtocolAssignment, assignment)
    return {part.topic: sorted(part.partitions) for part in decoded.assigned_partitions}
