"""How a classic group gets from one generation to the next."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.join_group import JoinGroupResponse
from barnabas.wire.messages.sync_group import SyncGroupResponse
from core_broker.coordinators.groups.classic_group import ClassicGroup, State
from core_broker.coordinators.groups.classic_member import ClassicMember
from core_broker.coordinators.groups.surroundings import Surroundings
from core_broker.coordinators.record import CoordinatorRecord

logger = logging.getLogger(__name__)

NEW_MEMBER_TIMEOUT_MS: Final = 300_000
"""A new member that waits for a rebalance cannot be heard from; after this long its client is taken to have gone."""

Then = Callable[[KafkaError | None], None]


def _nobody(error: KafkaError | None) -> None:
    """Nobody waits."""


class Write(Protocol):
    """Appends records and replays them before it returns; `then` hears when they are durable."""

    def __call__(self, records: list[CoordinatorRecord], then: Then) -> None: ...


class Rebalances:
    """Changes groups between their records. Answers go out when the group is settled: whoever gets one may ask again at once."""

    def __init__(self, surroundings: Surroundings, write: Write) -> None:
        self._surroundings = surroundings
        self._settings = surroundings.settings
        self._timers = surroundings.timers
        self._write = write

    # Beginning.

    def begin_or_go_on(self, group: ClassicGroup, then: Then = _nobody) -> None:
        """Members have changed: a rebalance begins, or the one under way may have become complete.

        `then` hears when what had to be written is durable, if anything had to be.
        """
        if group.state is State.PREPARING:
            self.complete_if_ready(group, then)
        else:
            self.begin(group, then)

    def begin(self, group: ClassicGroup, then: Then = _nobody) -> None:
        """Everybody has to join again."""
        interrupted = _interrupt_syncs(group)
        group.not_synced.clear()
        group.stop_sync_timer()
        is_first = group.state is State.EMPTY
        group.become(State.PREPARING)
        if is_first:
            delay_ms = self._settings.initial_rebalance_delay_ms
            self._wait_for_company(group, delay_ms, max(group.rebalance_timeout_ms - delay_ms, 0))
            then(None)
        elif group.all_joined:
            self._complete(group, then)
        else:
            self._expect_joins(group)
            then(None)
        for answer in interrupted:
            answer()

    def _wait_for_company(self, group: ClassicGroup, delay_ms: int, left_ms: int) -> None:
        """A new group gives others the time to come up, and more of it while they come."""
        group.stop_join_timer()
        group.join_timer = self._timers.after(delay_ms, partial(self._company_waited, group, delay_ms, left_ms))

    def _company_waited(self, group: ClassicGroup, delay_ms: int, left_ms: int) -> None:
        if group.new_member_added and left_ms > 0:
            group.new_member_added = False
            next_ms = min(self._settings.initial_rebalance_delay_ms, left_ms)
            self._wait_for_company(group, next_ms, max(left_ms - delay_ms, 0))
        else:
            self._complete(group)

    def _expect_joins(self, group: ClassicGroup) -> None:
        group.stop_join_timer()
        group.join_timer = self._timers.after(max(group.rebalance_timeout_ms, 0), partial(self._complete, group))

    # Completing.

    def complete_if_ready(self, group: ClassicGroup, then: Then = _nobody) -> None:
        """Goes on when all have joined. A group that was empty waits for company all the same."""
        if group.state is State.PREPARING and group.previous_state is not State.EMPTY and group.all_joined:
            self._complete(group, then)
        else:
            then(None)

    def _complete(self, group: ClassicGroup, then: Then = _nobody) -> None:
        """Ends the joining: who is not there is left behind, unless it is a static member."""
        group.stop_join_timer()
        for member in [member for member in group.members.values() if member.joining is None]:
            if member.instance_id is None:
                group.remove(member.member_id)
        if not group.members:
            self._become_empty(group, then)
            return
        if _elect(group):
            self._start_generation(group)
        else:
            # Only static members, and none of them is back: their sessions decide.
            self._expect_joins(group)
        then(None)

    def _start_generation(self, group: ClassicGroup) -> None:
        group.generation += 1
        group.protocol = group.choose_protocol()
        group.become(State.COMPLETING)
        group.learn_subscriptions()
        logger.info(
            "group %s: generation %d has %d member(s) and uses %s",
            group.group_id,
            group.generation,
            len(group.members),
            group.protocol,
        )
        answers = []
        for member in group.members.values():
            joining = group.stop_joining(member)
            if joining is not None:
                answers.append((joining, joined(group, member)))
            group.hear(member)
            member.is_new = False
        group.not_synced = set(group.members)
        group.sync_timer = self._timers.after(
            max(group.rebalance_timeout_ms, 0), partial(self._syncs_missing, group, group.generation)
        )
        for answer, response in answers:
            answer(response)

    def _become_empty(self, group: ClassicGroup, then: Then) -> None:
        generation = group.generation

        def written(error: KafkaError | None) -> None:
            if error is not None:
                logger.warning("group %s is empty, which could not be written down: %s", group.group_id, error)
                if group.generation == generation:
                    # The log still has the members of the last generation: after a restart their sessions end.
                    group.generation += 1
                    group.protocol = None
                    group.leader = None
                    group.become(State.EMPTY)
                    group.learn_subscriptions()
            then(None)

        logger.info("group %s is empty after generation %d", group.group_id, generation)
        self._write([group.empty_record(self._surroundings.clock_ms())], written)

    # Members that are not heard from.

    def silent(self, group: ClassicGroup, member_id: str) -> None:
        """A session has ended."""
        if group.state is State.DEAD:
            return
        member = group.members.get(member_id)
        if member is None:
            group.remove(member_id)
            if group.state is State.PREPARING and group.all_joined:
                self._complete(group)
        elif not member.may_be_silent:
            logger.info("group %s: member %s was silent for too long and is removed", group.group_id, member_id)
            self.expel(group, member)
            if group.state in (State.STABLE, State.COMPLETING):
                self.begin(group)
            elif group.state is State.PREPARING and group.all_joined:
                self._complete(group)

    def expel(self, group: ClassicGroup, member: ClassicMember) -> None:
        """Removes a member; what is to become of the generation is the caller's business."""
        joining = group.stop_joining(member)
        syncing = group.stop_syncing(member)
        group.remove(member.member_id)
        if joining is not None:
            joining(JoinGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID))
        if syncing is not None:
            syncing(SyncGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID))

    def _syncs_missing(self, group: ClassicGroup, generation: int) -> None:
        """Some have joined and never asked for their assignment."""
        group.sync_timer = None
        if group.generation != generation or group.state not in (State.COMPLETING, State.STABLE):
            return
        if group.not_synced:
            logger.info("group %s: %d members did not ask for their assignment", group.group_id, len(group.not_synced))
            for member_id in list(group.not_synced):
                group.remove(member_id)
            self.begin(group)

    # Syncing.

    def distribute(self, group: ClassicGroup, error: KafkaError | None) -> None:
        """Answers everybody who waits for an assignment."""
        answers = []
        for member in group.members.values():
            syncing = group.stop_syncing(member)
            if syncing is not None:
                group.hear(member)
                response = synced(group, member) if error is None else SyncGroupResponse(error_code=error.code)
                answers.append((syncing, response))
        for answer, response in answers:
            answer(response)


def _interrupt_syncs(group: ClassicGroup) -> list[Callable[[], None]]:
    """Who waits for an assignment of a generation that is over has to join again."""
    answers: list[Callable[[], None]] = []
    for member in group.members.values():
        if group.state is State.COMPLETING:
            member.assignment = b""
        syncing = group.stop_syncing(member)
        if syncing is not None:
            group.hear(member)
            answers.append(partial(syncing, SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS)))
    return answers


def _elect(group: ClassicGroup) -> bool:
    """Makes sure that the leader is somebody who has joined; False when nobody has."""
    if group.leader is not None and group.members[group.leader].joining is not None:
        return True
    leader = next((member.member_id for member in group.members.values() if member.joining is not None), None)
    if leader is None:
        return False
    group.leader = leader
    return True


def joined(group: ClassicGroup, member: ClassicMember, *, skip_assignment: bool = False) -> JoinGroupResponse:
    """Tells a member of the current generation; the leader hears of everybody."""
    leads = group.leader == member.member_id
    return JoinGroupResponse(
        generation_id=group.generation,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol,
        leader=group.leader or "",
        skip_assignment=skip_assignment,
        member_id=member.member_id,
        members=[other.seen_by_leader(group.protocol) for other in group.members.values()] if leads else [],
    )


def synced(group: ClassicGroup, member: ClassicMember) -> SyncGroupResponse:
    return SyncGroupResponse(
        protocol_type=group.protocol_type, protocol_name=group.protocol, assignment=member.assignment
    )
