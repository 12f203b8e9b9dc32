"""OffsetCommit (key 8), versions 2 to 10.

v2-4 a retention of the client's own; v6 leader epochs; v7 static members; v8 flexible; v9 consumer groups (KIP-848); v10 topic ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from core_broker.context import RequestContext
from core_broker.coordinators.groups.group import PartitionCheck
from core_broker.coordinators.groups.group_offsets import Commit, Member
from core_broker.coordinators.groups.offset_store import TopicPartition
from core_broker.deferred import Deferred
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

TOPIC_ID_VERSION: Final = 10


def handle(
    broker: Broker, context: RequestContext, request: OffsetCommitRequest
) -> OffsetCommitResponse | Deferred[OffsetCommitResponse]:
    work = CommitWork(broker, context, request)
    if not broker.authorizer.allows(context, Operation.READ, ResourceType.GROUP, request.group_id):
        return work.refuse_all(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    return work.run()


class CommitWork:
    """One request: each partition is refused or accepted alone, and what is accepted becomes durable together."""

    __slots__ = ("_accepted", "_broker", "_commits", "_context", "_deferred", "_is_written", "_request", "_response")

    def __init__(self, broker: Broker, context: RequestContext, request: OffsetCommitRequest) -> None:
        self._broker = broker
        self._context = context
        self._request = request
        self._response = OffsetCommitResponse(topics=[])
        self._accepted: list[OffsetCommitResponsePartition] = []
        self._commits: list[Commit] = []
        self._deferred: Deferred[OffsetCommitResponse] | None = None
        self._is_written = False

    def refuse_all(self, error: int) -> OffsetCommitResponse:
        for topic in self._request.topics:
            self._answer(topic, [_answered(partition.partition_index, error) for partition in topic.partitions])
        return self._response

    def run(self) -> OffsetCommitResponse | Deferred[OffsetCommitResponse]:
        request = self._request
        for topic in request.topics:
            self._take(topic)
        if not self._commits:
            return self._response
        try:
            commits = self._broker.groups.lookup(request.group_id).state.commits
            member = Member(request.member_id, request.group_instance_id, request.generation_id_or_member_epoch)
            check = commits.check_commit(request.group_id, member, self._context.version)
        except KafkaError as error:
            self._fail(error)
            return self._response
        accepted = []
        for answer, commit in zip(self._accepted, self._commits, strict=True):
            answer.error_code = self._check_partition(check, commit) or commits.check_metadata(commit.metadata)
            if answer.error_code == ErrorCode.NONE:
                accepted.append(commit)
        commits.commit(request.group_id, accepted, self._written, retention_ms=request.retention_time_ms)
        if self._is_written:
            return self._response
        self._deferred = Deferred()
        # What is written next to the same shard becomes durable no earlier, and answers keep their order.
        self._deferred.release()
        return self._deferred

    def _written(self, error: KafkaError | None) -> None:
        """The offsets are durable, or could not be made so; on a relaxed topic that is known before anybody waits."""
        self._is_written = True
        if error is not None:
            self._fail(error)
        if self._deferred is not None:
            self._deferred.resolve(self._response)

    def _check_partition(self, check: PartitionCheck | None, commit: Commit) -> ErrorCode:
        if check is None:
            return ErrorCode.NONE
        topic, partition = commit.where
        try:
            check(topic, self._broker.metadata.image.topics[topic].topic_id, partition)
        except KafkaError as error:
            return error.code
        return ErrorCode.NONE

    def _take(self, topic: OffsetCommitRequestTopic) -> None:
        broker = self._broker
        by_id = self._context.version >= TOPIC_ID_VERSION
        name = broker.topic_name(topic.topic_id) if by_id else topic.name
        image = None if name is None else broker.metadata.image.topics.get(name)
        error = ErrorCode.NONE
        if name is None:
            error = ErrorCode.UNKNOWN_TOPIC_ID
        elif not broker.authorizer.allows(self._context, Operation.READ, ResourceType.TOPIC, name):
            error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        elif image is None:
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if name is None or image is None or error:
            self._answer(topic, [_answered(partition.partition_index, error) for partition in topic.partitions])
            return
        count = len(image.partitions)
        answers = []
        for partition in topic.partitions:
            index = partition.partition_index
            answer = _answered(index, ErrorCode.NONE)
            answers.append(answer)
            if 0 <= index < count:
                self._accepted.append(answer)
                self._commits.append(
                    Commit(
                        TopicPartition(name, index),
                        partition.committed_offset,
                        partition.committed_leader_epoch,
                        partition.committed_metadata,
                        image.topic_id,
                    )
                )
            else:
                answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        self._answer(topic, answers)

    def _answer(self, topic: OffsetCommitRequestTopic, partitions: list[OffsetCommitResponsePartition]) -> None:
        self._response.topics.append(
            OffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id, partitions=partitions)
        )

    def _fail(self, error: KafkaError) -> None:
        for answer in self._accepted:
            if answer.error_code == ErrorCode.NONE:
                answer.error_code = error.code


def _answered(index: int, error: int) -> OffsetCommitResponsePartition:
    return OffsetCommitResponsePartition(partition_index=index, error_code=error)
