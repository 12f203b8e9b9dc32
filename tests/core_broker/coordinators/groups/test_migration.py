"""Groups with members of both protocols, on virtual time: who waits, who is told to join again, and what the log says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from barnabas.wire.errors import ErrorCode
from barnabas.wire.records.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
)
from barnabas.wire.records.framing import decode_versioned, encode_versioned
from core_broker.coordinators.groups.classic_group import ClassicGroup
from core_broker.coordinators.groups.consumer_group import ConsumerGroup
from core_broker.coordinators.groups.group import GroupType
from tests.core_broker.coordinators.groups.classic_context import ClassicContext, Joiner
from tests.core_broker.coordinators.groups.consumer_context import (
    GROUP,
    SETTINGS,
    Consumer,
    ConsumerShard,
    HandMadeCluster,
)
from tests.core_broker.coordinators.groups.test_consumer_protocol import contents
from tests.core_broker.coordinators.virtual_time import VirtualTime

PARTITIONS = 4
OFFER = {"cooperative-sticky": b"", "range": b""}


class MixedContext(ClassicContext):
    def __init__(self) -> None:
        self.time = VirtualTime()
        self.shard: ConsumerShard = ConsumerShard(self.time, HandMadeCluster())
        self.shard.set_topic("t", PARTITIONS)

    @property
    def type(self) -> GroupType:
        return self.shard.state.groups[GROUP].type

    def rejoin(self, member_id: str, owned: list[int]) -> int:
        """Joins again, having given up what is not named, and returns the new generation."""
        heard = self.join(joiner(owned).named(member_id))
        assert heard.error == ErrorCode.NONE
        return heard.answer.generation_id

    def synced(self, member_id: str, generation: int) -> list[int]:
        heard = self.sync(member_id, generation)
        assert heard.error == ErrorCode.NONE
        assigned = decode_versioned(ConsumerProtocolAssignment, heard.answer.assignment).assigned_partitions
        return [number for topic in assigned for number in topic.partitions]


def joiner(owned: list[int] | None = None) -> Joiner:
    parts = [TopicPartition(topic="t", partitions=owned)] if owned else []
    data = encode_versioned(ConsumerProtocolSubscription(topics=["t"], owned_partitions=parts), 1)
    return Joiner(protocols=dict.fromkeys(OFFER, data))


@pytest.fixture
def mixed() -> MixedContext:
    return MixedContext()


def classic_member(mixed: MixedContext) -> str:
    """The only member of a classic group, with all partitions."""
    member_id, heard = mixed.join_with_id(joiner())
    mixed.time.pass_ms(1)
    assignment = ConsumerProtocolAssignment(
        assigned_partitions=[TopicPartition(topic="t", partitions=list(range(PARTITIONS)))]
    )
    mixed.sync(member_id, heard.answer.generation_id, {member_id: encode_versioned(assignment, 1)})
    return member_id


def upgraded(mixed: MixedContext) -> tuple[str, Consumer]:
    """A group with one member of each protocol, settled."""
    old = classic_member(mixed)
    new = Consumer(mixed.shard, "new", "t")
    new.join()
    generation = mixed.rejoin(old, list(range(PARTITIONS)))
    kept = mixed.synced(old, generation)
    generation = mixed.rejoin(old, kept)
    assert mixed.synced(old, generation) == kept
    new.beat()
    assert len(kept) == len(new.owned) == PARTITIONS // 2
    return old, new


def assert_replay_gives_the_same(mixed: MixedContext) -> None:
    now, rebuilt = mixed.shard.state.groups[GROUP], mixed.shard.rebuilt().groups[GROUP]
    assert type(now) is type(rebuilt)
    if isinstance(now, ConsumerGroup):
        assert isinstance(rebuilt, ConsumerGroup)
        assert contents(rebuilt) == contents(now)


def test_who_waits_for_a_classic_rebalance_is_told_to_join_again(mixed: MixedContext) -> None:
    old = classic_member(mixed)
    late, waiting = mixed.join_with_id(joiner())
    assert not waiting, "the first has not joined again"
    new = Consumer(mixed.shard, "new", "t")
    new.join()
    assert waiting.error == ErrorCode.REBALANCE_IN_PROGRESS
    assert mixed.type is GroupType.CONSUMER
    assert set(mixed.shard.group.members) == {old, late, "new"}
    assert_replay_gives_the_same(mixed)


def test_a_mixed_group_settles_and_replays(mixed: MixedContext) -> None:
    old, _ = upgraded(mixed)
    assert mixed.shard.group.state_name == "Stable"
    assert mixed.heartbeat(old, mixed.shard.group.members[old].member_epoch) == ErrorCode.NONE
    assert_replay_gives_the_same(mixed)


def test_a_classic_member_that_does_not_join_again_is_removed(mixed: MixedContext) -> None:
    old, new = upgraded(mixed)
    other = Consumer(mixed.shard, "other", "t")
    other.join()
    generation = mixed.shard.group.members[old].member_epoch
    for _ in range(7):
        assert mixed.heartbeat(old, generation) == ErrorCode.REBALANCE_IN_PROGRESS
        new.beat()
        other.beat()
        mixed.time.pass_ms(10_000 - 1)
    assert mixed.heartbeat(old, generation) == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_classic_member_that_does_not_ask_for_its_assignment_is_removed(mixed: MixedContext) -> None:
    old, new = upgraded(mixed)
    generation = mixed.rejoin(old, [])
    for _ in range(7):
        mixed.heartbeat(old, generation)
        new.beat()
        mixed.time.pass_ms(10_000 - 1)
    assert old not in mixed.shard.group.members


def test_a_silent_classic_member_has_its_own_session(mixed: MixedContext) -> None:
    old, new = upgraded(mixed)
    mixed.time.pass_ms(10_000)
    assert list(mixed.shard.group.members) == ["new"]
    new.beat()
    assert mixed.heartbeat(old, 1) == ErrorCode.UNKNOWN_MEMBER_ID


def test_the_last_new_member_goes_and_the_group_is_classic_again(mixed: MixedContext) -> None:
    old, new = upgraded(mixed)
    generation = mixed.shard.group.members[old].member_epoch
    new.leave()
    assert mixed.type is GroupType.CLASSIC
    assert mixed.state == "PreparingRebalance"
    assert_replay_gives_the_same(mixed)
    assert mixed.heartbeat(old, generation) == ErrorCode.REBALANCE_IN_PROGRESS
    heard = mixed.join(joiner().named(old))
    assert heard.error == ErrorCode.NONE
    assert heard.answer.generation_id == generation + 1
    assert heard.answer.protocol_name in OFFER


def test_a_new_member_whose_session_ends_takes_the_group_down_too(mixed: MixedContext) -> None:
    old, _ = upgraded(mixed)
    generation = mixed.shard.group.members[old].member_epoch
    for _ in range(10):
        mixed.time.pass_ms(5000)
        if mixed.type is GroupType.CLASSIC:
            break
        mixed.heartbeat(old, generation)
    assert mixed.type is GroupType.CLASSIC
    assert list(mixed.group.members) == [old]


def test_a_classic_group_that_cannot_be_written_stays_a_consumer_group(mixed: MixedContext) -> None:
    old, new = upgraded(mixed)
    mixed.shard.is_broken = True
    assert new.leave().error_code == ErrorCode.NOT_COORDINATOR
    mixed.shard.is_broken = False
    assert mixed.type is GroupType.CONSUMER
    assert set(mixed.shard.group.members) == {old, "new"}
    mixed.time.pass_ms(SETTINGS.session_timeout_ms)
    assert isinstance(mixed.shard.state.groups[GROUP], ClassicGroup) or not mixed.shard.group.members


@pytest.mark.parametrize(("policy", "up", "down"), [("disabled", False, False), ("upgrade", True, False)])
def test_the_policy_decides(mixed: MixedContext, policy: str, up: bool, down: bool) -> None:
    mixed.shard.cluster.settings = replace(SETTINGS, may_upgrade=up, may_downgrade=down)
    classic_member(mixed)
    new = Consumer(mixed.shard, "new", "t")
    answer = new.join()
    assert answer.error_code == (ErrorCode.NONE if up else ErrorCode.GROUP_ID_NOT_FOUND)
    assert mixed.type is (GroupType.CONSUMER if up else GroupType.CLASSIC)
    if up:
        new.leave()
        assert mixed.type is GroupType.CONSUMER


def test_a_member_without_a_common_protocol_stays_out(mixed: MixedContext) -> None:
    upgraded(mixed)
    stranger = replace(joiner(), protocols={"sticky": next(iter(joiner().protocols.values()))})
    assert mixed.join(stranger).error == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    worker = replace(joiner(), protocol_type="connect")
    assert mixed.join(worker).error == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    broken = replace(joiner(), protocols=dict.fromkeys(OFFER, b"?"))
    given = mixed.join(broken)
    assert given.error == ErrorCode.MEMBER_ID_REQUIRED
    assert mixed.join(broken.named(given.answer.member_id)).error == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_everything_is_there_after_a_crash_in_the_middle(mixed: MixedContext) -> None:
    old = classic_member(mixed)
    new = Consumer(mixed.shard, "new", "t")
    new.join()
    mixed.shard.reload()
    assert mixed.heartbeat(old, mixed.shard.group.members[old].member_epoch) == ErrorCode.REBALANCE_IN_PROGRESS
    generation = mixed.rejoin(old, list(range(PARTITIONS)))
    kept = mixed.synced(old, generation)
    mixed.shard.reload()
    mixed.rejoin(old, kept)
    new.beat()
    assert len(new.owned) == PARTITIONS - len(kept)
