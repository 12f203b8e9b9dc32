"""Offsets of groups: who may commit and delete them, what transactions do to them, and when they are forgotten."""

from __future__ import annotations

import pytest

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from core_broker.coordinators.groups.group_offsets import Member
from core_broker.coordinators.groups.offset_store import TopicPartition
from tests.core_broker.coordinators.groups.classic_context import (
    GROUP,
    INITIAL_DELAY_MS,
    SESSION_MS,
    ClassicContext,
    Heard,
    Joiner,
    subscription,
)

DAY_MS = 24 * 3_600_000
RETENTION_MS = 7 * DAY_MS
PRODUCER = 5


def expire(context: ClassicContext) -> None:
    context.shard.state.commits.expire(lambda error: None)


def delete(context: ClassicContext, *topics: str) -> None:
    context.shard.state.commits.delete(GROUP, [TopicPartition(topic, 0) for topic in topics], lambda error: None)


# Who may commit.


def test_somebody_without_a_group_keeps_offsets_here() -> None:
    context = ClassicContext()
    assert context.commit("t", 3, 42) == ErrorCode.NONE
    assert (context.committed("t", 3), context.committed("t", 4)) == (42, -1)
    assert (context.state, context.group.protocol_type) == ("Empty", "")


@pytest.mark.parametrize(("version", "error"), [(8, ErrorCode.ILLEGAL_GENERATION), (9, ErrorCode.GROUP_ID_NOT_FOUND)])
def test_a_generation_of_a_group_that_is_gone(version: int, error: ErrorCode) -> None:
    assert ClassicContext().commit("t", 0, 1, Member("m", None, 3), version=version) == error


def test_members_commit_in_their_generation() -> None:
    context = ClassicContext()
    (member,) = context.settle(Joiner())
    assert context.commit("t", 0, 1, Member(member, None, 1)) == ErrorCode.NONE
    assert context.commit("t", 0, 2, Member(member, None, 0)) == ErrorCode.ILLEGAL_GENERATION
    assert context.commit("t", 0, 2, Member("stranger", None, 1)) == ErrorCode.UNKNOWN_MEMBER_ID
    assert context.commit("t", 0, 2, Member(member, "i", 1)) == ErrorCode.UNKNOWN_MEMBER_ID
    assert context.commit("t", 0, 2) == ErrorCode.UNKNOWN_MEMBER_ID, "nobody else while there are members"
    assert context.committed("t") == 1


def test_members_commit_while_the_others_join_and_not_while_they_sync() -> None:
    context = ClassicContext()
    leader, follower = context.settle(Joiner(), Joiner())
    context.join(Joiner(member_id=leader))
    assert context.commit("t", 0, 1, Member(follower, None, 1)) == ErrorCode.NONE
    context.join(Joiner(member_id=follower))
    assert context.state == "CompletingRebalance"
    assert context.commit("t", 0, 2, Member(follower, None, 1)) == ErrorCode.ILLEGAL_GENERATION
    assert context.commit("t", 0, 2, Member(follower, None, 2)) == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_commit_is_a_sign_of_life() -> None:
    context = ClassicContext()
    (member,) = context.settle(Joiner())
    for offset in range(5):
        context.time.pass_ms(SESSION_MS - 1)
        assert context.commit("t", 0, offset, Member(member, None, 1)) == ErrorCode.NONE


@pytest.mark.parametrize(("note", "fits"), [("x" * 4096, True), ("x" * 4097, False), ("\U0001f600" * 2049, False)])
def test_notes_beside_offsets_have_a_limit(note: str, fits: bool) -> None:
    error = ClassicContext().shard.state.commits.check_metadata(note)
    assert error == (ErrorCode.NONE if fits else ErrorCode.OFFSET_METADATA_TOO_LARGE)


# Transactions.


def test_an_offset_of_a_transaction_counts_when_it_commits() -> None:
    context = ClassicContext()
    context.commit("t", 0, 1)
    context.commit("t", 0, 9, producer_id=PRODUCER)
    assert context.committed("t") == 1
    assert context.committed("t", stable=True) == "UNSTABLE_OFFSET_COMMIT"
    context.shard.mark(PRODUCER, commits=True)
    assert (context.committed("t"), context.committed("t", stable=True)) == (9, 9)


def test_an_offset_of_a_transaction_is_forgotten_when_it_aborts() -> None:
    context = ClassicContext()
    context.commit("t", 0, 9, producer_id=PRODUCER)
    context.shard.mark(PRODUCER, commits=False)
    assert context.committed("t", stable=True) == -1


def test_what_was_written_later_wins() -> None:
    context = ClassicContext()
    context.commit("t", 0, 9, producer_id=PRODUCER)
    context.commit("t", 0, 3)
    context.shard.mark(PRODUCER, commits=True)
    assert context.committed("t") == 3, "the plain commit stands later in the log"


def test_a_deleted_offset_does_not_come_back_with_a_transaction() -> None:
    context = ClassicContext()
    context.commit("t", 0, 9, producer_id=PRODUCER)
    delete(context, "t")
    context.shard.mark(PRODUCER, commits=True)
    assert context.committed("t", stable=True) == -1


def test_transactions_do_not_ask_for_the_state_of_the_group() -> None:
    context = ClassicContext()
    leader, _ = context.join_with_id()
    context.time.pass_ms(INITIAL_DELAY_MS)
    assert context.state == "CompletingRebalance"
    assert context.commit("t", 0, 1, Member(leader, None, 1), producer_id=PRODUCER) == ErrorCode.NONE
    assert context.commit("t", 0, 1, producer_id=PRODUCER) == ErrorCode.NONE, "older producers do not say for whom"
    assert context.commit("t", 0, 1, Member(leader, None, 0), producer_id=PRODUCER) == ErrorCode.ILLEGAL_GENERATION
    stranger = Member("stranger", None, 1)
    assert context.commit("t", 0, 1, stranger, producer_id=PRODUCER) == ErrorCode.UNKNOWN_MEMBER_ID
    gone = context.commit("t", 0, 1, Member("m", None, 1), group_id="gone", producer_id=PRODUCER)
    assert gone == ErrorCode.ILLEGAL_GENERATION


def txn_commit(context: ClassicContext, *partitions: tuple[int, int, str], generation: int = -1) -> list[int]:
    request = TxnOffsetCommitRequest(
        transactional_id="tx",
        group_id=GROUP,
        producer_id=PRODUCER,
        generation_id=generation,
        topics=[
            TxnOffsetCommitRequestTopic(
                name="t",
                partitions=[
                    TxnOffsetCommitRequestPartition(
                        partition_index=index, committed_offset=offset, committed_metadata=note
                    )
                    for index, offset, note in partitions
                ],
            )
        ],
    )
    heard: Heard[TxnOffsetCommitResponse] = Heard()
    context.shard.state.commit_transactional_offsets(request, 5, heard.append)
    return [partition.error_code for topic in heard.answer.topics for partition in topic.partitions]


def test_each_partition_of_a_transactional_commit_has_its_own_answer() -> None:
    context = ClassicContext()
    assert txn_commit(context, (0, 7, "note"), (1, 8, "x" * 5000)) == [0, ErrorCode.OFFSET_METADATA_TOO_LARGE]
    context.shard.mark(PRODUCER, commits=True)
    assert (context.committed("t"), context.committed("t", 1)) == (7, -1)
    assert txn_commit(context, (0, 7, ""), generation=3) == [ErrorCode.UNKNOWN_MEMBER_ID]
    context.shard.is_broken = True
    assert txn_commit(context, (0, 8, "")) == [ErrorCode.NOT_COORDINATOR]


# Deleting.


def test_offsets_of_topics_that_nobody_consumes_may_be_deleted() -> None:
    context = ClassicContext()
    context.commit("t", 0, 1)
    context.commit("u", 0, 2)
    context.settle(Joiner())
    group = context.shard.state.commits.check_delete(GROUP)
    assert group.subscribes_to("t")
    assert not group.subscribes_to("u")
    delete(context, "u")
    assert (context.committed("t"), context.committed("u")) == (1, -1)


@pytest.mark.parametrize("metadata", [b"", b"\0\1\0\0", b"\0\0\x7f\xff\xff\xff"])
def test_consumers_that_do_not_tell_their_topics_are_taken_to_consume_all(metadata: bytes) -> None:
    context = ClassicContext()
    context.settle(Joiner(protocols={"range": metadata}))
    assert context.group.subscribes_to("anything")


def test_offsets_of_other_groups_with_members_may_not_be_deleted() -> None:
    context = ClassicContext()
    context.settle(Joiner(protocol_type="connect"))
    with pytest.raises(KafkaError) as refused:
        context.shard.state.commits.check_delete(GROUP)
    assert refused.value.code == ErrorCode.NON_EMPTY_GROUP


def test_only_empty_groups_may_be_deleted() -> None:
    context = ClassicContext()
    with pytest.raises(KafkaError) as unknown:
        context.shard.state.commits.delete_group(GROUP, lambda error: None)
    assert unknown.value.code == ErrorCode.GROUP_ID_NOT_FOUND
    (member,) = context.settle(Joiner())
    context.commit("t", 0, 1, Member(member, None, 1))
    context.commit("u", 0, 2, Member(member, None, 1), producer_id=PRODUCER)
    with pytest.raises(KafkaError) as busy:
        context.shard.state.commits.delete_group(GROUP, lambda error: None)
    assert busy.value.code == ErrorCode.NON_EMPTY_GROUP
    context.leave((member, None))
    context.shard.state.commits.delete_group(GROUP, lambda error: None)
    context.shard.mark(PRODUCER, commits=True)
    assert not context.shard.state.groups
    assert (context.committed("t"), context.committed("u")) == (-1, -1)


def test_the_offsets_of_a_deleted_topic_are_forgotten() -> None:
    context = ClassicContext()
    context.commit("t", 0, 1)
    context.commit("u", 0, 2)
    context.commit("t", 1, 3, producer_id=PRODUCER)
    context.shard.state.commits.forget_topics({"t"}.__contains__, lambda error: None)
    context.shard.mark(PRODUCER, commits=True)
    assert [context.committed("t"), context.committed("t", 1), context.committed("u")] == [-1, -1, 2]


def test_many_tombstones_are_written_in_several_batches() -> None:
    context = ClassicContext()
    group_id = "g" * 20_000
    for partition in range(40):
        context.commit("t", partition, 1, group_id=group_id)
    before = len(context.shard.log)
    heard: list[KafkaError | None] = []
    context.shard.state.commits.delete_group(group_id, heard.append)
    assert heard == [None]
    assert len(context.shard.log) == before + 41


# Growing old.


def test_offsets_without_a_group_grow_old_from_their_commit() -> None:
    context = ClassicContext()
    context.commit("t", 0, 1)
    context.time.pass_ms(DAY_MS)
    context.commit("t", 1, 2)
    context.time.pass_ms(RETENTION_MS - DAY_MS - 1)
    expire(context)
    assert context.committed("t") == 1
    context.time.pass_ms(1)
    expire(context)
    assert (context.committed("t"), context.committed("t", 1)) == (-1, 2)
    context.time.pass_ms(DAY_MS)
    expire(context)
    assert not context.shard.state.groups, "a group without members and offsets is deleted"


def test_offsets_of_a_group_grow_old_from_when_it_became_empty() -> None:
    context = ClassicContext()
    (member,) = context.settle(Joiner())
    context.commit("t", 0, 1, Member(member, None, 1))
    for _ in range(10):
        context.time.pass_ms(SESSION_MS - 1)
        context.heartbeat(member, 1)
    context.leave((member, None))
    context.time.pass_ms(RETENTION_MS - 1)
    context.shard.reload()
    expire(context)
    assert context.committed("t") == 1
    context.time.pass_ms(1)
    expire(context)
    assert not context.shard.state.groups


def test_offsets_of_a_group_with_members_grow_old_only_for_topics_that_they_left() -> None:
    context = ClassicContext()
    hours_ms = 1_800_000
    context.commit("u", 0, 2)
    (member,) = context.settle(Joiner(session_ms=hours_ms))
    context.commit("t", 0, 1, Member(member, None, 1))
    for _ in range(2 * RETENTION_MS // hours_ms):
        context.time.pass_ms(hours_ms - 1)
        assert context.heartbeat(member, 1) == ErrorCode.NONE
    expire(context)
    assert (context.committed("t"), context.committed("u")) == (1, -1)
    assert context.state == "Stable"


def test_offsets_of_a_group_of_another_type_do_not_grow_old_while_it_has_members() -> None:
    context = ClassicContext(offsets_retention_ms=1)
    (member,) = context.settle(Joiner(protocol_type="connect"))
    context.commit("t", 0, 1, Member(member, None, 1))
    context.time.pass_ms(5)
    expire(context)
    assert context.committed("t") == 1


def test_offsets_with_a_retention_of_their_own() -> None:
    context = ClassicContext()
    context.commit("t", 0, 1, retention_ms=1000)
    context.shard.reload()
    context.time.pass_ms(999)
    expire(context)
    assert context.committed("t") == 1
    context.time.pass_ms(1)
    expire(context)
    assert context.committed("t") == -1


def test_offsets_that_a_transaction_may_change_do_not_grow_old() -> None:
    context = ClassicContext()
    context.commit("t", 0, 1)
    context.commit("t", 0, 2, producer_id=PRODUCER)
    context.commit("u", 0, 3)
    context.time.pass_ms(RETENTION_MS)
    expire(context)
    assert (context.committed("t"), context.committed("u")) == (1, -1)
    context.shard.mark(PRODUCER, commits=False)
    expire(context)
    assert not context.shard.state.groups


def test_a_group_that_an_open_transaction_has_offsets_for_is_not_deleted() -> None:
    context = ClassicContext()
    context.commit("t", 0, 2, producer_id=PRODUCER)
    context.time.pass_ms(RETENTION_MS)
    expire(context)
    assert GROUP in context.shard.state.groups


def test_an_empty_group_that_never_had_offsets_is_deleted() -> None:
    context = ClassicContext()
    context.join(Joiner(protocols={"range": subscription()}))
    assert GROUP in context.shard.state.groups
    expire(context)
    assert not context.shard.state.groups
    assert context.time.pending_count == 0
