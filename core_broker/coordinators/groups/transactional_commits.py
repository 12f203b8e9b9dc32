"""TxnOffsetCommit: offsets that count when a producer's transaction commits."""

from __future__ import annotations

from collections.abc import Callable

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from core_broker.coordinators.groups.group_offsets import Commit, GroupOffsets, Member
from core_broker.coordinators.groups.offset_store import TopicPartition
from core_broker.coordinators.record import TransactionalWriter


def commit_transactional_offsets(
    offsets: GroupOffsets,
    request: TxnOffsetCommitRequest,
    version: int,
    answer: Callable[[TxnOffsetCommitResponse], None],
) -> None:
    """Answers when the offsets are durable; each partition has a code of its own."""
    response = TxnOffsetCommitResponse()
    accepted: list[TxnOffsetCommitResponsePartition] = []
    commits: list[Commit] = []
    for topic in request.topics:
        answers = []
        for partition in topic.partitions:
            error = offsets.check_metadata(partition.committed_metadata)
            answered = TxnOffsetCommitResponsePartition(partition_index=partition.partition_index, error_code=error)
            answers.append(answered)
            if error == ErrorCode.NONE:
                accepted.append(answered)
                commits.append(
                    Commit(
                        TopicPartition(topic.name, partition.partition_index),
                        partition.committed_offset,
                        partition.committed_leader_epoch,
                        partition.committed_metadata,
                    )
                )
        response.topics.append(TxnOffsetCommitResponseTopic(name=topic.name, partitions=answers))

    def refuse(error: KafkaError) -> None:
        for partition in accepted:
            partition.error_code = error.code

    def then(error: KafkaError | None) -> None:
        if error is not None:
            refuse(error)
        answer(response)

    member = Member(request.member_id, request.group_instance_id, request.generation_id)
    try:
        offsets.check_transactional_commit(request.group_id, member, version)
    except KafkaError as error:
        for topic_answer in response.topics:
            for partition_answer in topic_answer.partitions:
                partition_answer.error_code = error.code
        answer(response)
        return
    writer = TransactionalWriter(request.producer_id, request.producer_epoch)
    offsets.commit(request.group_id, commits, then, writer=writer)
