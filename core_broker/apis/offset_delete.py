"""OffsetDelete (key 47), version 0: an operator deletes offsets of topics that a group does not consume any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from core_broker.context import RequestContext
from core_broker.coordinators.groups.group import Group
from core_broker.coordinators.groups.offset_store import TopicPartition
from core_broker.deferred import Deferred
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker


def handle(
    broker: Broker, context: RequestContext, request: OffsetDeleteRequest
) -> OffsetDeleteResponse | Deferred[OffsetDeleteResponse]:
    try:
        if not broker.authorizer.allows(context, Operation.DELETE, ResourceType.GROUP, request.group_id):
            raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        commits = broker.groups.shard_of(request.group_id).state.commits
        group = commits.check_delete(request.group_id)
    except KafkaError as error:
        return OffsetDeleteResponse(error_code=error.code)
    response = OffsetDeleteResponse()
    deleted: list[TopicPartition] = []
    for topic in request.topics:
        answers = []
        for partition in topic.partitions:
            index = partition.partition_index
            code = _check(broker, context, group, topic.name, index)
            answers.append(OffsetDeleteResponsePartition(partition_index=index, error_code=code))
            if code == ErrorCode.NONE:
                deleted.append(TopicPartition(topic.name, index))
        response.topics.append(OffsetDeleteResponseTopic(name=topic.name, partitions=answers))
    deferred: Deferred[OffsetDeleteResponse] = Deferred()
    commits.delete(
        request.group_id,
        deleted,
        lambda error: deferred.resolve(response if error is None else OffsetDeleteResponse(error_code=error.code)),
    )
    return deferred


def _check(broker: Broker, context: RequestContext, group: Group, topic: str, index: int) -> ErrorCode:
    if not broker.authorizer.allows(context, Operation.READ, ResourceType.TOPIC, topic):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    image = broker.metadata.image.topics.get(topic)
    if image is None or not 0 <= index < len(image.partitions):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if group.subscribes_to(topic) else ErrorCode.NONE
