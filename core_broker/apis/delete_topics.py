"""DeleteTopics (key 20), versions 1 to 6. v3 says when deletion is switched off; v4 flexible; v5 messages, may be refused by a quota; v6 by id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.fields import ZERO_UUID
from barnabas.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from barnabas.wire.struct import Message
from core_broker.context import RequestContext
from core_broker.metadata.image import ClusterImage
from core_broker.metadata.topics import Charge, delete_topic, repeated
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

BY_ID_VERSION: Final = 6
DELETION_DISABLED_VERSION: Final = 3
STRICT_QUOTA_VERSION: Final = 5


async def handle(broker: Broker, context: RequestContext, request: DeleteTopicsRequest) -> DeleteTopicsResponse:
    asked = request.topics
    if context.version < BY_ID_VERSION:
        asked = [DeleteTopicState(name=name) for name in request.topic_names]
    if not broker.settings.boolean("delete.topic.enable"):
        return _switched_off(context.version, asked)
    quota = broker.quotas.mutations(context, strict_since=STRICT_QUOTA_VERSION)
    async with broker.metadata.exclusive:
        image = broker.metadata.image
        identities = [_identity(image, topic) for topic in asked]
        twice = repeated(identities)
        firsts = dict(zip(reversed(identities), reversed(asked), strict=True))
        results = [_named_twice(firsts[identity]) for identity in sorted(twice)]
        records: list[Message] = []
        for topic, identity in zip(asked, identities, strict=True):
            if identity not in twice:
                result, removal = _delete(broker, context, image, topic, quota.charge)
                results.append(result)
                records.extend(removal)
        try:
            await broker.apply(records)
        except KafkaError as error:
            for result in results:
                if result.error_code == ErrorCode.NONE:
                    result.error_code, result.error_message = error.code, error.message
    return DeleteTopicsResponse(throttle_time_ms=quota.throttle_ms(), responses=results)


def _delete(
    broker: Broker, context: RequestContext, image: ClusterImage, asked: DeleteTopicState, charge: Charge
) -> tuple[DeletableTopicResult, list[Message]]:
    allows = broker.authorizer.allows
    result, records = delete_topic(image, asked)
    name = result.name
    if name is None or (asked.name is not None and asked.topic_id != ZERO_UUID):
        return result, []
    if asked.name is None and not allows(context, Operation.DESCRIBE, ResourceType.TOPIC, name):
        # Without its name: who may not see the topic learns no more than it knew.
        return _forbidden(None, asked.topic_id), []
    if not allows(context, Operation.DELETE, ResourceType.TOPIC, name):
        return _forbidden(name, asked.topic_id), []
    if records:
        try:
            charge(len(image.topics[name].partitions))
        except KafkaError as error:
            result.error_code, result.error_message = error.code, error.message
            return result, []
    return result, records


def _identity(image: ClusterImage, asked: DeleteTopicState) -> str:
    """What two entries have in common that mean the same topic, be it by name or by id."""
    if asked.name is None:
        return image.topic_names.get(asked.topic_id, asked.topic_id.hex())
    return asked.name if asked.topic_id == ZERO_UUID else f"{asked.name} {asked.topic_id.hex()}"


def _named_twice(asked: DeleteTopicState) -> DeletableTopicResult:
    return DeletableTopicResult(
        name=asked.name,
        topic_id=asked.topic_id,
        error_code=ErrorCode.INVALID_REQUEST,
        error_message="the topic is named more than once",
    )


def _forbidden(name: str | None, topic_id: bytes) -> DeletableTopicResult:
    return DeletableTopicResult(
        name=name,
        topic_id=topic_id,
        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        error_message="not allowed to delete the topic",
    )


def _switched_off(version: int, asked: list[DeleteTopicState]) -> DeleteTopicsResponse:
    known = version >= DELETION_DISABLED_VERSION
    code = ErrorCode.TOPIC_DELETION_DISABLED if known else ErrorCode.INVALID_REQUEST
    return DeleteTopicsResponse(
        responses=[
            DeletableTopicResult(
                name=topic.name,
                topic_id=topic.topic_id,
                error_code=code,
                error_message="delete.topic.enable is false on this broker",
            )
            for topic in asked
        ]
    )
