"""CreatePartitions (key 37), versions 0 to 3. v2 flexible; v3 may be refused by a quota."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from barnabas.wire.struct import Message
from core_broker.context import RequestContext
from core_broker.metadata.topics import add_partitions, repeated
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker


STRICT_QUOTA_VERSION: Final = 3


async def handle(broker: Broker, context: RequestContext, request: CreatePartitionsRequest) -> CreatePartitionsResponse:
    quota = broker.quotas.mutations(context, strict_since=STRICT_QUOTA_VERSION)
    twice = repeated(topic.name for topic in request.topics)
    results = [
        CreatePartitionsTopicResult(
            name=name, error_code=ErrorCode.INVALID_REQUEST, error_message=f"topic {name!r} is named more than once"
        )
        for name in sorted(twice)
    ]
    async with broker.metadata.exclusive:
        records: list[Message] = []
        for topic in request.topics:
            if topic.name in twice:
                continue
            if not broker.authorizer.allows(context, Operation.ALTER, ResourceType.TOPIC, topic.name):
                results.append(_forbidden(topic.name))
                continue
            result, additions = add_partitions(broker.metadata.image, broker.metadata.node, topic, quota.charge)
            results.append(result)
            records.extend(additions)
        if not request.validate_only:
            try:
                await broker.apply(records)
            except KafkaError as error:
                for result in results:
                    if result.error_code == ErrorCode.NONE:
                        result.error_code, result.error_message = error.code, error.message
    return CreatePartitionsResponse(throttle_time_ms=quota.throttle_ms(), results=results)


def _forbidden(name: str) -> CreatePartitionsTopicResult:
    return CreatePartitionsTopicResult(
        name=name,
        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        error_message=f"not allowed to alter topic {name!r}",
    )
