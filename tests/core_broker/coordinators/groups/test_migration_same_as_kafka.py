"""Groups that move between the protocols: Apache Kafka and we go the same way, step by step."""

from __future__ import annotations

import secrets

import pytest

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from tests.broker import BarnabasBroker
from tests.core_broker.coordinators.groups.classic_talker import ClassicTalker
from tests.core_broker.coordinators.groups.dialogue import Dialogue, Talker
from tests.oracle import ApacheKafka

TOPIC = f"m4-{secrets.token_hex(4)}"
ALL = {TOPIC: [0, 1, 2, 3]}


@pytest.fixture(scope="module")
def dialogue(barnabas: BarnabasBroker, apache_kafka: ApacheKafka) -> Dialogue:
    dialogue = Dialogue(barnabas.address, apache_kafka.address)
    dialogue.create(**{TOPIC: 4})
    return dialogue


@pytest.fixture
def group(dialogue: Dialogue) -> str:
    return dialogue.new_group()


def types(dialogue: Dialogue, group: str) -> set[tuple[str, str]]:
    """The type and state of the group, as each broker lists it."""
    return {
        (listed.group_type.lower(), listed.group_state)
        for side in dialogue.sides.values()
        for listed in side.ask(ListGroupsRequest(), ListGroupsResponse).groups
        if listed.group_id == group
    }


def classic(dialogue: Dialogue, group: str, instance_id: str | None = None) -> ClassicTalker:
    """The only member of a classic group."""
    member = ClassicTalker(dialogue, group, TOPIC, instance_id=instance_id)
    assert member.join() == ErrorCode.NONE
    assert member.sync(ALL) == ErrorCode.NONE
    return member


def test_a_group_moves_up_and_down_with_its_members(dialogue: Dialogue, group: str) -> None:
    old = classic(dialogue, group)
    assert types(dialogue, group) == {("classic", "Stable")}
    new = Talker(dialogue, group, "new")
    new.join(TOPIC)
    assert types(dialogue, group) == {("consumer", "Reconciling")}
    assert new.owned == {}, "the classic member still has everything"
    assert old.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    assert old.commit(TOPIC) == ErrorCode.NONE
    assert old.sync() == ErrorCode.REBALANCE_IN_PROGRESS
    assert old.join() == ErrorCode.NONE
    assert old.sync() == ErrorCode.NONE
    assert old.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS, "it has given up something and can go on"
    assert old.join() == ErrorCode.NONE
    assert old.sync() == ErrorCode.NONE
    assert old.heartbeat() == ErrorCode.NONE
    new.beat()
    assert len(new.owned[TOPIC]) == len(old.owned[TOPIC]) == 2
    assert types(dialogue, group) == {("consumer", "Stable")}
    assert old.heartbeat(generation=1) == ErrorCode.ILLEGAL_GENERATION
    assert old.commit(TOPIC, generation=99) == ErrorCode.ILLEGAL_GENERATION
    new.leave()
    assert types(dialogue, group) == {("classic", "PreparingRebalance")}
    assert old.heartbeat() in (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION)
    assert old.join() == ErrorCode.NONE
    assert old.sync(ALL) == ErrorCode.NONE
    assert types(dialogue, group) == {("classic", "Stable")}
    old.leave()


def test_the_last_classic_member_leaves_a_group_that_stays_new(dialogue: Dialogue, group: str) -> None:
    old = classic(dialogue, group)
    new = Talker(dialogue, group, "new")
    new.join(TOPIC)
    old.leave()
    new.wait_for_assignment()
    assert new.owned == ALL
    assert types(dialogue, group) == {("consumer", "Stable")}
    dialogue.describe(group)


def test_a_static_member_is_replaced_across_the_protocols(dialogue: Dialogue, group: str) -> None:
    old = classic(dialogue, group, instance_id="one")
    new = Talker(dialogue, group, "new", instance_id="one")
    new.join(TOPIC)
    assert new.owned == ALL, "it has taken the place of the classic one"
    assert types(dialogue, group) == {("consumer", "Stable")}
    assert old.heartbeat() == ErrorCode.FENCED_INSTANCE_ID
    back = ClassicTalker(dialogue, group, TOPIC, instance_id="one")
    assert back.join() == ErrorCode.NONE
    assert types(dialogue, group) == {("classic", "Stable")}
    assert back.sync(ALL) == ErrorCode.NONE
    assert back.owned == ALL


def test_an_empty_group_takes_the_type_of_who_comes(dialogue: Dialogue, group: str) -> None:
    old = classic(dialogue, group)
    old.leave()
    assert types(dialogue, group) == {("classic", "Empty")}
    new = Talker(dialogue, group, "new")
    new.join(TOPIC)
    assert new.owned == ALL
    dialogue.describe(group)
    new.leave()
    assert types(dialogue, group) == {("consumer", "Empty")}
    classic(dialogue, group)
    assert types(dialogue, group) == {("classic", "Stable")}


def test_a_group_whose_assignor_keeps_data_of_its_own_does_not_move(dialogue: Dialogue, group: str) -> None:
    old = ClassicTalker(dialogue, group, TOPIC)
    assert old.join() == ErrorCode.NONE
    assert old.sync(ALL, user_data=b"mine") == ErrorCode.NONE
    assert Talker(dialogue, group, "new").join(TOPIC)["error_code"] == ErrorCode.GROUP_ID_NOT_FOUND
    assert old.heartbeat() == ErrorCode.NONE


def test_a_member_of_the_new_protocol_has_no_classic_calls(dialogue: Dialogue, group: str) -> None:
    new = Talker(dialogue, group, "new")
    new.join(TOPIC)
    stranger = ClassicTalker(dialogue, group, TOPIC)
    stranger.member_ids = dict.fromkeys(dialogue.sides, "new")
    stranger.generation = new.epoch
    assert stranger.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
    assert stranger.sync() == ErrorCode.UNKNOWN_MEMBER_ID
    assert stranger.commit(TOPIC) == ErrorCode.NONE
    assert stranger.commit(TOPIC, generation=new.epoch + 1) == ErrorCode.STALE_MEMBER_EPOCH
    assert stranger.commit(TOPIC, generation=new.epoch - 1) == ErrorCode.STALE_MEMBER_EPOCH
    stranger.member_ids = dict.fromkeys(dialogue.sides, "nobody")
    assert stranger.commit(TOPIC) == ErrorCode.UNKNOWN_MEMBER_ID
