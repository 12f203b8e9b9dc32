"""DescribeTopicPartitions (key 75), version 0: topics in the order of their names, as many partitions at a time as fit."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from core_broker.apis.authorized_operations import topic_operations
from core_broker.context import RequestContext
from core_broker.metadata.image import TopicImage
from core_broker.metadata.topic_names import INTERNAL_TOPICS, check_topic_name
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker


def handle(
    broker: Broker, context: RequestContext, request: DescribeTopicPartitionsRequest
) -> DescribeTopicPartitionsResponse:
    asked = {topic.name for topic in request.topics}
    cursor = request.cursor
    if cursor is not None and (cursor.partition_index < 0 or (asked and cursor.topic_name not in asked)):
        return _refuse(request)
    names = sorted(asked or broker.metadata.image.topics)
    first = 0
    if cursor is not None:
        names = names[bisect_left(names, cursor.topic_name) :]
        first = cursor.partition_index if names and names[0] == cursor.topic_name else 0
    left = max(1, min(request.response_partition_limit, broker.settings.integer("max.request.partition.size.limit")))
    topics: list[DescribeTopicPartitionsResponseTopic] = []
    for name in names:
        visible = broker.authorizer.allows(context, Operation.DESCRIBE, ResourceType.TOPIC, name)
        if not visible and not asked:
            continue
        if left == 0:
            return DescribeTopicPartitionsResponse(
                topics=topics, next_cursor=Cursor(topic_name=name, partition_index=0)
            )
        topic = broker.metadata.image.topics.get(name)
        if not visible:
            topics.append(_absent(name, ErrorCode.TOPIC_AUTHORIZATION_FAILED))
        elif topic is None:
            topics.append(_unknown(broker, context, name))
        else:
            end = min(len(topic.partitions), first + left)
            topics.append(_present(broker, context, topic, first, end))
            left -= max(0, end - first)
            if end < len(topic.partitions):
                return DescribeTopicPartitionsResponse(
                    topics=topics, next_cursor=Cursor(topic_name=name, partition_index=end)
                )
        first = 0
    return DescribeTopicPartitionsResponse(topics=topics)


def _present(
    broker: Broker, context: RequestContext, topic: TopicImage, first: int, end: int
) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                partition_index=index,
                leader_id=partition.leader,
                leader_epoch=partition.leader_epoch,
                replica_nodes=list(partition.replicas),
                isr_nodes=list(partition.isr),
                eligible_leader_replicas=[],
                last_known_elr=[],
            )
            for index, partition in enumerate(topic.partitions[first:end], first)
        ],
        topic_authorized_operations=topic_operations(broker, context, topic.name),
    )


def _unknown(broker: Broker, context: RequestContext, name: str) -> DescribeTopicPartitionsResponseTopic:
    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    try:
        check_topic_name(name)
    except KafkaError as invalid:
        error = invalid.code
    answer = _absent(name, error)
    answer.topic_authorized_operations = topic_operations(broker, context, name)
    return answer


def _absent(name: str, error: ErrorCode) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(name=name, error_code=error, is_internal=name in INTERNAL_TOPICS)


def _refuse(request: DescribeTopicPartitionsRequest) -> DescribeTopicPartitionsResponse:
    """The cursor points nowhere that this request could have led to."""
    return DescribeTopicPartitionsResponse(
        topics=[
            DescribeTopicPartitionsResponseTopic(name=topic.name, error_code=ErrorCode.INVALID_REQUEST)
            for topic in request.topics
        ]
    )
