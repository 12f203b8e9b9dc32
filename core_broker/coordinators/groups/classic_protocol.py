"""What members of classic groups ask for: to join, to sync, to stay and to leave."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.heartbeat import HeartbeatRequest
from barnabas.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from barnabas.wire.messages.leave_group import LeaveGroupResponse, MemberIdentity, MemberResponse
from barnabas.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from barnabas.wire.records.group_offsets import GroupMetadataKey, GroupMetadataValue
from core_broker.coordinators.groups.caller import Caller
from core_broker.coordinators.groups.classic_group import VALUE_VERSION, ClassicGroup, State
from core_broker.coordinators.groups.classic_member import JoinAnswer, SyncAnswer
from core_broker.coordinators.groups.group import Group
from core_broker.coordinators.groups.joins import NEW_MEMBER, Joins
from core_broker.coordinators.groups.rebalances import Rebalances, Write, synced
from core_broker.coordinators.groups.surroundings import Surroundings
from core_broker.coordinators.record import CoordinatorRecord

LeaveAnswer = Callable[[LeaveGroupResponse], None]

_SETTLED: Final = (State.STABLE, State.COMPLETING)


class ClassicHost(Protocol):
    """Serves members that speak the classic protocol in groups of another type, as `ClassicProtocol` does in classic ones."""

    def join(self, caller: Caller, request: JoinGroupRequest, answer: JoinAnswer) -> None: ...

    def sync(self, request: SyncGroupRequest, answer: SyncAnswer) -> None: ...

    def heartbeat(self, request: HeartbeatRequest) -> ErrorCode: ...

    def leave(self, group_id: str, leaving: list[MemberIdentity], answer: LeaveAnswer) -> None: ...


class ClassicProtocol:
    """Serves one shard. `groups` is the shard's registry, which only replayed records change."""

    def __init__(self, surroundings: Surroundings, groups: dict[str, Group], write: Write) -> None:
        self._surroundings = surroundings
        self._settings = surroundings.settings
        self._groups = groups
        self.host: ClassicHost | None = None
        self._write = write
        self._rebalances = Rebalances(surroundings, write)
        self._joins = Joins(surroundings, self._rebalances, write)

    def new_group(self, group_id: str) -> ClassicGroup:
        return ClassicGroup(group_id, self._surroundings, self._rebalances.silent)

    def begin_rebalance(self, group: ClassicGroup) -> None:
        """A group that has just become a classic one settles anew."""
        self._rebalances.begin(group)

    def activate(self, group: ClassicGroup) -> None:
        """A group from the log is served from now on."""
        group.activate()
        if len(group.members) > self._settings.members_max:
            self._rebalances.begin(group)

    # Joining.

    def join(self, caller: Caller, request: JoinGroupRequest, answer: JoinAnswer) -> None:
        """Answers now, or when the group has its next generation."""
        try:
            self._check_join(request)
            group = self._groups.get(request.group_id)
            if group is None or group.is_empty or isinstance(group, ClassicGroup):
                self._joins.join(self._group_to_join(request), caller, request, answer)
            elif self.host is not None:
                self.host.join(caller, request, answer)
            else:
                raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        except KafkaError as error:
            unnamed = error.code == ErrorCode.GROUP_MAX_SIZE_REACHED
            answer(JoinGroupResponse(member_id=NEW_MEMBER if unnamed else request.member_id, error_code=error.code))

    def _check_join(self, request: JoinGroupRequest) -> None:
        shortest_ms, longest_ms = self._settings.session_timeout_min_ms, self._settings.session_timeout_max_ms
        if not shortest_ms <= request.session_timeout_ms <= longest_ms:
            raise KafkaError(
                ErrorCode.INVALID_SESSION_TIMEOUT,
                f"the session time-out of {request.session_timeout_ms} ms is not between group.min.session.timeout.ms "
                f"({shortest_ms}) and group.max.session.timeout.ms ({longest_ms})",
            )

    def _group_to_join(self, request: JoinGroupRequest) -> ClassicGroup:
        """The group, made if a new member asks for it; an empty group of another type makes way."""
        group = self._groups.get(request.group_id)
        if isinstance(group, ClassicGroup):
            return group
        if request.member_id != NEW_MEMBER:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"there is no group {request.group_id}: join as a new member")
        records = [] if group is None else group.tombstones()
        records.append(_new_group_record(request.group_id, self._surroundings.clock_ms()))
        refused: list[KafkaError] = []
        self._write(records, lambda error: refused.append(error) if error is not None else None)
        made = self._groups.get(request.group_id)
        if not isinstance(made, ClassicGroup):
            raise refused[0]
        return made

    # Syncing.

    def sync(self, request: SyncGroupRequest, answer: SyncAnswer) -> None:
        """Answers when the member's assignment is known and durable. KafkaError when the request is refused."""
        group = self._groups.get(request.group_id)
        if not isinstance(group, ClassicGroup):
            self._host_of(group, request.group_id).sync(request, answer)
            return
        member = group.check_member(request.member_id, request.group_instance_id)
        _check_generation(group, request.generation_id)
        if (request.protocol_type is not None and request.protocol_type != group.protocol_type) or (
            request.protocol_name is not None and group.protocol is not None and request.protocol_name != group.protocol
        ):
            raise KafkaError(
                ErrorCode.INCONSISTENT_GROUP_PROTOCOL, f"the group uses {group.protocol} of type {group.protocol_type}"
            )
        if group.state is State.PREPARING:
            raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS)
        group.not_synced.discard(member.member_id)
        if not group.not_synced:
            group.stop_sync_timer()
        if group.state is State.STABLE:
            response = synced(group, member)
            self._write([], lambda error: answer(response if error is None else _sync_refused(error)))
            return
        forgotten, member.syncing = member.syncing, answer
        if group.leader == member.member_id:
            assignments = {assigned.member_id: assigned.assignment for assigned in request.assignments}
            self._write([group.record(assignments)], partial(self._assigned, group, group.generation))
        if forgotten is not None:
            forgotten(SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS))

    def _assigned(self, group: ClassicGroup, generation: int, error: KafkaError | None) -> None:
        """The leader's assignment stands in the log, or could not be written."""
        if group.generation != generation or group.state not in _SETTLED:
            return  # a rebalance has begun meanwhile, and everybody was told
        self._rebalances.distribute(group, error)
        if group.state is State.COMPLETING:
            self._rebalances.begin(group)

    # Staying.

    def heartbeat(self, request: HeartbeatRequest) -> ErrorCode:
        """NONE or REBALANCE_IN_PROGRESS. KafkaError when the request is refused."""
        group = self._groups.get(request.group_id)
        if type(group) is not ClassicGroup:
            return self._host_of(group, request.group_id).heartbeat(request)
        member = group.check_member(request.member_id, request.group_instance_id)
        _check_generation(group, request.generation_id)
        group.hear(member)
        return ErrorCode.REBALANCE_IN_PROGRESS if group.state is State.PREPARING else ErrorCode.NONE

    # Leaving.

    def leave(self, group_id: str, leaving: list[MemberIdentity], answer: LeaveAnswer) -> None:
        """Answers for each member."""
        group = self._groups.get(group_id)
        if not isinstance(group, ClassicGroup):
            if group is not None and self.host is not None:
                self.host.leave(group_id, leaving, answer)
            else:
                left = [_left(identity, ErrorCode.UNKNOWN_MEMBER_ID) for identity in leaving]
                answer(LeaveGroupResponse(members=left))
            return
        left = [self._leave(group, identity) for identity in leaving]
        response = LeaveGroupResponse(members=left)

        def then(error: KafkaError | None) -> None:
            answer(response)

        if group.state is State.EMPTY or all(member.error_code for member in left):
            then(None)
        else:
            self._rebalances.begin_or_go_on(group, then)

    def _leave(self, group: ClassicGroup, identity: MemberIdentity) -> MemberResponse:
        member_id, instance_id = identity.member_id, identity.group_instance_id
        if member_id in group.pending:
            group.remove(member_id)
            return _left(identity, ErrorCode.NONE)
        try:
            if member_id == NEW_MEMBER and instance_id is not None:
                # An operator names a static member by its instance id alone.
                member_id = group.static.get(instance_id, NEW_MEMBER)
            member = group.check_member(member_id, instance_id)
        except KafkaError as error:
            return _left(identity, error.code)
        self._rebalances.expel(group, member)
        return _left(identity, ErrorCode.NONE)

    # Look-ups.

    def _host_of(self, group: Group | None, group_id: str) -> ClassicHost:
        if group is None or self.host is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"there is no group {group_id}: join as a new member")
        return self.host


def _sync_refused(error: KafkaError) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=error.code)


def _check_generation(group: ClassicGroup, generation: int) -> None:
    if generation != group.generation:
        raise KafkaError(
            ErrorCode.ILLEGAL_GENERATION, f"generation {generation} is over, {group.generation} is current"
        )


def _new_group_record(group_id: str, now_ms: int) -> CoordinatorRecord:
    """A group that nobody has joined yet."""
    value = GroupMetadataValue(protocol=None, leader=None, current_state_timestamp=now_ms)
    return CoordinatorRecord(GroupMetadataKey(group=group_id), value, VALUE_VERSION)


def _left(identity: MemberIdentity, error: int) -> MemberResponse:
    return MemberResponse(member_id=identity.member_id, group_instance_id=identity.group_instance_id, error_code=error)
