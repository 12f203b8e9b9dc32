"""From one generation of a classic group to the next, and what happens to those who are not there."""

from __future__ import annotations

import pytest

from barnabas.wire.errors import ErrorCode, KafkaError
from tests.core_broker.coordinators.groups.classic_context import (
    INITIAL_DELAY_MS,
    REBALANCE_MS,
    SESSION_MS,
    SETTLED_AFTER_MS,
    ClassicContext,
    Joiner,
)

OFTEN_MS = SESSION_MS // 2


def beat(context: ClassicContext, duration_ms: int, *members: str) -> None:
    """Time passes, and these members are heard from."""
    for _ in range(duration_ms // OFTEN_MS):
        context.time.pass_ms(OFTEN_MS)
        for member in members:
            context.heartbeat(member, context.group.generation)


# The first generation.


def test_a_new_group_waits_for_company_and_longer_while_it_comes() -> None:
    context = ClassicContext()
    _, first = context.join_with_id()
    context.time.pass_ms(INITIAL_DELAY_MS - 1)
    _, second = context.join_with_id()
    context.time.pass_ms(1)
    assert not first, "somebody has come, so the group waits again"
    context.time.pass_ms(INITIAL_DELAY_MS - 1)
    assert not first
    context.time.pass_ms(1)
    assert first.answer.generation_id == second.answer.generation_id == 1


def test_company_is_not_waited_for_longer_than_a_rebalance_may_take() -> None:
    context = ClassicContext()
    _, first = context.join_with_id(Joiner(rebalance_ms=7000))
    for _ in range(3):
        context.join(Joiner(version=3))
        context.time.pass_ms(2334)
    assert first.answer.generation_id == 1


def test_without_a_delay_the_group_forms_at_once() -> None:
    context = ClassicContext(initial_rebalance_delay_ms=0)
    _, joined = context.join_with_id()
    context.time.pass_ms(0)
    assert joined.answer.generation_id == 1


def test_only_an_empty_group_waits_for_company() -> None:
    context = ClassicContext()
    (member,) = context.settle(Joiner())
    joined = context.join(Joiner(member_id=member))
    assert joined.answer.generation_id == 2


# Later ones.


def test_a_newcomer_makes_everybody_join_again() -> None:
    context = ClassicContext()
    (leader,) = context.settle(Joiner())
    newcomer, joined = context.join_with_id()
    assert not joined
    assert context.heartbeat(leader, 1) == ErrorCode.REBALANCE_IN_PROGRESS
    again = context.join(Joiner(member_id=leader))
    assert (again.answer.generation_id, again.answer.leader) == (2, leader)
    assert joined.answer.leader == leader
    context.assign([leader, newcomer])


def test_a_pending_newcomer_is_waited_for() -> None:
    context = ClassicContext()
    leader, follower = context.settle(Joiner(), Joiner())
    context.join()
    again = context.join(Joiner(member_id=leader))
    context.join(Joiner(member_id=follower))
    assert not again, "somebody has been given an id and may be about to join"
    context.time.pass_ms(SESSION_MS)
    assert again.answer.generation_id == 2


def test_dynamic_members_that_do_not_join_in_time_are_left_behind() -> None:
    context = ClassicContext()
    leader, absent = context.settle(Joiner(), Joiner())
    again = context.join(Joiner(member_id=leader))
    beat(context, REBALANCE_MS, absent)
    assert again.answer.generation_id == 2
    assert list(context.group.members) == [leader]
    assert context.heartbeat(absent, 2) == ErrorCode.UNKNOWN_MEMBER_ID


def test_static_members_that_do_not_join_in_time_stay_until_their_session_ends() -> None:
    context = ClassicContext()
    leader, absent = context.settle(Joiner(), Joiner(instance_id="i", session_ms=2 * REBALANCE_MS))
    again = context.join(Joiner(member_id=leader))
    context.time.pass_ms(REBALANCE_MS)
    assert again.answer.generation_id == 2
    assert list(context.group.members) == [leader, absent]
    assert {member.member_id for member in again.answer.members} == {leader, absent}


def test_who_leads_is_settled_among_those_who_have_joined() -> None:
    context = ClassicContext()
    leader, follower = context.settle(Joiner(instance_id="i", session_ms=3 * REBALANCE_MS), Joiner())
    context.join(Joiner(version=3))
    again = context.join(Joiner(member_id=follower))
    context.time.pass_ms(REBALANCE_MS)
    assert again.answer.leader == follower != leader


def test_while_only_absent_static_members_are_left_the_group_waits_for_their_sessions() -> None:
    context = ClassicContext()
    first, _ = context.settle(
        Joiner(instance_id="a", session_ms=2 * REBALANCE_MS), Joiner(instance_id="b", session_ms=3 * REBALANCE_MS)
    )
    context.leave((first, "a"))
    context.time.pass_ms(REBALANCE_MS)
    assert context.state == "PreparingRebalance"
    assert context.group.generation == 1
    context.time.pass_ms(2 * REBALANCE_MS)
    assert (context.state, context.group.generation) == ("Empty", 2)


def test_the_longest_rebalance_timeout_of_the_members_counts() -> None:
    context = ClassicContext()
    leader, _ = context.settle(Joiner(), Joiner(rebalance_ms=2 * REBALANCE_MS, session_ms=5 * REBALANCE_MS))
    again = context.join(Joiner(member_id=leader))
    context.time.pass_ms(REBALANCE_MS)
    assert not again
    context.time.pass_ms(REBALANCE_MS)
    assert again.answer.generation_id == 2


# Silence.


def test_a_silent_member_is_removed_and_the_others_rebalance() -> None:
    context = ClassicContext()
    leader, silent = context.settle(Joiner(), Joiner())
    beat(context, SESSION_MS, leader)
    assert list(context.group.members) == [leader]
    assert context.heartbeat(leader, 1) == ErrorCode.REBALANCE_IN_PROGRESS
    assert context.heartbeat(silent, 1) == ErrorCode.UNKNOWN_MEMBER_ID


def test_heartbeats_keep_a_member_and_cost_no_timers() -> None:
    context = ClassicContext()
    (member,) = context.settle(Joiner())
    for _ in range(100):
        assert context.heartbeat(member, 1) == ErrorCode.NONE
    assert context.time.pending_count == 1
    beat(context, 10 * SESSION_MS, member)
    assert context.state == "Stable"
    context.time.pass_ms(SESSION_MS)
    assert context.state == "Empty"


def test_a_member_that_waits_for_others_may_be_silent() -> None:
    context = ClassicContext()
    leader, other = context.settle(Joiner(), Joiner())
    context.join(Joiner(member_id=leader))
    beat(context, 2 * SESSION_MS, other)
    assert leader in context.group.members


def test_a_new_member_that_waits_too_long_is_taken_to_be_gone() -> None:
    context = ClassicContext()
    (leader,) = context.settle(Joiner(rebalance_ms=1_000_000))
    _, joined = context.join_with_id()
    beat(context, 300_000, leader)
    assert joined.error == ErrorCode.UNKNOWN_MEMBER_ID


def test_when_the_last_silent_member_goes_the_group_is_empty_and_the_log_says_so() -> None:
    context = ClassicContext()
    context.settle(Joiner())
    context.time.pass_ms(SESSION_MS)
    assert (context.state, context.group.generation) == ("Empty", 2)
    rebuilt = context.shard.rebuilt().groups["g"]
    assert rebuilt.is_empty


# Syncing.


def test_followers_wait_for_the_leader_and_get_their_assignments() -> None:
    context = ClassicContext()
    leader, _ = context.join_with_id()
    follower, _ = context.join_with_id()
    context.time.pass_ms(SETTLED_AFTER_MS)
    waiting = context.sync(follower, 1)
    assert not waiting
    own = context.sync(leader, 1, {leader: b"a", follower: b"b", "stranger": b"c"})
    assert (own.answer.assignment, waiting.answer.assignment) == (b"a", b"b")
    assert (own.answer.protocol_type, own.answer.protocol_name) == ("consumer", "range")
    late = context.sync(follower, 1)
    assert late.answer.assignment == b"b", "who missed it can ask again"


def test_who_is_not_assigned_anything_gets_an_empty_assignment() -> None:
    context = ClassicContext()
    leader, _ = context.join_with_id()
    follower, _ = context.join_with_id()
    context.time.pass_ms(SETTLED_AFTER_MS)
    waiting = context.sync(follower, 1)
    context.sync(leader, 1, {leader: b"a"})
    assert waiting.answer.assignment == b""


def test_assignments_are_told_when_they_are_durable() -> None:
    context = ClassicContext()
    leader, _ = context.join_with_id()
    follower, _ = context.join_with_id()
    context.time.pass_ms(SETTLED_AFTER_MS)
    waiting = context.sync(follower, 1)
    context.shard.is_slow = True
    own = context.sync(leader, 1, {leader: b"a", follower: b"b"})
    late = context.sync(follower, 1)
    assert not waiting
    assert not own
    assert not late
    context.shard.sync()
    assert (own.error, waiting.error, late.error) == (ErrorCode.NONE,) * 3


def test_an_assignment_that_cannot_be_written_is_refused_and_the_group_rebalances() -> None:
    context = ClassicContext()
    leader, _ = context.join_with_id()
    follower, _ = context.join_with_id()
    context.time.pass_ms(SETTLED_AFTER_MS)
    waiting = context.sync(follower, 1)
    context.shard.is_broken = True
    own = context.sync(leader, 1, {leader: b"a"})
    assert (own.error, waiting.error) == (ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_COORDINATOR)
    assert context.state == "PreparingRebalance"


def test_an_assignment_that_is_written_and_not_synced_can_be_asked_for_again() -> None:
    context = ClassicContext()
    leader, _ = context.join_with_id()
    context.time.pass_ms(INITIAL_DELAY_MS)
    context.shard.is_slow = True
    own = context.sync(leader, 1, {leader: b"a"})
    context.shard.sync(KafkaError(ErrorCode.NOT_COORDINATOR))
    assert own.error == ErrorCode.NOT_COORDINATOR
    context.shard.is_slow = False
    assert context.sync(leader, 1).answer.assignment == b"a"


def test_a_rebalance_that_begins_before_the_assignment_is_durable_interrupts_the_syncs() -> None:
    context = ClassicContext()
    leader, _ = context.join_with_id()
    context.time.pass_ms(INITIAL_DELAY_MS)
    context.shard.is_slow = True
    own = context.sync(leader, 1, {leader: b"a"})
    context.join(Joiner(version=3))
    assert own.error == ErrorCode.REBALANCE_IN_PROGRESS
    context.shard.sync()
    assert len(own) == 1


def test_members_that_never_sync_are_removed() -> None:
    context = ClassicContext()
    leader, _ = context.join_with_id(Joiner(session_ms=5 * REBALANCE_MS))
    lazy, _ = context.join_with_id(Joiner(session_ms=5 * REBALANCE_MS))
    context.time.pass_ms(SETTLED_AFTER_MS)
    context.sync(leader, 1, {leader: b"a", lazy: b"b"})
    context.time.pass_ms(REBALANCE_MS)
    assert list(context.group.members) == [leader]
    assert context.state == "PreparingRebalance"


@pytest.mark.parametrize(
    ("generation", "protocol_type", "protocol_name", "error"),
    [
        (0, None, None, ErrorCode.ILLEGAL_GENERATION),
        (2, None, None, ErrorCode.ILLEGAL_GENERATION),
        (-1, None, None, ErrorCode.ILLEGAL_GENERATION),
        (1, "connect", None, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        (1, "consumer", "sticky", ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        (1, "consumer", "range", ErrorCode.NONE),
    ],
)
def test_syncs_that_do_not_fit_the_generation(
    generation: int, protocol_type: str | None, protocol_name: str | None, error: ErrorCode
) -> None:
    context = ClassicContext()
    (member,) = context.settle(Joiner())
    heard = context.sync(member, generation, protocol_type=protocol_type, protocol_name=protocol_name)
    assert heard.error == error


def test_syncs_and_heartbeats_of_strangers() -> None:
    context = ClassicContext()
    assert context.sync("nobody", 1).error == ErrorCode.UNKNOWN_MEMBER_ID
    assert context.heartbeat("nobody", 1) == ErrorCode.UNKNOWN_MEMBER_ID
    (member,) = context.settle(Joiner())
    assert context.sync("nobody", 1).error == ErrorCode.UNKNOWN_MEMBER_ID
    assert context.heartbeat("nobody", 1) == ErrorCode.UNKNOWN_MEMBER_ID
    assert context.heartbeat(member, 0) == ErrorCode.ILLEGAL_GENERATION
    context.join(Joiner(member_id=member))
    assert context.sync(member, 1).error == ErrorCode.ILLEGAL_GENERATION


def test_a_sync_during_a_rebalance_says_so() -> None:
    context = ClassicContext()
    leader, follower = context.settle(Joiner(), Joiner())
    context.join(Joiner(member_id=leader))
    assert context.sync(follower, 1).error == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_heartbeat_before_the_sync_is_taken_as_one() -> None:
    context = ClassicContext()
    leader, _ = context.join_with_id()
    context.time.pass_ms(INITIAL_DELAY_MS)
    assert context.state == "CompletingRebalance"
    beat(context, 2 * SESSION_MS, leader)
    assert context.heartbeat(leader, 1) == ErrorCode.NONE


# Leaving.


def test_when_a_member_leaves_the_others_rebalance() -> None:
    context = ClassicContext()
    leader, follower = context.settle(Joiner(), Joiner())
    left = context.leave((leader, None)).answer
    assert [(member.member_id, member.error_code) for member in left.members] == [(leader, 0)]
    again = context.join(Joiner(member_id=follower))
    assert (again.answer.generation_id, again.answer.leader) == (2, follower)


def test_when_everybody_leaves_the_group_is_empty_and_that_is_durable_before_the_answer() -> None:
    context = ClassicContext()
    ids = context.settle(Joiner(), Joiner())
    context.shard.is_slow = True
    left = context.leave(*((member_id, None) for member_id in ids))
    assert not left
    context.shard.sync()
    assert [member.error_code for member in left.answer.members] == [0, 0]
    assert (context.state, context.group.generation) == ("Empty", 2)


def test_a_group_is_empty_even_if_that_cannot_be_written() -> None:
    context = ClassicContext()
    (member,) = context.settle(Joiner())
    context.shard.is_broken = True
    assert context.leave((member, None)).answer.members[0].error_code == ErrorCode.NONE
    assert (context.state, context.group.generation) == ("Empty", 2)
    context.shard.is_broken = False
    context.settle(Joiner())
    assert context.group.generation == 3


def test_leaving_ends_a_parked_join() -> None:
    context = ClassicContext()
    leader, _ = context.settle(Joiner(), Joiner())
    joining = context.join(Joiner(member_id=leader))
    context.leave((leader, None))
    assert joining.error == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_pending_member_may_leave() -> None:
    context = ClassicContext()
    given = context.join().answer.member_id
    assert context.leave((given, None)).answer.members[0].error_code == ErrorCode.NONE
    assert context.join(Joiner(member_id=given)).error == ErrorCode.UNKNOWN_MEMBER_ID


def test_strangers_cannot_leave() -> None:
    context = ClassicContext()
    assert context.leave(("nobody", None)).answer.members[0].error_code == ErrorCode.UNKNOWN_MEMBER_ID
    context.settle(Joiner())
    left = context.leave(("nobody", None), ("", None), ("", "nothing")).answer
    assert [member.error_code for member in left.members] == [ErrorCode.UNKNOWN_MEMBER_ID] * 3
    assert context.state == "Stable"


def test_a_shard_that_goes_away_tells_who_waits_and_leaves_no_timer() -> None:
    context = ClassicContext()
    leader, follower = context.settle(Joiner(), Joiner())
    joining = context.join(Joiner(member_id=leader))
    context.join()
    context.shard.state.deactivate()
    assert joining.error == ErrorCode.NOT_COORDINATOR
    assert context.time.pending_count == 0
    assert follower
