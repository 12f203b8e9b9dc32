"""OffsetForLeaderEpoch (key 23), versions 2 to 4: where a leader epoch ended, by which a client sees what it lost.

v3 who asks; v4 flexible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)
from core_broker.context import RequestContext
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker


def handle(
    broker: Broker, context: RequestContext, request: OffsetForLeaderEpochRequest
) -> OffsetForLeaderEpochResponse:
    topics = []
    for topic in request.topics:
        answers = []
        for asked in topic.partitions:
            try:
                answers.append(_look_up(broker, context, topic.topic, asked))
            except KafkaError as error:
                answers.append(EpochEndOffset(partition=asked.partition, error_code=error.code))
        topics.append(OffsetForLeaderTopicResult(topic=topic.topic, partitions=answers))
    return OffsetForLeaderEpochResponse(topics=topics)


def _look_up(broker: Broker, context: RequestContext, topic: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
    if not broker.authorizer.allows(context, Operation.DESCRIBE, ResourceType.TOPIC, topic):
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    partition = broker.partition(topic, asked.partition)
    if partition is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    partition.check_leader_epoch(asked.current_leader_epoch)
    found = partition.log.end_offset_for_epoch(asked.leader_epoch)
    if found is None:
        return EpochEndOffset(partition=asked.partition)
    return EpochEndOffset(partition=asked.partition, leader_epoch=found.epoch, end_offset=found.end_offset)
