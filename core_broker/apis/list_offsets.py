"""ListOffsets (key 2), versions 1 to 11.

v2 isolation level; v4 leader epochs; v6 flexible; v7 max timestamp; v8 earliest local; v9 last tiered; v10 time-out; v11 earliest
pending upload. Nothing is tiered here, so local is all there is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from core_broker.context import RequestContext
from core_broker.partition import Partition
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

READ_COMMITTED = 1
LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6
NEEDS_VERSION = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING_UPLOAD: 11}
UNKNOWN = -1


async def handle(broker: Broker, context: RequestContext, request: ListOffsetsRequest) -> ListOffsetsResponse:
    asked: set[tuple[str, int]] = set()
    twice: set[tuple[str, int]] = set()
    for topic in request.topics:
        for partition in topic.partitions:
            key = (topic.name, partition.partition_index)
            (twice if key in asked else asked).add(key)
    topics = []
    for topic in request.topics:
        answers = []
        for partition in topic.partitions:
            try:
                if (topic.name, partition.partition_index) in twice:
                    raise KafkaError(
                        ErrorCode.INVALID_REQUEST, f"{topic.name}-{partition.partition_index} is asked for twice"
                    )
                answers.append(await _look_up(broker, context, request, topic.name, partition))
            except KafkaError as error:
                answers.append(
                    ListOffsetsPartitionResponse(partition_index=partition.partition_index, error_code=error.code)
                )
        topics.append(ListOffsetsTopicResponse(name=topic.name, partitions=answers))
    return ListOffsetsResponse(topics=topics)


async def _look_up(
    broker: Broker, context: RequestContext, request: ListOffsetsRequest, topic: str, asked: ListOffsetsPartition
) -> ListOffsetsPartitionResponse:
    if not broker.authorizer.allows(context, Operation.DESCRIBE, ResourceType.TOPIC, topic):
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, f"not allowed to describe topic {topic}")
    partition = broker.partition(topic, asked.partition_index)
    if partition is None:
        raise KafkaError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no partition {asked.partition_index} of topic {topic}"
        )
    partition.check_leader_epoch(asked.current_leader_epoch)
    if asked.timestamp < 0 and context.version < NEEDS_VERSION.get(asked.timestamp, 0):
        raise KafkaError(
            ErrorCode.UNSUPPORTED_VERSION, f"timestamp {asked.timestamp} needs a newer version of ListOffsets"
        )
    answer = ListOffsetsPartitionResponse(partition_index=asked.partition_index)
    limit = partition.last_stable_offset if request.isolation_level == READ_COMMITTED else partition.high_watermark
    if asked.timestamp == LATEST:
        answer.offset = limit
        answer.leader_epoch = partition.leader_epoch
    elif asked.timestamp in (EARLIEST, EARLIEST_LOCAL):
        answer.offset = partition.log.log_start_offset
        answer.leader_epoch = partition.log.epochs.epoch_of(answer.offset)
    elif asked.timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        answer.offset = UNKNOWN
    elif asked.timestamp == MAX_TIMESTAMP or asked.timestamp >= 0:
        await _search(broker, partition, asked.timestamp, limit, answer)
    else:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"timestamp {asked.timestamp} has no meaning")
    return answer


async def _search(
    broker: Broker, partition: Partition, timestamp: int, limit: int, answer: ListOffsetsPartitionResponse
) -> None:
    """Looks into batches, which may have to be read from disk and inflated."""
    if timestamp == MAX_TIMESTAMP:
        found = partition.log.offset_of_max_timestamp()
    else:
        found = partition.log.offset_for_timestamp(timestamp)
    if found is not None and found.offset < limit:
        answer.offset = found.offset
        answer.timestamp = found.timestamp
        answer.leader_epoch = found.leader_epoch
