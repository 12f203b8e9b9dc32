"""A classic group on virtual time: tests ask for it as members do, and hear the answers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.heartbeat import HeartbeatRequest
from barnabas.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from barnabas.wire.messages.leave_group import LeaveGroupResponse, MemberIdentity
from barnabas.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from barnabas.wire.records.consumer_protocol import ConsumerProtocolSubscription
from barnabas.wire.records.framing import encode_versioned
from core_broker.context import ConnectionMembers
from core_broker.coordinators.groups.caller import Caller
from core_broker.coordinators.groups.classic_group import ClassicGroup
from core_broker.coordinators.groups.group_offsets import Commit, Member
from core_broker.coordinators.groups.offset_store import TopicPartition
from core_broker.coordinators.record import TransactionalWriter
from tests.core_broker.coordinators.groups.memory_shard import DEFAULTS, MemoryShard
from tests.core_broker.coordinators.virtual_time import VirtualTime

GROUP = "g"
SESSION_MS = 10_000
REBALANCE_MS = 60_000
INITIAL_DELAY_MS = 3000
SETTLED_AFTER_MS = 2 * INITIAL_DELAY_MS
"""When a new group that others join at its beginning has its first generation."""

Answer = TypeVar("Answer")


class Heard(list[Answer]):
    """The answers to one request: none while it waits, then one."""

    @property
    def answer(self) -> Answer:
        (answer,) = self
        return answer

    @property
    def error(self) -> ErrorCode:
        answer: Any = self.answer
        return ErrorCode(answer.error_code)


@dataclass
class Joiner:
    """How somebody joins; what a test does not care about is as most clients have it."""

    member_id: str = ""
    instance_id: str | None = None
    protocols: dict[str, bytes] = field(default_factory=lambda: {"range": subscription("t")})
    protocol_type: str = "consumer"
    session_ms: int = SESSION_MS
    rebalance_ms: int = REBALANCE_MS
    client_id: str = "client"
    version: int = 9
    members: ConnectionMembers = field(default_factory=ConnectionMembers)

    def named(self, member_id: str) -> Joiner:
        return replace(self, member_id=member_id)


def subscription(*topics: str) -> bytes:
    return encode_versioned(ConsumerProtocolSubscription(topics=list(topics)), 3)


class ClassicContext:
    def __init__(self, **settings: int) -> None:
        self.time = VirtualTime()
        self.shard = MemoryShard(self.time, replace(DEFAULTS, **settings))

    @property
    def group(self) -> ClassicGroup:
        group = self.shard.state.groups[GROUP]
        assert isinstance(group, ClassicGroup)
        return group

    @property
    def state(self) -> str:
        return self.group.state_name

    # Requests.

    def join(self, joiner: Joiner | None = None, group_id: str = GROUP) -> Heard[JoinGroupResponse]:
        asked = joiner or Joiner()
        request = JoinGroupRequest(
            group_id=group_id,
            session_timeout_ms=asked.session_ms,
            rebalance_timeout_ms=asked.rebalance_ms,
            member_id=asked.member_id,
            group_instance_id=asked.instance_id,
            protocol_type=asked.protocol_type,
            protocols=[JoinGroupRequestProtocol(name=name, metadata=data) for name, data in asked.protocols.items()],
        )
        heard: Heard[JoinGroupResponse] = Heard()
        caller = Caller(asked.client_id, "/127.0.0.1", asked.version, asked.members)
        self.shard.state.classic.join(caller, request, heard.append)
        return heard

    def join_with_id(self, joiner: Joiner | None = None) -> tuple[str, Heard[JoinGroupResponse]]:
        """As clients do since KIP-394: ask for an id, and join with it."""
        asked = joiner or Joiner()
        given = self.join(asked)
        assert given.error == ErrorCode.MEMBER_ID_REQUIRED
        return given.answer.member_id, self.join(asked.named(given.answer.member_id))

    def sync(
        self,
        member_id: str,
        generation: int,
        assignments: dict[str, bytes] | None = None,
        *,
        instance_id: str | None = None,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
    ) -> Heard[SyncGroupResponse]:
        request = SyncGroupRequest(
            group_id=GROUP,
            generation_id=generation,
            member_id=member_id,
            group_instance_id=instance_id,
            protocol_type=protocol_type,
            protocol_name=protocol_name,
            assignments=[
                SyncGroupRequestAssignment(member_id=name, assignment=data)
                for name, data in (assignments or {}).items()
            ],
        )
        heard: Heard[SyncGroupResponse] = Heard()
        try:
            self.shard.state.classic.sync(request, heard.append)
        except KafkaError as error:
            heard.append(SyncGroupResponse(error_code=error.code))
        return heard

    def heartbeat(self, member_id: str, generation: int, instance_id: str | None = None) -> ErrorCode:
        request = HeartbeatRequest(
            group_id=GROUP, generation_id=generation, member_id=member_id, group_instance_id=instance_id
        )
        try:
            return self.shard.state.classic.heartbeat(request)
        except KafkaError as error:
            return error.code

    def leave(self, *members: tuple[str, str | None]) -> Heard[LeaveGroupResponse]:
        identities = [MemberIdentity(member_id=member, group_instance_id=instance) for member, instance in members]
        heard: Heard[LeaveGroupResponse] = Heard()
        self.shard.state.classic.leave(GROUP, identities, heard.append)
        return heard

    def commit(
        self,
        topic: str,
        partition: int,
        offset: int,
        member: Member | None = None,
        *,
        group_id: str = GROUP,
        version: int = 9,
        producer_id: int = -1,
        retention_ms: int = -1,
    ) -> ErrorCode:
        who = member or Member("", None, -1)
        commits = self.shard.state.commits
        commit = Commit(TopicPartition(topic, partition), offset, -1, "note")
        heard: list[KafkaError | None] = []
        try:
            if producer_id >= 0:
                commits.check_transactional_commit(group_id, who, version)
                commits.commit(group_id, [commit], heard.append, writer=TransactionalWriter(producer_id, 0))
            else:
                commits.check_commit(group_id, who, version)
                commits.commit(group_id, [commit], heard.append, retention_ms=retention_ms)
        except KafkaError as error:
            return error.code
        return ErrorCode.NONE if not heard or heard[0] is None else heard[0].code

    def committed(self, topic: str, partition: int = 0, *, stable: bool = False, group_id: str = GROUP) -> int | str:
        found = self.shard.state.commits.fetch(group_id, TopicPartition(topic, partition), require_stable=stable)
        return found.offset if found.error == ErrorCode.NONE else found.error.name

    # Whole groups.

    def settle(self, *joiners: Joiner) -> list[str]:
        """A stable group of these members; the first leads. Returns their ids."""
        joins = [
            self.join_with_id(joiner) if joiner.instance_id is None else self._static(joiner) for joiner in joiners
        ]
        self.time.pass_ms(SETTLED_AFTER_MS)
        ids = [heard.answer.member_id for _, heard in joins]
        self.assign(ids)
        return ids

    def _static(self, joiner: Joiner) -> tuple[str, Heard[JoinGroupResponse]]:
        return "", self.join(joiner)

    def assign(self, ids: list[str]) -> None:
        """Everybody syncs, the leader with an assignment for each."""
        generation = self.group.generation
        waiting = [self.sync(member_id, generation) for member_id in ids if member_id != self.group.leader]
        assert self.group.leader is not None
        waiting.append(self.sync(self.group.leader, generation, {name: b"to " + name.encode() for name in ids}))
        assert all(heard.error == ErrorCode.NONE for heard in waiting)
        assert self.state == "Stable"
