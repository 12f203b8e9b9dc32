"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup of members that have not moved to the consumer protocol while their group has.

The member epoch is their generation. They have no leader: each joins and gets its own assignment, and is told to join again
when the group goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.consumer_group_heartbeat import TopicPartitions
from barnabas.wire.messages.heartbeat import HeartbeatRequest
from barnabas.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from barnabas.wire.messages.leave_group import LeaveGroupResponse, MemberIdentity, MemberResponse
from barnabas.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from barnabas.wire.records.consumer_protocol import ConsumerProtocolSubscription
from core_broker.coordinators.groups import consumer_records as records
from core_broker.coordinators.groups.caller import Caller
from core_broker.coordinators.groups.classic_member import JoinAnswer, SyncAnswer
from core_broker.coordinators.groups.cluster import Cluster
from core_broker.coordinators.groups.consumer_group import CONSUMER_PROTOCOL_TYPE, ConsumerGroup
from core_broker.coordinators.groups.consumer_member import ClassicSide, ConsumerMember, MemberState
from core_broker.coordinators.groups.consumer_protocol import (
    NOT_GIVEN,
    ConsumerProtocol,
    static_existing,
    static_joining,
)
from core_broker.coordinators.groups.embedded_protocol import read_subscription, write_assignment
from core_broker.coordinators.groups.member_watch import Timeout, Watched
from core_broker.coordinators.groups.migration import Migration
from core_broker.coordinators.groups.rebalances import Write
from core_broker.coordinators.groups.regex_refresh import RegexChange
from core_broker.coordinators.groups.surroundings import Surroundings
from core_broker.coordinators.groups.target_assignment import Target, members_with
from core_broker.coordinators.record import CoordinatorRecord

KNOWN_MEMBER_ID_VERSION: Final = 4
NEW_MEMBER: Final = ""

Then = Callable[[KafkaError | None], None]


class ClassicCalls:
    """Each call raises KafkaError when it is refused."""

    def __init__(
        self,
        surroundings: Surroundings,
        cluster: Cluster,
        write: Write,
        protocol: ConsumerProtocol,
        migration: Migration,
    ) -> None:
        self._surroundings = surroundings
        self._cluster = cluster
        self._write = write
        self._protocol = protocol
        self._migration = migration

    def join(
        self,
        caller: Caller,
        request: JoinGroupRequest,
        answer: JoinAnswer,
    ) -> None:
        group = self._protocol.existing(request.group_id)
        is_new = request.member_id == NEW_MEMBER
        member_id = self._surroundings.new_uuid() if is_new else request.member_id
        self._protocol.check_size(group, member_id)
        _check_protocols(group, member_id, request)
        if is_new and request.group_instance_id is None and caller.version >= KNOWN_MEMBER_ID_VERSION:
            answer(JoinGroupResponse(member_id=member_id, error_code=ErrorCode.MEMBER_ID_REQUIRED))
            return
        written: list[CoordinatorRecord] = []
        subscription = read_subscription(request.protocols[0].metadata)
        known = group.static_member(request.group_instance_id)
        member = self._joining(group, member_id, request, written, is_new=is_new)
        updated = _updated(member, caller, request, subscription)
        if updated != member:
            written.append(records.subscription(group.group_id, updated))
        regex = self._protocol.regexes.follow(None, group, member, updated, written)
        changed = updated.topics != member.topics or regex is not RegexChange.NONE
        changes = self._protocol.changes
        epoch = changes.update_epoch(group, updated, written, bump=changed)
        owned = self._owned(subscription)
        if known is not None and known.member_id != member_id and self._migration.ends_with(group, known):
            self._downgrade(group, updated, owned, written, answer, changed=changed)
            return
        target = changes.update_target(group, updated, epoch, written)
        settled = changes.reconcile(group, updated, target, owned, written, subscription_changed=changed)
        if member_id not in group.members:
            self._protocol.member_watch.bring(Watched(group.group_id, member_id), caller.members)
        self._write(written, partial(self._joined, group.group_id, settled, request, answer))

    def _joining(
        self,
        group: ConsumerGroup,
        member_id: str,
        request: JoinGroupRequest,
        written: list[CoordinatorRecord],
        *,
        is_new: bool,
    ) -> ConsumerMember:
        instance_id = request.group_instance_id
        if instance_id is None:
            return group.members.get(member_id) or ConsumerMember(member_id)
        if is_new:
            return static_joining(group, member_id, instance_id, written, classic=True)
        return static_existing(group, member_id, instance_id)

    def _owned(self, subscription: ConsumerProtocolSubscription) -> list[TopicPartitions]:
        topics = self._cluster.image.topics
        return [
            TopicPartitions(topic_id=topics[part.topic].topic_id, partitions=part.partitions)
            for part in subscription.owned_partitions
            if part.topic in topics
        ]

    def _downgrade(
        self,
        group: ConsumerGroup,
        updated: ConsumerMember,
        owned: list[TopicPartitions],
        written: list[CoordinatorRecord],
        answer: JoinAnswer,
        *,
        changed: bool,
    ) -> None:
        """A static member takes the place of the last one that spoke the new protocol."""
        if not changed:
            target = Target(group.assignment_epoch, group.target_of(updated))
            updated = self._protocol.changes.reconcile(
                group, updated, target, owned, written, subscription_changed=False
            )
        members = members_with(group, updated)
        targets = {member_id: group.target_of(member) for member_id, member in members.items()}
        written.extend(group.tombstones_with(members))

        def then(error: KafkaError | None) -> None:
            answer(_join_response(updated) if error is None else _refused(updated, error))

        self._migration.write_classic(group, written, members, targets, then, rebalance=changed)

    def _joined(
        self,
        group_id: str,
        member: ConsumerMember,
        request: JoinGroupRequest,
        answer: JoinAnswer,
        error: KafkaError | None,
    ) -> None:
        watched = Watched(group_id, member.member_id)
        if error is not None:
            self._protocol.drop_unless_member(watched)
            answer(_refused(member, error))
            return
        watch = self._protocol.member_watch
        watch.stop(watched, Timeout.JOIN)
        watch.start(watched, Timeout.SESSION, request.session_timeout_ms)
        watch.start(watched, Timeout.SYNC, max(member.rebalance_timeout_ms, 0))
        answer(_join_response(member))

    def sync(self, request: SyncGroupRequest, answer: SyncAnswer) -> None:
        group = self._protocol.existing(request.group_id)
        member = _classic_member(group, request.member_id, request.group_instance_id)
        _check_generation(member, request.generation_id)
        protocol = _side(member).protocols[0]
        _check_protocol(member, request, protocol[0])
        watched = Watched(group.group_id, member.member_id)
        if group.group_epoch > member.member_epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
            self._expect_join(watched, member)
            raise KafkaError(
                ErrorCode.REBALANCE_IN_PROGRESS,
                f"A new rebalance is triggered in group {group.group_id} and member {member.member_id} should rejoin to catch up.",
            )

        def then(error: KafkaError | None) -> None:
            if error is not None:
                answer(SyncGroupResponse(error_code=error.code))
                return
            self._protocol.member_watch.stop(watched, Timeout.SYNC)
            self._hear(watched, member)
            answer(
                SyncGroupResponse(
                    protocol_type=CONSUMER_PROTOCOL_TYPE,
                    protocol_name=protocol[0],
                    assignment=write_assignment(member.assigned, protocol[1], self._cluster.image),
                )
            )

        self._write([], then)

    def heartbeat(self, request: HeartbeatRequest) -> ErrorCode:
        group = self._protocol.existing(request.group_id)
        member = _classic_member(group, request.member_id, request.group_instance_id)
        _check_generation(member, request.generation_id)
        watched = Watched(group.group_id, member.member_id)
        self._hear(watched, member)
        is_behind = member.member_epoch < group.group_epoch
        can_go_on = member.state is MemberState.UNREVOKED_PARTITIONS or (
            member.state is MemberState.UNRELEASED_PARTITIONS and not group.waits_for_others(member)
        )
        if not is_behind and not can_go_on:
            return ErrorCode.NONE
        self._expect_join(watched, member)
        return ErrorCode.REBALANCE_IN_PROGRESS

    def leave(self, group_id: str, leaving: list[MemberIdentity], answer: Callable[[LeaveGroupResponse], None]) -> None:
        """Also administrators' way to remove members, of either protocol."""
        group = self._protocol.existing(group_id)
        gone: dict[str, ConsumerMember] = {}
        answers: list[MemberResponse] = []
        for identity in leaving:
            response = MemberResponse(member_id=identity.member_id, group_instance_id=identity.group_instance_id)
            try:
                member = _leaving_member(group, identity)
            except KafkaError as error:
                response.error_code = error.code
            else:
                gone[member.member_id] = member
            answers.append(response)

        def then(error: KafkaError | None) -> None:
            answer(LeaveGroupResponse(members=answers) if error is None else LeaveGroupResponse(error_code=error.code))

        self._protocol.fence(group, list(gone.values()), then)

    def _hear(self, watched: Watched, member: ConsumerMember) -> None:
        self._protocol.member_watch.start(watched, Timeout.SESSION, _side(member).session_timeout_ms)

    def _expect_join(self, watched: Watched, member: ConsumerMember) -> None:
        self._protocol.member_watch.start_if_absent(watched, Timeout.JOIN, max(member.rebalance_timeout_ms, 0))


def _updated(
    member: ConsumerMember,
    caller: Caller,
    request: JoinGroupRequest,
    subscription: ConsumerProtocolSubscription,
) -> ConsumerMember:
    instance_id = request.group_instance_id
    timeout_ms = request.rebalance_timeout_ms
    return replace(
        member,
        instance_id=member.instance_id if instance_id is None else instance_id,
        rack_id=subscription.rack_id or member.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == NOT_GIVEN else timeout_ms,
        topics=frozenset(subscription.topics),
        regex="",
        client_id=caller.client_id,
        client_host=caller.host,
        classic=ClassicSide(
            request.session_timeout_ms, tuple((offer.name, bytes(offer.metadata)) for offer in request.protocols)
        ),
    )


def _join_response(member: ConsumerMember) -> JoinGroupResponse:
    return JoinGroupResponse(
        generation_id=member.member_epoch,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocol_name=_side(member).protocols[0][0],
        member_id=member.member_id,
    )


def _refused(member: ConsumerMember, error: KafkaError) -> JoinGroupResponse:
    return JoinGroupResponse(member_id=member.member_id, error_code=error.code)


def _check_protocols(group: ConsumerGroup, member_id: str, request: JoinGroupRequest) -> None:
    """The member must have a protocol in common with all other classic members, in case that they are alone again."""
    offered = [offer.name for offer in request.protocols]
    common = [name for name in offered if not group.members or group.classic_offers(name) == group.classic_count]
    if request.protocol_type != CONSUMER_PROTOCOL_TYPE or not common:
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, f"Member {member_id}'s protocols are not supported.")


def _classic_member(group: ConsumerGroup, member_id: str, instance_id: str | None) -> ConsumerMember:
    member = group.member(member_id) if instance_id is None else static_existing(group, member_id, instance_id)
    if member.classic is None:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} does not use the classic protocol.")
    return member


def _side(member: ConsumerMember) -> ClassicSide:
    assert member.classic is not None, "it was looked up as a member of the classic protocol"
    return member.classic


def _check_generation(member: ConsumerMember, generation: int) -> None:
    if generation != member.member_epoch:
        raise KafkaError(
            ErrorCode.ILLEGAL_GENERATION,
            f"The request generation id {generation} is not equal to the member epoch {member.member_epoch} of member "
            f"{member.member_id}.",
        )


def _check_protocol(member: ConsumerMember, request: SyncGroupRequest, name: str) -> None:
    if request.protocol_type not in (None, CONSUMER_PROTOCOL_TYPE) or request.protocol_name not in (None, name):
        raise KafkaError(
            ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
            f"member {member.member_id} joined as {CONSUMER_PROTOCOL_TYPE} with {name} and syncs as {request.protocol_type} with "
            f"{request.protocol_name}",
        )


def _leaving_member(group: ConsumerGroup, identity: MemberIdentity) -> ConsumerMember:
    if identity.group_instance_id is None:
        return group.member(identity.member_id)
    if identity.member_id != NEW_MEMBER:
        return static_existing(group, identity.member_id, identity.group_instance_id)
    member = group.static_member(identity.group_instance_id)
    if member is None:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {identity.group_instance_id} is unknown.")
    return member
