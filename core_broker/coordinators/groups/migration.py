"""Groups that change between the classic and the consumer protocol while they have members.

Up: the first member that sends ConsumerGroupHeartbeat makes its classic group a consumer group; the others go on with JoinGroup,
SyncGroup and Heartbeat in it until they are replaced. Down: when nobody is left who speaks the new protocol.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from functools import partial

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.join_group import JoinGroupResponse
from barnabas.wire.messages.sync_group import SyncGroupResponse
from barnabas.wire.records.group_offsets import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from barnabas.wire.wire_error import WireError
from core_broker.coordinators.groups import consumer_records as records
from core_broker.coordinators.groups.assignors.group_spec import Assignment
from core_broker.coordinators.groups.classic_group import CONSUMER_PROTOCOL, VALUE_VERSION, ClassicGroup
from core_broker.coordinators.groups.classic_member import ClassicMember
from core_broker.coordinators.groups.cluster import Cluster
from core_broker.coordinators.groups.consumer_group import ConsumerGroup
from core_broker.coordinators.groups.consumer_member import ClassicSide, ConsumerMember
from core_broker.coordinators.groups.embedded_protocol import read_assignment, read_subscription, write_assignment
from core_broker.coordinators.groups.group import Group
from core_broker.coordinators.groups.protocol_choice import choose_protocol
from core_broker.coordinators.groups.rebalances import Write
from core_broker.coordinators.groups.subscriptions import metadata_hash, topics_of_all
from core_broker.coordinators.groups.surroundings import Surroundings
from core_broker.coordinators.record import CoordinatorRecord

logger = logging.getLogger(__name__)

Then = Callable[[KafkaError | None], None]


class Migration:
    def __init__(
        self,
        surroundings: Surroundings,
        cluster: Cluster,
        groups: Mapping[str, Group],
        write: Write,
        begin_rebalance: Callable[[ClassicGroup], None],
        new_group: Callable[[str], ConsumerGroup],
    ) -> None:
        self._surroundings = surroundings
        self._cluster = cluster
        self._groups = groups
        self._write = write
        self._begin_rebalance = begin_rebalance
        self._new_group = new_group

    # Up.

    def group_to_join(self, group_id: str, written: list[CoordinatorRecord]) -> ConsumerGroup:
        """The group, or one that the records make: of nothing, of an empty classic group, or of one with members."""
        group = self._groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            return group
        if group is None:
            return self._new_group(group_id)
        assert isinstance(group, ClassicGroup)
        if group.is_empty:
            written.extend(group.tombstones())
            return self._new_group(group_id)
        self._check_upgrade(group)
        upgraded = self._upgraded(group)
        written.extend(group.tombstones())
        written.extend(_group_records(upgraded))
        return upgraded

    def _check_upgrade(self, group: ClassicGroup) -> None:
        settings = self._cluster.settings_of(group.group_id)
        if not settings.may_upgrade:
            raise _cannot_upgrade(group, "online upgrade is disabled")
        if group.protocol_type != CONSUMER_PROTOCOL:
            raise _cannot_upgrade(group, "the group does not use the consumer embedded protocol")
        if len(group.members) > settings.members_max:
            raise _cannot_upgrade(group, "the group size exceeds the consumer group maximum size")

    def _upgraded(self, classic: ClassicGroup) -> ConsumerGroup:
        """All members are as far as the last generation; who is in the middle of a rebalance is told to join again."""
        group = self._new_group(classic.group_id)
        group.group_epoch = group.assignment_epoch = classic.generation
        protocol = classic.protocol or classic.choose_protocol()
        for member in classic.members.values():
            target = self._read_assignment(classic, member)
            group.target[member.member_id] = target
            group.put_member(_consumer_member(classic, member, protocol, target))
        group.metadata_hash = metadata_hash(topics_of_all(group.members.values(), {}), self._cluster.image)
        return group

    def _read_assignment(self, classic: ClassicGroup, member: ClassicMember) -> Assignment:
        try:
            assignment = read_assignment(member.assignment)
        except WireError:
            raise _cannot_upgrade(classic, "the embedded consumer protocol is malformed") from None
        if assignment.user_data:
            raise _cannot_upgrade(
                classic,
                "an unsupported custom assignor is in use. Please refer to the documentation or switch to a default assignor "
                "before re-attempting the upgrade",
            )
        topics = self._cluster.image.topics
        return {
            topics[part.topic].topic_id: frozenset(part.partitions)
            for part in assignment.assigned_partitions
            if part.topic in topics
        }

    def before_upgrade(self, group_id: str, written: list[CoordinatorRecord]) -> None:
        """Whoever waits in a classic group that is about to end is told to join again."""
        group = self._groups.get(group_id)
        if not written or not isinstance(group, ClassicGroup):
            return
        logger.info("group %s: becomes a consumer group with %d classic members", group_id, len(group.members))
        answers: list[Callable[[], None]] = []
        for member in group.members.values():
            joining, syncing = group.stop_joining(member), group.stop_syncing(member)
            if joining is not None:
                again = JoinGroupResponse(member_id=member.member_id, error_code=ErrorCode.REBALANCE_IN_PROGRESS)
                answers.append(partial(joining, again))
            if syncing is not None:
                answers.append(partial(syncing, SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS)))
        for answer in answers:
            answer()

    # Down.

    def can_downgrade(self, group: ConsumerGroup, leaving: Collection[ConsumerMember]) -> bool:
        """Whether only members of the classic protocol stay, and the group may follow them."""
        staying = len(group.members) - len(leaving)
        classic = group.classic_count - sum(member.classic is not None for member in leaving)
        settings = self._cluster.settings_of(group.group_id)
        return 0 < staying == classic and settings.may_downgrade and staying <= settings.classic_members_max

    def ends_with(self, group: ConsumerGroup, replaced: ConsumerMember) -> bool:
        """Whether a classic member that takes this one's place makes all members classic, and the group may follow."""
        settings = self._cluster.settings_of(group.group_id)
        return (
            replaced.classic is None
            and group.classic_count == len(group.members) - 1
            and settings.may_downgrade
            and len(group.members) <= settings.classic_members_max
        )

    def downgrade(self, group: ConsumerGroup, leaving: Collection[ConsumerMember], then: Then) -> None:
        """Writes the classic group and has it rebalance."""
        gone = {member.member_id for member in leaving}
        staying = {member_id: member for member_id, member in group.members.items() if member_id not in gone}
        targets = {member_id: group.target.get(member_id, {}) for member_id in staying}
        written = group.tombstones()
        self.write_classic(group, written, staying, targets, then, rebalance=True)

    def write_classic(
        self,
        group: ConsumerGroup,
        written: list[CoordinatorRecord],
        members: Mapping[str, ConsumerMember],
        targets: Mapping[str, Assignment],
        then: Then,
        *,
        rebalance: bool,
    ) -> None:
        """Ends the consumer group, whose tombstones are given, and begins a classic one of the same members."""
        written.append(self._classic_record(group, members, targets))
        group.deactivate()
        self._write(written, then)
        classic = self._groups.get(group.group_id)
        if not isinstance(classic, ClassicGroup):
            group.activate()
            return
        logger.info("group %s: is a classic group again with %d members", group.group_id, len(members))
        for member_id, member in members.items():
            assert member.classic is not None
            # The log has only what they agreed on; they can still agree on something else.
            classic.update(
                classic.members[member_id],
                dict(member.classic.protocols),
                member.rebalance_timeout_ms,
                member.classic.session_timeout_ms,
            )
        classic.activate()
        if rebalance:
            self._begin_rebalance(classic)

    def _classic_record(
        self, group: ConsumerGroup, members: Mapping[str, ConsumerMember], targets: Mapping[str, Assignment]
    ) -> CoordinatorRecord:
        offers = {member_id: dict(_classic(member).protocols) for member_id, member in members.items()}
        protocol = choose_protocol(list(offers.values()))
        value = GroupMetadataValue(
            protocol_type=CONSUMER_PROTOCOL,
            generation=group.group_epoch,
            protocol=protocol,
            leader=next(iter(members)),
            current_state_timestamp=self._surroundings.clock_ms(),
            members=[
                MemberMetadata(
                    member_id=member_id,
                    group_instance_id=member.instance_id,
                    client_id=member.client_id,
                    client_host=member.client_host,
                    rebalance_timeout=member.rebalance_timeout_ms,
                    session_timeout=_classic(member).session_timeout_ms,
                    subscription=offers[member_id][protocol],
                    assignment=write_assignment(targets[member_id], offers[member_id][protocol], self._cluster.image),
                )
                for member_id, member in members.items()
            ],
        )
        return CoordinatorRecord(GroupMetadataKey(group=group.group_id), value, VALUE_VERSION)


def _classic(member: ConsumerMember) -> ClassicSide:
    assert member.classic is not None, "only members of the classic protocol make a classic group"
    return member.classic


def _cannot_upgrade(group: ClassicGroup, reason: str) -> KafkaError:
    return KafkaError(
        ErrorCode.GROUP_ID_NOT_FOUND,
        f"Cannot upgrade classic group {group.group_id} to consumer group because {reason}.",
    )


def _consumer_member(classic: ClassicGroup, member: ClassicMember, protocol: str, target: Assignment) -> ConsumerMember:
    try:
        subscription = read_subscription(member.protocols[protocol])
    except KafkaError:
        raise _cannot_upgrade(classic, "the embedded consumer protocol is malformed") from None
    return ConsumerMember(
        member.member_id,
        classic.generation,
        classic.generation,
        instance_id=member.instance_id,
        rack_id=subscription.rack_id or None,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        client_id=member.client_id,
        client_host=member.client_host,
        topics=frozenset(subscription.topics),
        classic=ClassicSide(
            member.session_timeout_ms, tuple((name, bytes(data)) for name, data in member.protocols.items())
        ),
        assigned={topic_id: dict.fromkeys(sorted(numbers), classic.generation) for topic_id, numbers in target.items()},
    )


def _group_records(group: ConsumerGroup) -> list[CoordinatorRecord]:
    """A whole group."""
    group_id = group.group_id
    return [
        *(records.subscription(group_id, member) for member in group.members.values()),
        records.group_epoch(group_id, group.group_epoch, group.metadata_hash),
        *(records.target_assignment(group_id, member_id, group.target[member_id]) for member_id in group.members),
        records.target_epoch(group_id, group.assignment_epoch, group.assignment_time_ms),
        *(records.current_assignment(group_id, member) for member in group.members.values()),
    ]
