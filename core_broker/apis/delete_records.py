"""DeleteRecords (key 21), versions 0 to 2: gives up the records of a partition below an offset. v2 flexible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from core_broker.context import RequestContext
from core_broker.metadata.config_view import topic_config
from core_broker.metadata.topic_names import INTERNAL_TOPICS
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

HIGH_WATERMARK: Final = -1
UNKNOWN: Final = -1


def handle(broker: Broker, context: RequestContext, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
    topics = []
    for topic in request.topics:
        answers = []
        for asked in topic.partitions:
            answer = DeleteRecordsPartitionResult(partition_index=asked.partition_index, low_watermark=UNKNOWN)
            answers.append(answer)
            try:
                answer.low_watermark = _delete(broker, context, topic.name, asked)
            except KafkaError as error:
                answer.error_code = error.code
        topics.append(DeleteRecordsTopicResult(name=topic.name, partitions=answers))
    return DeleteRecordsResponse(topics=topics)


def _delete(broker: Broker, context: RequestContext, topic: str, asked: DeleteRecordsPartition) -> int:
    """The new start of the log."""
    if not broker.authorizer.allows(context, Operation.DELETE, ResourceType.TOPIC, topic):
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    partition = broker.partition(topic, asked.partition_index)
    if partition is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if topic in INTERNAL_TOPICS:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"records of {topic}, an internal topic, cannot be deleted")
    policy = topic_config(broker.settings, broker.metadata.image, broker.node_id, topic).items_of("cleanup.policy")
    if "compact" in policy and "delete" not in policy:
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION, f"{topic} is compacted; its cleanup.policy does not include delete"
        )
    offset = partition.high_watermark if asked.offset == HIGH_WATERMARK else asked.offset
    if not 0 <= offset <= partition.high_watermark:
        raise KafkaError(
            ErrorCode.OFFSET_OUT_OF_RANGE, f"offset {offset} is not between 0 and {partition.high_watermark}"
        )
    start = partition.log.delete_records_before(offset)
    partition.notify()  # whoever waits for more below the new start waits in vain
    return start
