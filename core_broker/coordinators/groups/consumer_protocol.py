"""The consumer protocol: a heartbeat says what a member wants and has, and is told what it shall have."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from core_broker.context import RequestContext
from core_broker.coordinators.groups import consumer_records as records
from core_broker.coordinators.groups.cluster import Cluster
from core_broker.coordinators.groups.consumer_group import ConsumerGroup
from core_broker.coordinators.groups.consumer_member import (
    JOINING_EPOCH,
    LEAVING_EPOCH,
    NO_PARTITIONS,
    STATIC_LEAVING_EPOCH,
    ConsumerMember,
    MemberState,
    Partitions,
)
from core_broker.coordinators.groups.group_changes import GroupChanges
from core_broker.coordinators.groups.member_watch import MemberWatch, Timeout, Watched
from core_broker.coordinators.groups.migration import Migration
from core_broker.coordinators.groups.rebalances import Write
from core_broker.coordinators.groups.reconciliation import Owned, owns_only
from core_broker.coordinators.groups.regex_refresh import RegexChange, RegexRefresh
from core_broker.coordinators.groups.surroundings import Surroundings
from core_broker.coordinators.record import CoordinatorRecord

logger = logging.getLogger(__name__)

HeartbeatAnswer = Callable[[ConsumerGroupHeartbeatResponse], None]

NOT_GIVEN: Final = -1


class ConsumerProtocol:
    """Of one shard. An operation computes records; what they say becomes true when they are replayed."""

    def __init__(
        self,
        surroundings: Surroundings,
        cluster: Cluster,
        write: Write,
        migration: Migration,
        find: Callable[[str], ConsumerGroup | None],
    ) -> None:
        self._surroundings = surroundings
        self._cluster = cluster
        self._write = write
        self._migration = migration
        self._find = find
        self.member_watch = MemberWatch(surroundings, self._expired)
        self.changes = GroupChanges(surroundings, cluster, self.member_watch)
        self.regexes = RegexRefresh(surroundings, cluster, write, find)

    def heartbeat(
        self, context: RequestContext, request: ConsumerGroupHeartbeatRequest, answer: HeartbeatAnswer
    ) -> None:
        """KafkaError when it is refused."""
        if request.member_epoch in (LEAVING_EPOCH, STATIC_LEAVING_EPOCH):
            self._leave(request, answer)
        else:
            self._beat(context, request, answer)

    def _beat(self, context: RequestContext, request: ConsumerGroupHeartbeatRequest, answer: HeartbeatAnswer) -> None:
        written: list[CoordinatorRecord] = []
        group = self._group(request, written)
        settings = self._cluster.settings_of(request.group_id)
        self.check_size(group, request.member_id)
        member_id = request.member_id or self._surroundings.new_uuid()
        member = self._member(group, member_id, request, written)
        updated = _updated(member, context, request)
        if updated != member:
            written.append(records.subscription(group.group_id, updated))
        names_changed = updated.topics != member.topics
        regex = self.regexes.follow(context, group, member, updated, written)
        bump = names_changed or regex is RegexChange.TO_RESOLVED
        epoch = self.changes.update_epoch(group, updated, written, bump=bump)
        target = self.changes.update_target(group, updated, epoch, written)
        subscription_changed = names_changed or regex is not RegexChange.NONE
        settled = self.changes.reconcile(
            group, updated, target, request.topic_partitions, written, subscription_changed=subscription_changed
        )
        response = ConsumerGroupHeartbeatResponse(
            member_id=member_id,
            member_epoch=settled.member_epoch,
            heartbeat_interval_ms=settings.heartbeat_interval_ms,
            assignment=_assignment(settled.assigned) if _wants_assignment(request, member, settled) else None,
        )
        watched = Watched(group.group_id, member_id)
        if member_id not in group.members:
            self.member_watch.bring(watched, context.members)
        self.member_watch.start(watched, Timeout.SESSION, settings.session_timeout_ms)
        self._migration.before_upgrade(group.group_id, written)
        replaced = None if request.instance_id is None else group.static_members.get(request.instance_id)

        def then(error: KafkaError | None) -> None:
            self.drop_unless_member(watched)
            if replaced is not None:
                self.drop_unless_member(Watched(group.group_id, replaced))
            _answer(answer, response, error)

        self._write(written, then)

    def drop_unless_member(self, watched: Watched) -> None:
        """Stops watching somebody who was replaced, or whose joining could not be written."""
        group = self._find(watched.group_id)
        if group is None or watched.member_id not in group.members:
            self.member_watch.end(watched)

    # Who is it?

    def _group(self, request: ConsumerGroupHeartbeatRequest, written: list[CoordinatorRecord]) -> ConsumerGroup:
        if request.member_epoch != JOINING_EPOCH:
            return self.existing(request.group_id)
        group = self._migration.group_to_join(request.group_id, written)
        if self._find(request.group_id) is None:
            for member in group.members.values():
                assert member.classic is not None, "a group that is not there yet has members from a classic one"
                watched = Watched(group.group_id, member.member_id)
                self.member_watch.start(watched, Timeout.SESSION, member.classic.session_timeout_ms)
        return group

    def existing(self, group_id: str) -> ConsumerGroup:
        group = self._find(group_id)
        if group is None:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Consumer group {group_id} not found.")
        return group

    def check_size(self, group: ConsumerGroup, member_id: str) -> None:
        limit = self._cluster.settings_of(group.group_id).members_max
        if len(group.members) >= limit and member_id not in group.members:
            raise KafkaError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"The consumer group has reached its maximum capacity of {limit} members.",
            )

    def _member(
        self,
        group: ConsumerGroup,
        member_id: str,
        request: ConsumerGroupHeartbeatRequest,
        written: list[CoordinatorRecord],
    ) -> ConsumerMember:
        joining = request.member_epoch == JOINING_EPOCH
        if request.instance_id is None:
            member = group.members.get(member_id) if joining else group.member(member_id)
            if member is None:
                return ConsumerMember(member_id)
        elif joining:
            return static_joining(group, member_id, request.instance_id, written, classic=False)
        else:
            member = static_existing(group, member_id, request.instance_id)
        _check_epoch(member, request.member_epoch, request.topic_partitions)
        return member

    # Leaving.

    def _leave(self, request: ConsumerGroupHeartbeatRequest, answer: HeartbeatAnswer) -> None:
        group = self.existing(request.group_id)
        if request.instance_id is None:
            member = group.member(request.member_id)
        else:
            member = static_existing(group, request.member_id, request.instance_id)
        response = ConsumerGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)
        if request.instance_id is not None and request.member_epoch == STATIC_LEAVING_EPOCH:
            # Whoever comes back begins with epoch 0 again, and may commit offsets of what waited for it.
            kept = {topic_id: dict.fromkeys(epochs, JOINING_EPOCH) for topic_id, epochs in member.assigned.items()}
            away = replace(member, member_epoch=STATIC_LEAVING_EPOCH, assigned=kept, revoking=NO_PARTITIONS)
            self._write(
                [records.current_assignment(group.group_id, away)],
                partial(_answer, answer, response),
            )
        else:
            self.fence(group, [member], partial(_answer, answer, response))

    def fence(
        self,
        group: ConsumerGroup,
        members: Collection[ConsumerMember],
        then: Callable[[KafkaError | None], None],
    ) -> None:
        """Removes members. What they had is free at once."""
        if members and self._migration.can_downgrade(group, members):
            self._migration.downgrade(group, members, then)
            return
        self._write(self.changes.removal(group, members), then)

    # Time.

    def watch(self, group: ConsumerGroup) -> None:
        """The log has been read: everybody has a whole session time-out to be heard from."""
        timeout_ms = self._cluster.settings_of(group.group_id).session_timeout_ms
        for member in group.members.values():
            watched = Watched(group.group_id, member.member_id)
            self.member_watch.start(watched, Timeout.SESSION, timeout_ms)
            if member.state is MemberState.UNREVOKED_PARTITIONS:
                self.member_watch.start(watched, Timeout.REBALANCE, max(member.rebalance_timeout_ms, 0))

    def forget(self, group: ConsumerGroup) -> None:
        self.regexes.forget(group.group_id)
        for member_id in group.members:
            self.member_watch.end(Watched(group.group_id, member_id))

    def _expired(self, watched: Watched, timeout: Timeout) -> None:
        group = self._find(watched.group_id)
        member = None if group is None else group.members.get(watched.member_id)
        if group is None or member is None:
            return
        logger.info("group %s: member %s is removed: %s", *watched, timeout.value)

        def written(error: KafkaError | None) -> None:
            if error is not None:
                logger.warning("group %s: removing member %s failed, trying again: %s", *watched, error)
                self.member_watch.start(
                    watched, Timeout.SESSION, self._cluster.settings_of(watched.group_id).session_timeout_ms
                )

        self.fence(group, [member], written)


def _updated(member: ConsumerMember, context: RequestContext, request: ConsumerGroupHeartbeatRequest) -> ConsumerMember:
    """What is not given stays as it was."""
    return replace(
        member,
        instance_id=member.instance_id if request.instance_id is None else request.instance_id,
        rack_id=member.rack_id if request.rack_id is None else request.rack_id,
        rebalance_timeout_ms=(
            member.rebalance_timeout_ms if request.rebalance_timeout_ms == NOT_GIVEN else request.rebalance_timeout_ms
        ),
        server_assignor=member.server_assignor if request.server_assignor is None else request.server_assignor,
        topics=member.topics if request.subscribed_topic_names is None else frozenset(request.subscribed_topic_names),
        regex=member.regex if request.subscribed_topic_regex is None else request.subscribed_topic_regex,
        client_id=context.client_id or "",
        client_host=f"/{context.host}",
        classic=None,
    )


def _check_epoch(member: ConsumerMember, epoch: int, owned: Owned) -> None:
    """The epoch before is good enough for somebody who has not got the answer with the new one."""
    if epoch == JOINING_EPOCH:
        return
    if epoch > member.member_epoch:
        comparison = "greater"
    elif epoch < member.member_epoch and not (epoch == member.previous_epoch and owns_only(owned, member.assigned)):
        comparison = "smaller"
    else:
        return
    raise KafkaError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The consumer group member has a {comparison} member epoch ({epoch}) than the one known by the group coordinator "
        f"({member.member_epoch}). The member must abandon all its partitions and rejoin.",
    )


def static_joining(
    group: ConsumerGroup, member_id: str, instance_id: str, written: list[CoordinatorRecord], *, classic: bool
) -> ConsumerMember:
    """A static member comes, or comes back: it takes the place of the one before, if that one has left or either is classic."""
    known = group.static_member(instance_id)
    if known is None:
        return group.members.get(member_id) or ConsumerMember(member_id)
    if not classic and known.classic is None and known.member_epoch != STATIC_LEAVING_EPOCH:
        raise KafkaError(
            ErrorCode.UNRELEASED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id} cannot join the group because the instance id is "
            f"owned by {known.member_id} member.",
        )
    successor = replace(known, member_id=member_id, member_epoch=JOINING_EPOCH, previous_epoch=0)
    written.extend(records.no_member(group.group_id, known.member_id))
    written.append(records.subscription(group.group_id, successor))
    written.append(records.target_assignment(group.group_id, member_id, group.target_of(known)))
    written.append(records.current_assignment(group.group_id, successor))
    return successor


def static_existing(group: ConsumerGroup, member_id: str, instance_id: str) -> ConsumerMember:
    member = group.static_member(instance_id)
    if member is None:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    if member.member_id != member_id:
        raise KafkaError(
            ErrorCode.FENCED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id} was fenced by member {member.member_id}.",
        )
    return member


def _wants_assignment(request: ConsumerGroupHeartbeatRequest, member: ConsumerMember, settled: ConsumerMember) -> bool:
    """When it joins, when it says everything because it has lost track, and when something changed."""
    says_all = (
        request.rebalance_timeout_ms != NOT_GIVEN
        and (request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None)
        and request.topic_partitions is not None
    )
    return request.member_epoch == JOINING_EPOCH or says_all or _differ(member.assigned, settled.assigned)


def _differ(first: Partitions, second: Partitions) -> bool:
    return first.keys() != second.keys() or any(first[topic_id].keys() != second[topic_id].keys() for topic_id in first)


def _assignment(partitions: Partitions) -> Assignment:
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, partitions=list(numbers)) for topic_id, numbers in partitions.items()
        ]
    )


def _answer(answer: HeartbeatAnswer, response: ConsumerGroupHeartbeatResponse, error: KafkaError | None) -> None:
    answer(response if error is None else refusal(error))


def refusal(error: KafkaError) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(error_code=error.code, error_message=error.message)
