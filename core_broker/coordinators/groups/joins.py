"""JoinGroup: somebody wants to be a member of a classic group, or to go on being one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from barnabas.wire.messages.sync_group import SyncGroupResponse
from core_broker.coordinators.groups.caller import Caller
from core_broker.coordinators.groups.classic_group import ClassicGroup, State
from core_broker.coordinators.groups.classic_member import (
    ClassicMember,
    JoinAnswer,
    Protocols,
    protocols_of,
    size_bytes,
    successor,
)
from core_broker.coordinators.groups.rebalances import NEW_MEMBER_TIMEOUT_MS, Rebalances, Write, joined
from core_broker.coordinators.groups.surroundings import Surroundings

KNOWN_MEMBER_ID_VERSION: Final = 4
"""From here on a client can be told to join with the id that it is given (KIP-394)."""

SKIP_ASSIGNMENT_VERSION: Final = 9
NEW_MEMBER: Final = ""


class Joins:
    def __init__(self, surroundings: Surroundings, rebalances: Rebalances, write: Write) -> None:
        self._surroundings = surroundings
        self._settings = surroundings.settings
        self._rebalances = rebalances
        self._write = write

    def join(self, group: ClassicGroup, caller: Caller, request: JoinGroupRequest, answer: JoinAnswer) -> None:
        """Answers now, or when the group is complete. KafkaError when the request is refused."""
        protocols = protocols_of(request.protocols)
        self._check_size(group, request.member_id)
        if not group.supports(request.protocol_type, protocols):
            raise KafkaError(
                ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
                f"group {group.group_id} is of type {group.protocol_type!r}; the member offers {request.protocol_type!r} "
                f"with {', '.join(protocols) or 'no protocol'}, and they have none in common",
            )
        if request.member_id == NEW_MEMBER:
            self._join_new(group, caller, request, protocols, answer)
        elif request.member_id in group.pending:
            self._add(group, request.member_id, caller, request, protocols, answer)
        else:
            member = group.check_member(request.member_id, request.group_instance_id)
            self._check_metadata(group, protocols, member)
            self._join_again(group, member, request, protocols, answer)

    # Limits.

    def _check_size(self, group: ClassicGroup, member_id: str) -> None:
        """Kafka's limit on members. While they join it counts those who have: the last ones to come are turned away."""
        if group.state is State.EMPTY:
            return
        member = group.members.get(member_id)
        if group.state is State.PREPARING:
            accepted = (member is not None and member.joining is not None) or (
                group.joined_count < self._settings.members_max
            )
        else:
            accepted = member is not None or len(group.members) < self._settings.members_max
        if not accepted:
            group.remove(member_id)
            self._rebalances.complete_if_ready(group)
            raise KafkaError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"group {group.group_id} has as many members as group.max.size allows: {self._settings.members_max}",
            )

    def _check_storm(self, group: ClassicGroup, caller: Caller) -> None:
        """Our own limits, which a crowd of clients that ask for ids and never join runs into."""
        limit = self._settings.members_and_pending_max
        if len(group.members) + len(group.pending) >= limit:
            raise KafkaError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"group {group.group_id} has as many members and ids given out as group.max.members.and.pending "
                f"allows: {limit}",
            )
        limit = self._settings.connection_members_max
        if caller.members.count >= limit:
            raise KafkaError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"this connection has made as many members as connection.max.group.members allows: {limit}",
            )

    def _check_metadata(self, group: ClassicGroup, protocols: Protocols, instead_of: ClassicMember | None) -> None:
        known_bytes = group.metadata_bytes - (0 if instead_of is None else instead_of.metadata_bytes)
        if known_bytes + size_bytes(protocols) > self._settings.metadata_max_bytes:
            raise KafkaError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"the members of group {group.group_id} tell more of themselves than group.max.metadata.bytes "
                f"allows: {self._settings.metadata_max_bytes}",
            )

    # New members.

    def _join_new(
        self,
        group: ClassicGroup,
        caller: Caller,
        request: JoinGroupRequest,
        protocols: Protocols,
        answer: JoinAnswer,
    ) -> None:
        instance_id = request.group_instance_id
        known = None if instance_id is None else group.static.get(instance_id)
        new_id = f"{caller.client_id if instance_id is None else instance_id}-{self._surroundings.new_uuid()}"
        if known is not None:
            old = group.members[known]
            self._check_metadata(group, protocols, old)
            self._replace(group, old, new_id, caller, request, protocols, answer)
            return
        self._check_storm(group, caller)
        if instance_id is None and caller.version >= KNOWN_MEMBER_ID_VERSION:
            group.expect(new_id, request.session_timeout_ms, caller.members)
            answer(JoinGroupResponse(member_id=new_id, error_code=ErrorCode.MEMBER_ID_REQUIRED))
        else:
            self._add(group, new_id, caller, request, protocols, answer)

    def _add(
        self,
        group: ClassicGroup,
        member_id: str,
        caller: Caller,
        request: JoinGroupRequest,
        protocols: Protocols,
        answer: JoinAnswer,
    ) -> None:
        self._check_metadata(group, protocols, None)
        member = ClassicMember(
            member_id,
            request.group_instance_id,
            caller.client_id,
            caller.host,
            request.rebalance_timeout_ms,
            request.session_timeout_ms,
            protocols,
        )
        member.is_new = True
        member.joining = answer
        member.maker = caller.members
        caller.members.count += 1
        if group.state is State.PREPARING and group.previous_state is State.EMPTY:
            group.new_member_added = True
        group.add(member, request.protocol_type)
        group.hear(member, NEW_MEMBER_TIMEOUT_MS)
        self._rebalances.begin_or_go_on(group)

    # Members that join again.

    def _join_again(
        self,
        group: ClassicGroup,
        member: ClassicMember,
        request: JoinGroupRequest,
        protocols: Protocols,
        answer: JoinAnswer,
    ) -> None:
        unchanged = member.matches(protocols)
        if group.state is State.COMPLETING and unchanged:
            answer(joined(group, member))  # it has not received the answer to its join
        elif group.state is State.STABLE and unchanged and group.leader != member.member_id:
            answer(joined(group, member))
        elif group.state is State.EMPTY:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, "the group is empty: join it as a new member")
        else:
            self._update(group, member, request, protocols, answer)
            self._rebalances.begin_or_go_on(group)

    def _update(
        self,
        group: ClassicGroup,
        member: ClassicMember,
        request: JoinGroupRequest,
        protocols: Protocols,
        answer: JoinAnswer,
    ) -> None:
        group.update(member, protocols, request.rebalance_timeout_ms, request.session_timeout_ms)
        # An older join of the same member, over a connection that is probably gone, is not answered by another's answer.
        forgotten = group.stop_joining(member)
        group.start_joining(member, answer)
        if forgotten is not None:
            forgotten(JoinGroupResponse(member_id=member.member_id, error_code=ErrorCode.REBALANCE_IN_PROGRESS))

    # Static members that come back without their id.

    def _replace(
        self,
        group: ClassicGroup,
        old: ClassicMember,
        new_id: str,
        caller: Caller,
        request: JoinGroupRequest,
        protocols: Protocols,
        answer: JoinAnswer,
    ) -> None:
        if group.state is State.STABLE and group.choose_protocol({old.member_id: protocols}) == group.protocol:
            self._replace_quietly(group, old, new_id, caller, request, protocols, answer)
            return
        waiting = _waiting(group, old)
        new = group.replace(old, new_id)
        self._take_place(group, new, caller, request, protocols)
        group.start_joining(new, answer)
        if group.state is State.PREPARING:
            self._rebalances.complete_if_ready(group)
        else:
            # The leader may be assigning to the old id at this moment: nothing would come of it for the new one.
            self._rebalances.begin(group)
        for fence in waiting:
            fence()

    def _replace_quietly(
        self,
        group: ClassicGroup,
        old: ClassicMember,
        new_id: str,
        caller: Caller,
        request: JoinGroupRequest,
        protocols: Protocols,
        answer: JoinAnswer,
    ) -> None:
        """The generation goes on with the new id in place of the old: nobody else notices."""
        generation, leader_before = group.generation, group.leader or ""
        leads = group.leader == old.member_id
        new = successor(old, new_id)
        new.protocols = protocols
        new.rebalance_timeout_ms = request.rebalance_timeout_ms
        new.session_timeout_ms = request.session_timeout_ms

        def take_place() -> ClassicMember | None:
            member = group.members.get(new_id)
            if member is not None and member.session is None:
                self._take_place(group, member, caller, request, protocols)
                for fence in _waiting(group, old):
                    fence()
            return member

        def written(error: KafkaError | None) -> None:
            member = take_place()
            if error is not None:
                answer(JoinGroupResponse(error_code=error.code))
            elif member is None:
                answer(JoinGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID))
            elif group.generation != generation:
                answer(JoinGroupResponse(member_id=new_id, error_code=ErrorCode.REBALANCE_IN_PROGRESS))
            else:
                knows_skipping = caller.version >= SKIP_ASSIGNMENT_VERSION
                response = joined(group, member, skip_assignment=leads and knows_skipping)
                if not knows_skipping:
                    # It cannot be told to lead without assigning anew, so it is told that its old self leads.
                    response.leader = leader_before
                    response.members = []
                answer(response)

        self._write([group.record_replacing(old, new)], written)
        take_place()

    def _take_place(
        self, group: ClassicGroup, new: ClassicMember, caller: Caller, request: JoinGroupRequest, protocols: Protocols
    ) -> None:
        """What the log does not tell of a member that came back under a new id."""
        group.update(new, protocols, request.rebalance_timeout_ms, request.session_timeout_ms)
        new.maker = caller.members
        caller.members.count += 1
        group.hear(new)


def _waiting(group: ClassicGroup, old: ClassicMember) -> list[Callable[[], None]]:
    """What waits for the old self of a static member, as answers that fence it."""
    answers: list[Callable[[], None]] = []
    joining, syncing = group.stop_joining(old), group.stop_syncing(old)
    if joining is not None:
        response = JoinGroupResponse(member_id=old.member_id, error_code=ErrorCode.FENCED_INSTANCE_ID)
        answers.append(partial(joining, response))
    if syncing is not None:
        answers.append(partial(syncing, SyncGroupResponse(error_code=ErrorCode.FENCED_INSTANCE_ID)))
    return answers
