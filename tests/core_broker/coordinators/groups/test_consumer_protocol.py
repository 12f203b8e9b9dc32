"""The consumer protocol on virtual time: who has what, when, and what the log says of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.records.group_offsets import ConsumerGroupPartitionMetadataKey, ConsumerGroupPartitionMetadataValue
from core_broker.coordinators.groups.consumer_group import ConsumerGroup
from core_broker.coordinators.groups.group_offsets import Commit
from core_broker.coordinators.groups.offset_store import TopicPartition
from core_broker.coordinators.record import CoordinatorRecord
from tests.core_broker.coordinators.groups.consumer_context import (
    ASSIGNMENT_INTERVAL_MS,
    GROUP,
    REBALANCE_MS,
    SESSION_MS,
    SETTINGS,
    Consumer,
    ConsumerShard,
    HandMadeCluster,
    settle,
)
from tests.core_broker.coordinators.virtual_time import VirtualTime


@pytest.fixture
def shard() -> ConsumerShard:
    shard = ConsumerShard(VirtualTime(), HandMadeCluster())
    shard.set_topic("t", 6)
    return shard


def joined(shard: ConsumerShard, *member_ids: str) -> list[Consumer]:
    members = [Consumer(shard, member_id, "t") for member_id in member_ids]
    for position, member in enumerate(members):
        member.join()
        settle(*members[: position + 1])
    return members


def contents(group: ConsumerGroup) -> dict[str, object]:
    """What a group is, without what it remembers of its own."""
    return {
        "epochs": (group.group_epoch, group.assignment_epoch, group.assignment_time_ms, group.metadata_hash),
        "members": group.members,
        "static": group.static_members,
        "target": group.target,
        "regexes": group.regexes,
        "counts": (group.topic_counts, group.regex_counts, group.classic_count),
        "owners": {
            (topic_id, number): group.partition_epoch(topic_id, number)
            for topic_id in {key for member in group.members.values() for key in member.assigned}
            for number in range(10)
        },
    }


def assert_replay_gives_the_same(shard: ConsumerShard) -> None:
    rebuilt = shard.rebuilt().groups[GROUP]
    assert isinstance(rebuilt, ConsumerGroup)
    assert contents(rebuilt) == contents(shard.group)


def test_partitions_change_hands_only_after_they_were_given_up(shard: ConsumerShard) -> None:
    (first,) = joined(shard, "a")
    assert first.partitions("t") == [0, 1, 2, 3, 4, 5]
    second = Consumer(shard, "b", "t")
    second.join()
    assert second.owned == set(), "the first still has everything"
    assert shard.group.state_name == "Reconciling"
    before = set(first.owned)
    first.beat()
    assert len(first.owned) == 3
    second.beat()
    assert second.owned == set(), "the first was told, and has not said that it did"
    first.beat()
    second.beat()
    assert second.owned == before - first.owned
    assert shard.group.state_name == "Stable"
    assert_replay_gives_the_same(shard)


def test_a_member_without_an_id_is_given_one(shard: ConsumerShard) -> None:
    first, second = (Consumer(shard, "", "t").join() for _ in range(2))
    assert first.member_id
    assert second.member_id
    assert set(shard.group.members) == {first.member_id, second.member_id}


def test_offsets_that_were_there_before_the_group_stay(shard: ConsumerShard) -> None:
    where = TopicPartition("t", 0)
    shard.state.commits.commit(GROUP, [Commit(where, 7, -1, "")], lambda error: None)
    joined(shard, "a")
    shard.reload()
    assert shard.state.commits.fetch(GROUP, where, require_stable=False).offset == 7
    assert shard.group.state_name == "Stable"


def test_a_silent_member_is_removed_and_its_partitions_are_free_at_once(shard: ConsumerShard) -> None:
    first, second = joined(shard, "a", "b")
    shard.time.pass_ms(SESSION_MS - 1)
    second.beat()
    shard.time.pass_ms(1)
    assert list(shard.group.members) == ["b"]
    settle(second)
    assert second.partitions("t") == [0, 1, 2, 3, 4, 5]
    assert first.beat().error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_heartbeats_keep_a_session_without_new_timers(shard: ConsumerShard) -> None:
    (member,) = joined(shard, "a")
    timers = shard.time.pending_count
    for _ in range(20):
        shard.time.pass_ms(SESSION_MS // 2)
        assert member.beat().error_code == ErrorCode.NONE
        assert shard.time.pending_count == timers


def test_who_does_not_give_up_partitions_in_time_is_removed(shard: ConsumerShard) -> None:
    (first,) = joined(shard, "a")
    second = Consumer(shard, "b", "t")
    second.join()
    first.beat()
    kept = set(first.owned)
    answers = []
    for _ in range(2):
        shard.time.pass_ms(REBALANCE_MS // 2)
        second.beat()
        # It is alive, and says again and again that it has everything.
        first.owned = kept | {(topic_id, number) for topic_id, number in kept for number in range(6)}
        answers.append(first.beat().error_code)
    assert answers == [ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID]
    settle(second)
    assert second.partitions("t") == [0, 1, 2, 3, 4, 5]


def test_a_static_member_that_does_not_come_back_loses_its_place(shard: ConsumerShard) -> None:
    first = Consumer(shard, "a", "t", instance_id="one")
    first.join()
    second = Consumer(shard, "b", "t")
    second.join()
    settle(first, second)
    first.leave(-2)
    assert len(second.owned) == 3
    shard.time.pass_ms(SESSION_MS - 1)
    second.beat()
    assert set(shard.group.members) == {"a", "b"}
    shard.time.pass_ms(1)
    settle(second)
    assert second.partitions("t") == [0, 1, 2, 3, 4, 5]


def test_a_static_member_comes_back_to_what_it_had(shard: ConsumerShard) -> None:
    first = Consumer(shard, "a", "t", instance_id="one")
    first.join()
    second = Consumer(shard, "b", "t")
    second.join()
    settle(first, second)
    had, epoch = set(first.owned), shard.group.group_epoch
    first.leave(-2)
    again = Consumer(shard, "c", "t", instance_id="one")
    again.join()
    assert again.owned == had
    assert shard.group.group_epoch == epoch, "nothing had to move"
    assert_replay_gives_the_same(shard)


def test_assignments_come_no_more_often_than_the_interval(shard: ConsumerShard) -> None:
    shard.cluster.settings = replace(SETTINGS, assignment_interval_ms=ASSIGNMENT_INTERVAL_MS)
    first = Consumer(shard, "a", "t")
    first.join()
    assert len(first.owned) == 6, "the first assignment need not wait"
    others = [Consumer(shard, member_id, "t") for member_id in "bc"]
    for other in others:
        other.join()
    assert shard.group.state_name == "Assigning"
    epoch = shard.group.assignment_epoch
    settle(first, *others)
    assert shard.group.assignment_epoch == epoch
    shard.time.pass_ms(ASSIGNMENT_INTERVAL_MS)
    settle(first, *others)
    assert shard.group.assignment_epoch == shard.group.group_epoch
    assert [len(member.owned) for member in (first, *others)] == [2, 2, 2]


def test_a_clock_that_is_set_back_does_not_stop_assignments(shard: ConsumerShard) -> None:
    shard.cluster.settings = replace(SETTINGS, assignment_interval_ms=ASSIGNMENT_INTERVAL_MS)
    (first,) = joined(shard, "a")
    group = shard.group
    group.assignment_time_ms = shard.time.now_ms() + 3_600_000
    second = Consumer(shard, "b", "t")
    second.join()
    settle(first, second)
    assert len(second.owned) == 3


def test_topics_that_are_made_grow_and_go(shard: ConsumerShard) -> None:
    member = Consumer(shard, "a", "t", "u")
    member.join()
    epoch = shard.group.group_epoch
    shard.set_topic("u", 2)
    settle(member)
    assert member.partitions("u") == [0, 1]
    shard.set_topic("u", 3)
    settle(member)
    assert member.partitions("u") == [0, 1, 2]
    shard.set_topic("x", 1)
    settle(member)
    assert shard.group.group_epoch == epoch + 2, "a topic that nobody subscribes to changes nothing"
    gone = shard.cluster.topic_id("u")
    shard.set_topic("u", 0)
    settle(member)
    assert gone not in {topic_id for topic_id, _ in member.owned}
    assert_replay_gives_the_same(shard)


def test_patterns_match_what_may_be_seen_and_follow_new_topics(shard: ConsumerShard) -> None:
    for name in ("a1", "a2", "secret-a"):
        shard.set_topic(name, 1)
    shard.cluster.hidden = {"a2"}
    member = Consumer(shard, "m")
    member.regex = "a."
    assert member.join().error_code == ErrorCode.NONE
    settle(member)
    assert member.owned == set()
    shard.cluster.work()
    settle(member)
    assert {shard.cluster.image.topic_names[topic_id] for topic_id, _ in member.owned} == {"a1"}
    shard.cluster.hidden = set()
    shard.set_topic("a3", 1)
    member.beat()
    shard.cluster.work()
    settle(member)
    assert len(member.owned) == 1, "patterns are not matched again so soon"
    shard.time.pass_ms(10_001)
    member.beat()
    shard.cluster.work()
    settle(member)
    assert {shard.cluster.image.topic_names[topic_id] for topic_id, _ in member.owned} == {"a1", "a2", "a3"}
    assert_replay_gives_the_same(shard)
    member.leave()
    assert shard.group.regexes == {}


def test_patterns_are_matched_again_from_time_to_time(shard: ConsumerShard) -> None:
    shard.set_topic("a1", 1)
    shard.cluster.hidden = {"a1"}
    member = Consumer(shard, "m")
    member.regex = "a1|t"
    member.join()
    shard.cluster.work()
    settle(member)
    assert len(member.owned) == 6
    shard.cluster.hidden = set()
    for _ in range(41):
        shard.time.pass_ms(SETTINGS.regex_refresh_interval_ms // 40)
        member.beat()
    shard.cluster.work()
    settle(member)
    assert len(member.owned) == 7


def test_an_answer_that_comes_after_the_group_is_gone_is_dropped(shard: ConsumerShard) -> None:
    member = Consumer(shard, "m")
    member.regex = "t"
    member.join()
    member.leave()
    length = len(shard.log)
    shard.cluster.work()
    assert len(shard.log) == length


def test_an_answer_that_comes_after_the_shard_is_gone_is_dropped(shard: ConsumerShard) -> None:
    member = Consumer(shard, "m")
    member.regex = "t"
    member.join()
    length = len(shard.log)
    shard.reload()
    shard.cluster.work()
    assert len(shard.log) == length
    settle(member)
    shard.cluster.work()
    settle(member)
    assert member.partitions("t") == [0, 1, 2, 3, 4, 5], "the new broker matches for itself"


def test_a_full_group_takes_nobody_else(shard: ConsumerShard) -> None:
    shard.cluster.settings = replace(SETTINGS, members_max=2)
    first, _ = joined(shard, "a", "b")
    assert Consumer(shard, "c", "t").join().error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert first.join().error_code == ErrorCode.NONE


def test_a_connection_brings_so_many_members_and_no_more() -> None:
    shard = ConsumerShard(VirtualTime(), HandMadeCluster(), connection_members_max=2)
    shard.set_topic("t", 6)
    first, second = joined(shard, "a", "b")
    assert Consumer(shard, "c", "t").join().error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert second.join().error_code == ErrorCode.NONE, "it is one of them"
    first.leave()
    assert Consumer(shard, "c", "t").join().error_code == ErrorCode.NONE
    shard.time.pass_ms(SESSION_MS)
    assert shard.group.members == {}
    assert shard.connection.count == 0


def test_what_could_not_be_written_did_not_happen(shard: ConsumerShard) -> None:
    (first,) = joined(shard, "a")
    before = contents(shard.group)
    shard.is_broken = True
    second = Consumer(shard, "b", "t")
    assert second.join().error_code == ErrorCode.NOT_COORDINATOR
    shard.set_topic("t", 7)
    assert first.beat().error_code == ErrorCode.NOT_COORDINATOR
    assert contents(shard.group) == before
    shard.is_broken = False
    settle(first)
    assert len(first.owned) == 7, "the topic's growth was not forgotten"
    second.join()
    settle(first, second)


def test_a_member_whose_removal_could_not_be_written_is_removed_later(shard: ConsumerShard) -> None:
    joined(shard, "a")
    shard.is_broken = True
    shard.time.pass_ms(SESSION_MS)
    assert list(shard.group.members) == ["a"]
    shard.is_broken = False
    shard.time.pass_ms(SESSION_MS)
    assert shard.group.members == {}


def test_answers_wait_until_the_records_are_durable(shard: ConsumerShard) -> None:
    shard.is_slow = True
    with pytest.raises(ValueError, match="not enough values"):
        Consumer(shard, "a", "t").join()
    assert list(shard.group.members) == ["a"], "replayed, not answered"


def test_members_have_their_whole_time_after_a_restart(shard: ConsumerShard) -> None:
    (first,) = joined(shard, "a")
    second = Consumer(shard, "b", "t")
    second.join()
    first.beat()
    shard.time.pass_ms(SESSION_MS - 1)
    shard.reload()
    shard.time.pass_ms(SESSION_MS - 1)
    assert set(shard.group.members) == {"a", "b"}
    first.beat()
    second.beat()
    first.beat()
    settle(first, second)
    assert len(first.owned) == len(second.owned) == 3


def test_offsets_are_committed_in_the_epoch_of_the_partition(shard: ConsumerShard) -> None:
    first, second = joined(shard, "a", "b")
    group, topic_id = shard.group, shard.cluster.topic_id("t")
    mine, others = first.partitions("t"), second.partitions("t")

    def check(epoch: int, partition: int, *, transactional: bool = False) -> None:
        partition_check = group.check_offset_commit("a", None, epoch, transactional=transactional, version=9)
        if partition_check is not None:
            partition_check("t", topic_id, partition)

    check(first.epoch, mine[0])
    with pytest.raises(KafkaError) as refused:
        check(first.epoch + 1, mine[0])
    assert refused.value.code == ErrorCode.STALE_MEMBER_EPOCH
    # It has had this partition since the first assignment, and may commit in every epoch since then.
    check(2, mine[0])
    for epoch, partition in ((1, mine[0]), (2, others[0])):
        with pytest.raises(KafkaError) as refused:
            check(epoch, partition)
        assert refused.value.code == ErrorCode.STALE_MEMBER_EPOCH
    with pytest.raises(KafkaError) as refused:
        group.check_offset_commit("a", None, first.epoch, transactional=False, version=8)
    assert refused.value.code == ErrorCode.UNSUPPORTED_VERSION
    with pytest.raises(KafkaError) as refused:
        group.check_offset_commit("x", None, 1, transactional=False, version=9)
    assert refused.value.code == ErrorCode.UNKNOWN_MEMBER_ID
    with pytest.raises(KafkaError) as refused:
        group.check_offset_fetch("a", first.epoch + 1)
    assert refused.value.code == ErrorCode.STALE_MEMBER_EPOCH
    group.check_offset_fetch("a", first.epoch)
    group.check_offset_fetch(None, -1)


def test_a_record_of_older_brokers_is_deleted_with_the_next_change(shard: ConsumerShard) -> None:
    joined(shard, "a")
    old = CoordinatorRecord(
        ConsumerGroupPartitionMetadataKey(group_id=GROUP), ConsumerGroupPartitionMetadataValue(topics=[])
    )
    shard.write([old], lambda error: None)
    assert shard.group.has_partition_metadata
    Consumer(shard, "b", "t").join()
    assert not shard.group.has_partition_metadata


def test_a_deleted_group_is_gone_from_the_log_too(shard: ConsumerShard) -> None:
    (member,) = joined(shard, "a")
    with pytest.raises(KafkaError):
        shard.group.check_delete()
    member.leave()
    shard.group.check_delete()
    shard.write(shard.group.tombstones(), lambda error: None)
    assert GROUP not in shard.state.groups
    assert GROUP not in shard.rebuilt().groups
    assert shard.time.pending_count == 0
