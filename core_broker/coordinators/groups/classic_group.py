"""A group of the classic protocol: who is in it, what it has agreed on, and who waits for what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.describe_groups import DescribedGroup
from barnabas.wire.messages.join_group import JoinGroupResponse
from barnabas.wire.messages.sync_group import SyncGroupResponse
from barnabas.wire.records.consumer_protocol import ConsumerProtocolSubscription
from barnabas.wire.records.framing import decode_versioned
from barnabas.wire.records.group_offsets import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from barnabas.wire.wire_error import WireError
from core_broker.context import ConnectionMembers
from core_broker.coordinators.groups.classic_member import (
    NO_ASSIGNMENT,
    ClassicMember,
    JoinAnswer,
    Protocols,
    SyncAnswer,
    size_bytes,
    successor,
)
from core_broker.coordinators.groups.group import ExpiryBase, GroupType
from core_broker.coordinators.groups.protocol_choice import choose_protocol
from core_broker.coordinators.groups.session import Session
from core_broker.coordinators.groups.surroundings import Surroundings
from core_broker.coordinators.record import CoordinatorRecord
from core_broker.coordinators.timers import Timer

CONSUMER_PROTOCOL: Final = "consumer"
VALUE_VERSION: Final = 3
"""In which Kafka writes the metadata of a group."""

NO_TIME: Final = -1


class State(Enum):
    """By the names that Kafka shows."""

    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


class Pending:
    """Somebody who was given a member id and is to join with it."""

    __slots__ = ("maker", "session")

    def __init__(self, session: Session, maker: ConnectionMembers) -> None:
        self.session = session
        self.maker = maker


class ClassicGroup:
    """The last generation that is in the log, and on top of it what is being agreed on: joins, leaves and waiting requests.

    `apply` takes a generation from the log. In the states Empty and Stable the group is what its last record says.
    """

    def __init__(self, group_id: str, surroundings: Surroundings, silent: Callable[[ClassicGroup, str], None]) -> None:
        self.group_id = group_id
        self.type = GroupType.CLASSIC
        self.state = State.EMPTY
        self.previous_state = State.DEAD
        self.state_time_ms = surroundings.clock_ms()
        self.generation = 0
        self.protocol_type = ""
        self.protocol: str | None = None
        self.leader: str | None = None
        self.members: dict[str, ClassicMember] = {}
        self.static: dict[str, str] = {}
        self.pending: dict[str, Pending] = {}
        self.not_synced: set[str] = set()
        self.joined_count = 0
        self.metadata_bytes = 0
        self.new_member_added = False
        self.join_timer: Timer | None = None
        self.sync_timer: Timer | None = None
        self._surroundings = surroundings
        self._silent = silent
        self._offered: dict[str, int] = {}
        self._subscribed: frozenset[str] | None = None

    # What the log says.

    def apply(self, value: GroupMetadataValue) -> None:
        """Becomes the generation of a record. Members that are known already keep what the log does not tell of them."""
        self.generation = value.generation
        self.protocol_type = value.protocol_type
        self.protocol = value.protocol
        self.leader = value.leader
        recorded = {member.member_id: member for member in value.members}
        for member_id in [member_id for member_id in self.members if member_id not in recorded]:
            self._forget(self.members[member_id])
        for member_id, member in recorded.items():
            known = self.members.get(member_id)
            if known is None:
                self._take(ClassicMember.of_record(value.protocol, member))
            else:
                known.assignment = member.assignment
        self.not_synced.intersection_update(recorded)
        self.become(State.STABLE if recorded else State.EMPTY)
        self.state_time_ms = value.current_state_timestamp
        self.learn_subscriptions()

    def record(self, assignments: Mapping[str, bytes]) -> CoordinatorRecord:
        """The generation as it stands, with assignments that are about to come true."""
        protocol = self.protocol
        assert protocol is not None, "a generation with members has a protocol"
        return self._record(
            self.leader,
            [
                member.record(protocol, assignments.get(member_id, NO_ASSIGNMENT))
                for member_id, member in self.members.items()
            ],
        )

    def record_replacing(self, old: ClassicMember, new: ClassicMember) -> CoordinatorRecord:
        """The generation with another member in the place of one."""
        protocol = self.protocol
        assert protocol is not None, "a generation with members has a protocol"
        return self._record(
            new.member_id if self.leader == old.member_id else self.leader,
            [
                (new if member is old else member).record(protocol, member.assignment)
                for member in self.members.values()
            ],
        )

    def _record(self, leader: str | None, members: list[MemberMetadata]) -> CoordinatorRecord:
        value = GroupMetadataValue(
            protocol_type=self.protocol_type,
            generation=self.generation,
            protocol=self.protocol,
            leader=leader,
            current_state_timestamp=self.state_time_ms,
            members=members,
        )
        return CoordinatorRecord(GroupMetadataKey(group=self.group_id), value, VALUE_VERSION)

    def empty_record(self, now_ms: int) -> CoordinatorRecord:
        """What the log says when everybody has left: the next generation, of nobody."""
        value = GroupMetadataValue(
            protocol_type=self.protocol_type,
            generation=self.generation + 1,
            protocol=None,
            leader=None,
            current_state_timestamp=now_ms,
            members=[],
        )
        return CoordinatorRecord(GroupMetadataKey(group=self.group_id), value, VALUE_VERSION)

    def tombstones(self) -> list[CoordinatorRecord]:
        return [CoordinatorRecord(GroupMetadataKey(group=self.group_id), None)]

    # Members.

    def add(self, member: ClassicMember, protocol_type: str) -> None:
        pending = self.pending.pop(member.member_id, None)
        if pending is not None:
            self._drop_pending(pending)
        if not self.members:
            self.protocol_type = protocol_type
        if self.leader is None:
            self.leader = member.member_id
        self._take(member)

    def remove(self, member_id: str) -> None:
        """A member, or somebody who has only been given an id, is gone; who leads is settled anew."""
        member = self.members.get(member_id)
        if member is not None:
            self._forget(member)
        pending = self.pending.pop(member_id, None)
        if pending is not None:
            self._drop_pending(pending)
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        self.not_synced.discard(member_id)

    def replace(self, old: ClassicMember, new_id: str) -> ClassicMember:
        """A static member is back under a new id; it keeps its place and its assignment."""
        new = successor(old, new_id)
        self._forget(old)
        self.not_synced.discard(old.member_id)
        self._take(new)
        if self.leader == old.member_id:
            self.leader = new_id
        return new

    def update(
        self, member: ClassicMember, protocols: Protocols, rebalance_timeout_ms: int, session_timeout_ms: int
    ) -> None:
        self._count_offers(member, -1)
        member.protocols = protocols
        self._count_offers(member, 1)
        member.rebalance_timeout_ms = rebalance_timeout_ms
        member.session_timeout_ms = session_timeout_ms

    def _take(self, member: ClassicMember) -> None:
        self.members[member.member_id] = member
        if member.instance_id is not None:
            self.static[member.instance_id] = member.member_id
        if member.joining is not None:
            self.joined_count += 1
        self._count_offers(member, 1)

    def _forget(self, member: ClassicMember) -> None:
        del self.members[member.member_id]
        if member.instance_id is not None and self.static.get(member.instance_id) == member.member_id:
            del self.static[member.instance_id]
        if member.joining is not None:
            self.joined_count -= 1
        if member.session is not None:
            member.session.end()
            member.session = None
        if member.maker is not None:
            member.maker.count -= 1
            member.maker = None
        self._count_offers(member, -1)

    def _count_offers(self, member: ClassicMember, change: int) -> None:
        offered = self._offered
        for name in member.protocols:
            count = offered.get(name, 0) + change
            if count:
                offered[name] = count
            else:
                del offered[name]
        self.metadata_bytes += change * size_bytes(member.protocols)

    def expect(self, member_id: str, session_timeout_ms: int, maker: ConnectionMembers) -> None:
        """Somebody was given a member id and is to join with it before a session would end."""
        session = Session(self._surroundings, lambda: self._silent(self, member_id))
        maker.count += 1
        self.pending[member_id] = Pending(session, maker)
        session.extend(session_timeout_ms)

    def _drop_pending(self, pending: Pending) -> None:
        pending.session.end()
        pending.maker.count -= 1

    def hear(self, member: ClassicMember, timeout_ms: int | None = None) -> None:
        """Something was heard from a member."""
        session = member.session
        if session is None:
            member_id = member.member_id
            session = member.session = Session(self._surroundings, lambda: self._silent(self, member_id))
        session.extend(member.session_timeout_ms if timeout_ms is None else timeout_ms)

    def start_joining(self, member: ClassicMember, answer: JoinAnswer) -> None:
        if member.joining is None:
            self.joined_count += 1
        member.joining = answer

    def stop_joining(self, member: ClassicMember) -> JoinAnswer | None:
        """Who waits for the answer to its join. Nobody does after this: whoever takes the answer has to give it."""
        answer, member.joining = member.joining, None
        if answer is not None:
            self.joined_count -= 1
        return answer

    def stop_syncing(self, member: ClassicMember) -> SyncAnswer | None:
        answer, member.syncing = member.syncing, None
        return answer

    # States.

    def become(self, state: State) -> None:
        self.previous_state = self.state
        self.state = state
        self.state_time_ms = self._surroundings.clock_ms()

    @property
    def all_joined(self) -> bool:
        return self.joined_count == len(self.members) and not self.pending

    @property
    def rebalance_timeout_ms(self) -> int:
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def stop_join_timer(self) -> None:
        if self.join_timer is not None:
            self.join_timer.cancel()
            self.join_timer = None

    def stop_sync_timer(self) -> None:
        if self.sync_timer is not None:
            self.sync_timer.cancel()
            self.sync_timer = None

    def choose_protocol(self, instead: Mapping[str, Protocols] | None = None) -> str:
        """What the members agree on; `instead` are offers that members may be about to make."""
        changed = instead or {}
        return choose_protocol([changed.get(member_id, member.protocols) for member_id, member in self.members.items()])

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        """Whether somebody with this offer has a protocol in common with everybody."""
        if self.state is State.EMPTY:
            return bool(protocol_type) and bool(protocols)
        count = len(self.members)
        return self.protocol_type == protocol_type and any(self._offered.get(name, 0) == count for name in protocols)

    def learn_subscriptions(self) -> None:
        """Looks up which topics the members consume, if they tell: expiry and deletion of offsets depend on it."""
        if self.protocol_type != CONSUMER_PROTOCOL:
            self._subscribed = None
        elif not self.members:
            self._subscribed = frozenset()
        elif self.protocol is None:
            self._subscribed = None
        else:
            self._subscribed = _topics([member.protocols[self.protocol] for member in self.members.values()])

    # What others ask.

    @property
    def state_name(self) -> str:
        return self.state.value

    @property
    def is_empty(self) -> bool:
        return self.state is State.EMPTY

    def check_member(self, member_id: str, instance_id: str | None) -> ClassicMember:
        """The member that asks; KafkaError when it is not one, or when another one has taken its place."""
        if instance_id is not None:
            known = self.static.get(instance_id)
            if known is None:
                raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"no member has the instance id {instance_id}")
            if known != member_id:
                raise KafkaError(ErrorCode.FENCED_INSTANCE_ID, f"another member has the instance id {instance_id} now")
        member = self.members.get(member_id)
        if member is None:
            raise KafkaError(
                ErrorCode.UNKNOWN_MEMBER_ID, f"group {self.group_id} has no member {member_id!r}: join again"
            )
        return member

    def check_offset_commit(
        self, member_id: str, instance_id: str | None, generation: int, *, transactional: bool, version: int
    ) -> None:
        if generation < 0 and self.state is State.EMPTY:
            return  # an operator, or somebody who assigns partitions without the group's help
        if generation >= 0 or member_id or instance_id is not None:
            self.check_member(member_id, instance_id)
            if generation != self.generation:
                raise KafkaError(
                    ErrorCode.ILLEGAL_GENERATION, f"generation {generation} is over, {self.generation} is current"
                )
        elif not transactional and self.state is not State.EMPTY:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, "the group has members: only they may commit offsets")
        if not transactional and self.state is State.COMPLETING:
            raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS)

    def check_offset_fetch(self, member_id: str | None, generation: int) -> None:
        """Everybody may read the offsets of a classic group."""

    def check_offset_delete(self) -> None:
        if self.state is not State.EMPTY and self.protocol_type != CONSUMER_PROTOCOL:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP, "the group has members, and they may be using the offsets")

    def check_delete(self) -> None:
        if self.state is not State.EMPTY:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP, "the group has members: stop them first")

    def subscribes_to(self, topic: str) -> bool:
        if self._subscribed is None:
            return self.protocol_type == CONSUMER_PROTOCOL
        return topic in self._subscribed

    def offset_expiry(self) -> ExpiryBase | None:
        if not self.protocol_type:
            return _since_commit
        if self.state is State.EMPTY:
            since_ms = self.state_time_ms
            return _since_commit if since_ms == NO_TIME else lambda commit_time_ms: since_ms
        if self.protocol_type == CONSUMER_PROTOCOL and self._subscribed is not None and self.state is State.STABLE:
            return _since_commit
        return None

    def described(self) -> DescribedGroup:
        told = self.protocol if self.state is State.STABLE else None
        return DescribedGroup(
            group_id=self.group_id,
            group_state=self.state.value,
            protocol_type=self.protocol_type,
            protocol_data=told or "",
            members=[member.described(told) for member in self.members.values()],
        )

    def activate(self) -> None:
        """Members that the log tells of have a whole session time-out to be heard from."""
        for member in self.members.values():
            self.hear(member)

    def deactivate(self) -> None:
        self.state = State.DEAD
        self.stop_join_timer()
        self.stop_sync_timer()
        for pending in self.pending.values():
            self._drop_pending(pending)
        self.pending.clear()
        answers = []
        for member in self.members.values():
            if member.session is not None:
                member.session.end()
            answers.append((member.member_id, self.stop_joining(member), self.stop_syncing(member)))
        for member_id, joining, syncing in answers:
            if joining is not None:
                joining(JoinGroupResponse(member_id=member_id, error_code=ErrorCode.NOT_COORDINATOR))
            if syncing is not None:
                syncing(SyncGroupResponse(error_code=ErrorCode.NOT_COORDINATOR))


def _since_commit(commit_time_ms: int) -> int:
    return commit_time_ms


def _topics(subscriptions: list[bytes]) -> frozenset[str] | None:
    """The topics that consumers subscribe to, or None if one of them does not say it in a way that is known."""
    topics: set[str] = set()
    try:
        for subscription in set(subscriptions):
            # Whatever the version, a subscription begins as version 0 does.
            topics.update(decode_versioned(ConsumerProtocolSubscription, b"\0\0" + subscription[2:]).topics)
    except WireError:
        return None
    return frozenset(topics)
