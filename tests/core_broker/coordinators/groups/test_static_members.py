"""Members that come back under a name of their own (KIP-345)."""

from __future__ import annotations

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.join_group import JoinGroupResponse
from core_broker.coordinators.groups.group_offsets import Member
from tests.core_broker.coordinators.groups.classic_context import (
    REBALANCE_MS,
    SESSION_MS,
    SETTLED_AFTER_MS,
    ClassicContext,
    Heard,
    Joiner,
    subscription,
)

LONG_MS = 2 * REBALANCE_MS


def back(
    context: ClassicContext, instance_id: str, version: int = 9, **changes: dict[str, bytes]
) -> Heard[JoinGroupResponse]:
    protocols = changes.get("protocols", {"range": subscription("t")})
    return context.join(Joiner(instance_id=instance_id, version=version, protocols=protocols, session_ms=LONG_MS))


def settled() -> tuple[ClassicContext, str, str]:
    context = ClassicContext()
    leader, follower = context.settle(
        Joiner(instance_id="a", session_ms=LONG_MS), Joiner(instance_id="b", session_ms=LONG_MS)
    )
    return context, leader, follower


def test_a_member_that_comes_back_takes_its_old_place_without_a_rebalance() -> None:
    context, leader, follower = settled()
    answer = back(context, "b").answer
    assert (answer.error_code, answer.generation_id, answer.leader, answer.skip_assignment) == (0, 1, leader, False)
    assert answer.member_id not in (leader, follower)
    assert context.state == "Stable"
    assert context.heartbeat(leader, 1) == ErrorCode.NONE
    assert context.sync(answer.member_id, 1).answer.assignment == b"to " + follower.encode()


def test_a_leader_that_comes_back_leads_on_and_leaves_the_assignment_alone() -> None:
    context, leader, _ = settled()
    answer = back(context, "a").answer
    assert answer.leader == answer.member_id != leader
    assert answer.skip_assignment
    assert len(answer.members) == 2
    assert context.group.leader == answer.member_id


def test_an_old_client_that_leads_and_comes_back_is_told_that_its_old_self_leads() -> None:
    context, leader, _ = settled()
    answer = back(context, "a", version=8).answer
    assert (answer.leader, answer.members, answer.skip_assignment) == (leader, [], False)


def test_the_old_self_is_fenced() -> None:
    context, leader, follower = settled()
    new = back(context, "b").answer.member_id
    assert context.heartbeat(follower, 1, "b") == ErrorCode.FENCED_INSTANCE_ID
    assert context.sync(follower, 1, instance_id="b").error == ErrorCode.FENCED_INSTANCE_ID
    assert context.commit("t", 0, 5, Member(follower, "b", 1)) == ErrorCode.FENCED_INSTANCE_ID
    assert context.join(Joiner(member_id=follower, instance_id="b")).error == ErrorCode.FENCED_INSTANCE_ID
    assert context.leave((follower, "b")).answer.members[0].error_code == ErrorCode.FENCED_INSTANCE_ID
    assert context.heartbeat(follower, 1) == ErrorCode.UNKNOWN_MEMBER_ID
    assert context.heartbeat(new, 1, "b") == ErrorCode.NONE
    assert context.heartbeat(leader, 1, "c") == ErrorCode.UNKNOWN_MEMBER_ID


def test_the_new_id_is_in_the_log_before_the_answer() -> None:
    context, _, _ = settled()
    context.shard.is_slow = True
    heard = back(context, "b")
    assert not heard
    context.shard.sync()
    new = heard.answer.member_id
    context.shard.reload()
    assert context.group.static["b"] == new
    assert context.heartbeat(new, 1, "b") == ErrorCode.NONE


def test_when_the_new_id_cannot_be_written_the_old_one_stays() -> None:
    context, _, follower = settled()
    context.shard.is_broken = True
    assert back(context, "b").error == ErrorCode.NOT_COORDINATOR
    assert context.heartbeat(follower, 1, "b") == ErrorCode.NONE


def test_a_new_subscription_for_the_same_protocol_does_not_rebalance() -> None:
    context, _, _ = settled()
    answer = back(context, "b", protocols={"range": subscription("u")}).answer
    assert context.state == "Stable"
    assert context.group.members[answer.member_id].protocols == {"range": subscription("u")}


def test_another_choice_of_protocol_does() -> None:
    context = ClassicContext()
    both = {"range": b"1", "sticky": b"2"}
    leader, _ = context.settle(
        Joiner(instance_id="a", protocols=both, session_ms=LONG_MS),
        Joiner(instance_id="b", protocols=both, session_ms=LONG_MS),
    )
    assert context.group.protocol == "range"
    heard = back(context, "b", protocols={"sticky": b"3"})
    assert not heard
    assert context.heartbeat(leader, 1, "a") == ErrorCode.REBALANCE_IN_PROGRESS
    context.join(Joiner(member_id=leader, instance_id="a", protocols=both))
    assert heard.answer.protocol_name == "sticky"


def test_a_member_that_comes_back_while_the_others_sync_begins_a_rebalance() -> None:
    context = ClassicContext()
    first = context.join(Joiner(instance_id="a", session_ms=LONG_MS))
    second = context.join(Joiner(instance_id="b", session_ms=LONG_MS))
    context.time.pass_ms(SETTLED_AFTER_MS)
    waiting = context.sync(second.answer.member_id, 1, instance_id="b")
    heard = back(context, "b")
    assert waiting.error == ErrorCode.FENCED_INSTANCE_ID
    assert not heard
    assert context.state == "PreparingRebalance"
    assert first.answer.generation_id == 1


def test_a_member_that_comes_back_while_the_others_join_takes_part() -> None:
    context, leader, _ = settled()
    joining = context.join(Joiner(member_id=leader, instance_id="a"))
    context.join(Joiner(version=3))
    first = back(context, "b")
    assert joining.answer.generation_id == first.answer.generation_id == 2


def test_a_second_comer_fences_the_first_that_waits() -> None:
    context, leader, _ = settled()
    context.join(Joiner(member_id=leader, instance_id="a", protocols={"range": subscription("x")}))
    first = back(context, "b")
    assert first.answer.generation_id == 2
    context.join(Joiner(version=3))
    waiting = back(context, "b")
    assert not waiting
    again = back(context, "b")
    assert waiting.error == ErrorCode.FENCED_INSTANCE_ID
    assert not again


def test_an_operator_removes_a_member_by_its_name() -> None:
    context, leader, follower = settled()
    left = context.leave(("", "b")).answer.members[0]
    assert (left.member_id, left.group_instance_id, left.error_code) == ("", "b", ErrorCode.NONE)
    assert context.heartbeat(follower, 1, "b") == ErrorCode.UNKNOWN_MEMBER_ID
    assert context.heartbeat(leader, 1, "a") == ErrorCode.REBALANCE_IN_PROGRESS


def test_several_members_leave_at_once_and_each_has_its_answer() -> None:
    context, leader, follower = settled()
    left = context.leave(("", "a"), ("wrong", "b"), ("", "c"), (follower, "b")).answer
    assert [member.error_code for member in left.members] == [
        ErrorCode.NONE,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.NONE,
    ]
    assert (context.state, leader in context.group.members) == ("Empty", False)


def test_a_static_member_is_away_for_less_than_its_session_and_nobody_notices() -> None:
    context, leader, _ = settled()
    for _ in range(LONG_MS // SESSION_MS - 1):
        context.time.pass_ms(SESSION_MS)
        assert context.heartbeat(leader, 1, "a") == ErrorCode.NONE
    context.time.pass_ms(2 * SESSION_MS)
    assert context.heartbeat(leader, 1, "a") == ErrorCode.REBALANCE_IN_PROGRESS
