"""Heartbeats of the consumer protocol: Apache Kafka and we give the same answers, step by step."""

from __future__ import annotations

import secrets

import pytest

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from barnabas.wire.messages.delete_groups import DeleteGroupsRequest
from barnabas.wire.messages.describe_groups import DescribeGroupsRequest
from barnabas.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from tests.broker import BarnabasBroker
from tests.core_broker.coordinators.groups.classic_talker import ClassicTalker
from tests.core_broker.coordinators.groups.dialogue import Dialogue, Talker
from tests.core_broker.coordinators.groups.offsets_log import records_of
from tests.oracle import ApacheKafka

SUFFIX = secrets.token_hex(4)
ONE, FIVE, SIX = f"c1-{SUFFIX}", f"c5-{SUFFIX}", f"c6-{SUFFIX}"


@pytest.fixture(scope="module")
def dialogue(barnabas: BarnabasBroker, apache_kafka: ApacheKafka) -> Dialogue:
    dialogue = Dialogue(barnabas.address, apache_kafka.address)
    dialogue.create(**{ONE: 1, FIVE: 5, SIX: 6})
    return dialogue


@pytest.fixture
def group(dialogue: Dialogue) -> str:
    return dialogue.new_group()


REFUSED: dict[str, dict[str, object]] = {
    "no member id": {"member_id": ""},
    "no group id": {"group_id": ""},
    "empty instance id": {"instance_id": ""},
    "empty rack": {"rack_id": " "},
    "no rebalance timeout": {"rebalance_timeout_ms": -1},
    "no subscription": {"subscribed_topic_names": None},
    "unknown assignor": {"server_assignor": "sticky"},
    "broken regex": {"subscribed_topic_names": None, "subscribed_topic_regex": "("},
    "regex of another language": {"subscribed_topic_names": None, "subscribed_topic_regex": "(?=x)"},
    "epoch below -2": {"member_epoch": -3},
    "static leave without instance": {"member_epoch": -2},
    "unknown group": {"member_epoch": 7},
    "leave of an unknown group": {"member_epoch": -1},
}


# Version 0 has no patterns, and there the broker makes the id of a member that has none.
ONLY_IN_VERSION_1 = {"no member id", "broken regex", "regex of another language"}
QUESTIONS = [(version, name) for version in (0, 1) for name in REFUSED if version or name not in ONLY_IN_VERSION_1]


@pytest.mark.parametrize(("version", "name"), QUESTIONS)
def test_a_bad_request_gets_kafkas_code(dialogue: Dialogue, group: str, version: int, name: str) -> None:
    whole: dict[str, object] = {
        "group_id": group,
        "member_id": "m",
        "member_epoch": 0,
        "rebalance_timeout_ms": 60_000,
        "subscribed_topic_names": [ONE],
        **REFUSED[name],
    }
    answer = dialogue.heartbeat(ConsumerGroupHeartbeatRequest(**whole), {}, version)  # type: ignore[arg-type]
    assert answer["error_code"]


def test_owned_partitions_have_no_place_in_a_join(dialogue: Dialogue, group: str) -> None:
    member = Talker(dialogue, group, "a")
    assert member.say({ONE: [0]}, rebalance_timeout_ms=1, subscribed_topic_names=[ONE])["error_code"]
    assert member.say(None, rebalance_timeout_ms=1, subscribed_topic_names=[ONE])["error_code"]


def test_two_members_share_a_topic_and_one_leaves(dialogue: Dialogue, group: str) -> None:
    first, second = Talker(dialogue, group, "a"), Talker(dialogue, group, "b")
    first.join(FIVE)
    assert first.owned == {FIVE: [0, 1, 2, 3, 4]}
    dialogue.describe(group)
    second.join(FIVE)
    settle(first, second)
    assert sorted(len(member.owned[FIVE]) for member in (first, second)) == [2, 3]
    dialogue.describe(group)
    first.leave()
    dialogue.describe(group)
    settle(second)
    assert second.owned == {FIVE: [0, 1, 2, 3, 4]}
    second.leave()
    dialogue.describe(group)


def test_members_with_different_topics_and_assignors(dialogue: Dialogue, group: str) -> None:
    members = [
        Talker(dialogue, group, "a", server_assignor="uniform"),
        Talker(dialogue, group, "b", server_assignor="range"),
        Talker(dialogue, group, "c", server_assignor="range"),
    ]
    for member, topics in zip(members, ([FIVE], [FIVE, SIX], [SIX, "none"]), strict=True):
        member.join(*topics)
        settle(*members[: members.index(member) + 1])
        dialogue.describe(group)
    members[0].say(members[0].owned, subscribed_topic_names=[SIX])
    settle(*members)
    dialogue.describe(group)


def test_epochs_fence(dialogue: Dialogue, group: str) -> None:
    member = Talker(dialogue, group, "a")
    member.join(FIVE)
    current = member.epoch
    member.epoch = current + 1
    assert member.say(member.owned)["error_code"] == ErrorCode.FENCED_MEMBER_EPOCH
    member.epoch = current
    other = Talker(dialogue, group, "b")
    other.join(FIVE)
    settle(member, other)
    member.epoch -= 1
    assert member.say()["error_code"] == ErrorCode.FENCED_MEMBER_EPOCH
    assert member.say({SIX: [5]})["error_code"] == ErrorCode.FENCED_MEMBER_EPOCH
    assert member.say(member.owned)["error_code"] == ErrorCode.NONE, "the answer with the new epoch may have been lost"
    member.epoch = 1
    stranger = Talker(dialogue, group, "c")
    stranger.epoch = 1
    assert stranger.say({})["error_code"] == ErrorCode.UNKNOWN_MEMBER_ID
    stranger.epoch = -1
    assert stranger.say()["error_code"] == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_member_that_joins_again_keeps_its_place(dialogue: Dialogue, group: str) -> None:
    member = Talker(dialogue, group, "a")
    member.join(FIVE)
    member.join(FIVE)
    member.join(SIX)
    dialogue.describe(group)
    settle(member)
    assert member.owned == {SIX: [0, 1, 2, 3, 4, 5]}


def test_a_static_member_is_replaced_and_gets_what_it_had(dialogue: Dialogue, group: str) -> None:
    first = Talker(dialogue, group, "a", instance_id="one")
    other = Talker(dialogue, group, "b", instance_id="two")
    first.join(FIVE)
    other.join(FIVE)
    settle(first, other)
    had = first.owned
    successor = Talker(dialogue, group, "c", instance_id="one")
    assert successor.join(FIVE)["error_code"] == ErrorCode.UNRELEASED_INSTANCE_ID
    first.leave(-2)
    dialogue.describe(group)
    successor.join(FIVE)
    assert successor.owned == had
    dialogue.describe(group)
    first.epoch = 3
    assert first.say(first.owned, instance_id="one")["error_code"] == ErrorCode.FENCED_INSTANCE_ID
    assert first.leave(-1)["error_code"] == ErrorCode.FENCED_INSTANCE_ID
    successor.leave(-1)
    settle(other)
    dialogue.describe(group)


def test_partitions_that_are_not_subscribed_any_more_are_given_up_first(dialogue: Dialogue, group: str) -> None:
    member = Talker(dialogue, group, "a")
    member.join(FIVE, SIX)
    had = member.owned
    answer = member.say(None, subscribed_topic_names=[FIVE])
    dialogue.describe(group)
    assert answer["assignment"] is not None
    member.say(had)
    member.say(member.owned)
    settle(member)
    dialogue.describe(group)


def test_a_member_without_subscriptions_has_nothing(dialogue: Dialogue, group: str) -> None:
    member = Talker(dialogue, group, "a")
    member.join()
    dialogue.describe(group)
    member.say({}, subscribed_topic_names=["does-not-exist-" + SUFFIX])
    member.beat()
    dialogue.describe(group)


def test_a_pattern_is_matched_and_changed(dialogue: Dialogue, group: str) -> None:
    member = Talker(dialogue, group, "a")
    member.join(subscribed_topic_regex=f"c[0-9]-{SUFFIX}")
    assert member.owned == {}
    member.wait_for_assignment()
    assert member.owned == {ONE: [0], FIVE: [0, 1, 2, 3, 4], SIX: [0, 1, 2, 3, 4, 5]}
    dialogue.describe(group)
    member.leave()
    dialogue.describe(group)


def test_members_share_a_pattern_and_one_changes_its_mind(dialogue: Dialogue, group: str) -> None:
    # One topic: with several it is their ids, which differ, that decide who gets which.
    member, other = Talker(dialogue, group, "a"), Talker(dialogue, group, "b")
    member.join(subscribed_topic_regex=f"c5-{SUFFIX}")
    member.wait_for_assignment()
    other.join(subscribed_topic_regex=f"c5-{SUFFIX}")
    settle(member, other)
    other.say(other.owned, subscribed_topic_regex="", subscribed_topic_names=[FIVE])
    settle(member, other)
    dialogue.describe(group)
    assert other.say(other.owned, subscribed_topic_regex="[")["error_code"] == ErrorCode.INVALID_REGULAR_EXPRESSION
    member.leave()
    settle(other)
    dialogue.describe(group)


def test_a_topic_that_is_subscribed_before_it_is_made(dialogue: Dialogue, group: str) -> None:
    late = f"late-{secrets.token_hex(4)}"
    member = Talker(dialogue, group, "a")
    member.join(late)
    assert member.owned == {}
    dialogue.create(**{late: 2})
    member.wait_for_assignment()
    assert member.owned == {late: [0, 1]}
    dialogue.describe(group)


def test_older_calls_know_the_group_too(dialogue: Dialogue, group: str) -> None:
    member = Talker(dialogue, group, "a")
    member.join(FIVE)
    for version in (5, 6):
        dialogue.agree(DescribeGroupsRequest(groups=[group]), version)
    for wanted in ([], ["consumer"], ["Classic"]):
        for states in ([], ["Stable"], ["stable", "Empty"]):
            listed = [
                [each for each in side.ask(request, ListGroupsResponse).groups if each.group_id == group]
                for request in [ListGroupsRequest(types_filter=wanted, states_filter=states)]
                for side in dialogue.sides.values()
            ]
            assert listed[0] == listed[1]
    dialogue.agree(DeleteGroupsRequest(groups_names=[group]))
    member.leave()
    dialogue.agree(DeleteGroupsRequest(groups_names=[group]))
    dialogue.describe(group)


def test_the_log_has_the_same_records(
    dialogue: Dialogue, group: str, barnabas: BarnabasBroker, apache_kafka: ApacheKafka
) -> None:
    first, second = Talker(dialogue, group, "a", instance_id="i", rack_id="r"), Talker(dialogue, group, "b")
    first.join(FIVE)
    second.join(FIVE, SIX)
    settle(first, second)
    first.leave(-2)
    back = Talker(dialogue, group, "c", instance_id="i")
    back.join(FIVE)
    second.leave()
    settle(back)
    matching = Talker(dialogue, group, "d")
    matching.join(subscribed_topic_regex=f"c[56]-{SUFFIX}")
    matching.wait_for_assignment()
    matching.say(matching.owned, subscribed_topic_regex="", subscribed_topic_names=[SIX])
    settle(back, matching)
    back.leave()
    matching.leave()
    old = ClassicTalker(dialogue, group, FIVE)
    old.join()
    old.sync({FIVE: [0, 1, 2, 3, 4]})
    new = Talker(dialogue, group, "e")
    new.join(FIVE)
    for _ in range(2):
        old.join()
        old.sync()
    new.beat()
    new.leave()
    dialogue.agree(DeleteGroupsRequest(groups_names=[group]))
    ours, kafkas = (
        records_of(broker.log_dir, group, dialogue.sides[name], old.member_ids[name])
        for name, broker in (("ours", barnabas), ("kafka", apache_kafka))
    )
    assert len(ours) > 60
    # Where the member is whose id the broker made, records about several members come in the order of a hash map.
    known = next(position for position, record in enumerate(ours) if "'member'" in repr(record))
    assert ours[:known] == kafkas[:known]
    assert sorted(ours, key=repr) == sorted(kafkas, key=repr)


def settle(*members: Talker) -> None:
    """Heartbeats until nobody is told anything new."""
    for _ in range(10):
        answers = [member.beat() for member in members]
        if all(answer["assignment"] is None for answer in answers) and len({member.epoch for member in members}) == 1:
            return
    raise AssertionError("the group does not settle")
