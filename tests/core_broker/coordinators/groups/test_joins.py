"""Who gets into a classic group, and what a member hears when it joins again."""

from __future__ import annotations

import pytest

from barnabas.wire.errors import ErrorCode
from core_broker.context import ConnectionMembers
from tests.core_broker.coordinators.groups.classic_context import (
    GROUP,
    INITIAL_DELAY_MS,
    REBALANCE_MS,
    SESSION_MS,
    SETTLED_AFTER_MS,
    ClassicContext,
    Joiner,
    subscription,
)


def test_a_new_member_is_given_an_id_and_joins_with_it() -> None:
    context = ClassicContext()
    given = context.join()
    assert given.error == ErrorCode.MEMBER_ID_REQUIRED
    assert given.answer.member_id == "client-1"
    joined = context.join(Joiner(member_id="client-1"))
    assert not joined
    context.time.pass_ms(INITIAL_DELAY_MS)
    answer = joined.answer
    assert (answer.error_code, answer.generation_id, answer.leader) == (0, 1, "client-1")
    assert (answer.protocol_type, answer.protocol_name) == ("consumer", "range")
    assert [member.member_id for member in answer.members] == ["client-1"]


@pytest.mark.parametrize("joiner", [Joiner(version=3), Joiner(instance_id="i")], ids=["version 3", "static"])
def test_old_clients_and_static_members_get_in_at_once(joiner: Joiner) -> None:
    context = ClassicContext()
    joined = context.join(joiner)
    context.time.pass_ms(INITIAL_DELAY_MS)
    assert joined.error == ErrorCode.NONE


def test_an_id_that_is_not_used_in_a_session_is_worth_nothing() -> None:
    context = ClassicContext()
    given = context.join().answer.member_id
    context.time.pass_ms(SESSION_MS)
    assert context.join(Joiner(member_id=given)).error == ErrorCode.UNKNOWN_MEMBER_ID


def test_an_id_is_worth_nothing_in_a_group_that_does_not_exist() -> None:
    context = ClassicContext()
    refused = context.join(Joiner(member_id="made-up"))
    assert refused.error == ErrorCode.UNKNOWN_MEMBER_ID
    assert refused.answer.member_id == "made-up"
    assert GROUP not in context.shard.state.groups
    assert not context.shard.log


@pytest.mark.parametrize("session_ms", [5999, 1_800_001, -1])
def test_session_timeouts_have_limits(session_ms: int) -> None:
    assert ClassicContext().join(Joiner(session_ms=session_ms)).error == ErrorCode.INVALID_SESSION_TIMEOUT


@pytest.mark.parametrize(
    "joiner",
    [
        Joiner(protocol_type="connect"),
        Joiner(protocols={"roundrobin": b""}),
        Joiner(protocols={}),
        Joiner(protocol_type=""),
    ],
    ids=["other type", "nothing in common", "nothing offered", "no type"],
)
def test_who_has_nothing_in_common_with_the_others_does_not_get_in(joiner: Joiner) -> None:
    context = ClassicContext()
    context.settle(Joiner())
    assert context.join(joiner).error == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert context.state == "Stable"


@pytest.mark.parametrize("joiner", [Joiner(protocols={}), Joiner(protocol_type="")], ids=["no protocol", "no type"])
def test_a_new_group_takes_everybody_who_offers_something(joiner: Joiner) -> None:
    assert ClassicContext().join(joiner).error == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_a_group_of_any_type_works() -> None:
    context = ClassicContext()
    context.settle(Joiner(protocol_type="connect", protocols={"sessioned": b"\xff"}))
    assert context.group.protocol_type == "connect"


def test_each_member_votes_for_the_first_protocol_that_all_have() -> None:
    context = ClassicContext()
    offers: list[dict[str, bytes]] = [
        {"only-mine": b"", "range": b"1", "sticky": b"2"},
        {"sticky": b"3", "range": b"4"},
        {"sticky": b"5", "range": b"6"},
    ]
    context.settle(*(Joiner(protocols=offer) for offer in offers))
    assert context.group.protocol == "sticky"


def test_the_leader_hears_what_everybody_offers_for_the_chosen_protocol() -> None:
    context = ClassicContext()
    first, heard_first = context.join_with_id(Joiner(protocols={"range": b"a", "sticky": b"x"}))
    second, heard_second = context.join_with_id(Joiner(protocols={"range": b"b"}))
    context.time.pass_ms(SETTLED_AFTER_MS)
    members = {member.member_id: member.metadata for member in heard_first.answer.members}
    assert members == {first: b"a", second: b"b"}
    assert heard_second.answer.members == []


# Joining again.


def test_a_member_that_missed_the_answer_to_its_join_gets_it_again() -> None:
    context = ClassicContext()
    leader, _ = context.join_with_id()
    follower, _ = context.join_with_id()
    context.time.pass_ms(SETTLED_AFTER_MS)
    assert context.state == "CompletingRebalance"
    again = context.join(Joiner(member_id=leader)).answer
    assert (again.generation_id, len(again.members)) == (1, 2)
    assert context.join(Joiner(member_id=follower)).answer.members == []
    assert context.state == "CompletingRebalance"


def test_a_changed_subscription_begins_a_new_rebalance_while_the_group_syncs() -> None:
    context = ClassicContext()
    leader, _ = context.join_with_id()
    follower, _ = context.join_with_id()
    context.time.pass_ms(SETTLED_AFTER_MS)
    synced = context.sync(follower, 1)
    changed = context.join(Joiner(member_id=leader, protocols={"range": subscription("u")}))
    assert synced.error == ErrorCode.REBALANCE_IN_PROGRESS
    assert not changed
    assert context.state == "PreparingRebalance"


def test_a_follower_that_joins_again_unchanged_disturbs_nobody() -> None:
    context = ClassicContext()
    _, follower = context.settle(Joiner(), Joiner())
    again = context.join(Joiner(member_id=follower)).answer
    assert (again.error_code, again.generation_id, again.members) == (0, 1, [])
    assert context.state == "Stable"


def test_a_leader_that_joins_again_wants_a_rebalance() -> None:
    context = ClassicContext()
    leader, follower = context.settle(Joiner(), Joiner())
    again = context.join(Joiner(member_id=leader))
    assert not again
    assert context.heartbeat(follower, 1) == ErrorCode.REBALANCE_IN_PROGRESS
    context.join(Joiner(member_id=follower))
    assert again.answer.generation_id == 2


def test_a_follower_with_a_new_subscription_begins_a_rebalance() -> None:
    context = ClassicContext()
    leader, follower = context.settle(Joiner(), Joiner())
    context.join(Joiner(member_id=follower, protocols={"range": subscription("t", "u")}))
    assert context.heartbeat(leader, 1) == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_second_join_of_the_same_member_takes_the_place_of_the_first() -> None:
    context = ClassicContext()
    leader, _ = context.settle(Joiner(), Joiner())
    first = context.join(Joiner(member_id=leader))
    second = context.join(Joiner(member_id=leader))
    assert first.error == ErrorCode.REBALANCE_IN_PROGRESS
    context.time.pass_ms(REBALANCE_MS)
    assert second.answer.generation_id == 2


# Limits.


def test_group_max_size_turns_away_new_members_of_a_stable_group() -> None:
    context = ClassicContext(members_max=2)
    leader, _ = context.settle(Joiner(), Joiner())
    refused = context.join()
    assert refused.error == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert refused.answer.member_id == ""
    assert not context.join(Joiner(member_id=leader)), "members may join again"


def test_group_max_size_turns_away_the_last_to_come_while_a_group_forms() -> None:
    context = ClassicContext(members_max=2)
    joins = [context.join(Joiner(version=3)) for _ in range(3)]
    assert joins[2].error == ErrorCode.GROUP_MAX_SIZE_REACHED
    context.time.pass_ms(SETTLED_AFTER_MS)
    assert [heard.error for heard in joins[:2]] == [ErrorCode.NONE, ErrorCode.NONE]


def test_a_group_that_is_too_large_after_a_restart_has_to_rebalance() -> None:
    context = ClassicContext()
    ids = context.settle(Joiner(), Joiner(), Joiner())
    context.shard.settings = ClassicContext(members_max=2).shard.settings
    context.shard.reload()
    assert context.state == "PreparingRebalance"
    joins = [context.join(Joiner(member_id=member_id)) for member_id in ids]
    assert joins[2].error == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert [heard.answer.generation_id for heard in joins[:2]] == [2, 2]


def test_a_join_storm_runs_into_the_limit_of_a_group() -> None:
    context = ClassicContext(members_and_pending_max=5)
    assert [context.join().error for _ in range(5)] == [ErrorCode.MEMBER_ID_REQUIRED] * 5
    assert context.join().error == ErrorCode.GROUP_MAX_SIZE_REACHED
    context.time.pass_ms(SESSION_MS)
    assert context.join().error == ErrorCode.MEMBER_ID_REQUIRED


def test_a_join_storm_runs_into_the_limit_of_a_connection() -> None:
    context = ClassicContext(connection_members_max=3)
    connection = ConnectionMembers()
    for group in ("a", "b", "c"):
        assert context.join(Joiner(members=connection), group).error == ErrorCode.MEMBER_ID_REQUIRED
    assert context.join(Joiner(members=connection), "d").error == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert context.join(Joiner(), "d").error == ErrorCode.MEMBER_ID_REQUIRED, "others are not harmed"
    context.time.pass_ms(SESSION_MS)
    assert connection.count == 0


def test_members_that_leave_no_longer_count_for_their_connection() -> None:
    context = ClassicContext()
    connection = ConnectionMembers()
    ids = context.settle(Joiner(members=connection), Joiner(members=connection))
    assert connection.count == 2
    context.leave(*((member_id, None) for member_id in ids))
    assert connection.count == 0


def test_what_members_tell_of_themselves_is_bounded() -> None:
    context = ClassicContext(metadata_max_bytes=100)
    (member,) = context.settle(Joiner(protocols={"range": b"x" * 80}))
    assert context.join(Joiner(version=3, protocols={"range": b"x" * 80})).error == ErrorCode.GROUP_MAX_SIZE_REACHED
    too_much = Joiner(member_id=member, protocols={"range": b"x" * 200})
    assert context.join(too_much).error == ErrorCode.GROUP_MAX_SIZE_REACHED
    again = context.join(Joiner(member_id=member, protocols={"range": b"y" * 80}))
    assert again.answer.generation_id == 2
    context.leave((member, None))
    assert context.group.metadata_bytes == 0
