"""CreateTopics (key 19), versions 2 to 7. v4 defaults (-1); v5 flexible, the answer has the configuration;
v6 may be refused by a quota; v7 topic ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.create_topics import CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse
from core_broker.context import RequestContext
from core_broker.metadata.topic_rules import topic_rules
from core_broker.metadata.topics import TopicCreation, repeated
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker


STRICT_QUOTA_VERSION: Final = 6


async def handle(broker: Broker, context: RequestContext, request: CreateTopicsRequest) -> CreateTopicsResponse:
    quota = broker.quotas.mutations(context, strict_since=STRICT_QUOTA_VERSION)
    twice = repeated(topic.name for topic in request.topics)
    results = [_named_twice(name) for name in sorted(twice)]
    async with broker.metadata.exclusive:
        creation = TopicCreation(broker.metadata.image, topic_rules(broker), quota.charge)
        for topic in request.topics:
            if topic.name in twice:
                continue
            if not _may_create(broker, context, topic.name):
                results.append(_forbidden(topic.name))
                continue
            result = creation.create(topic)
            if not broker.authorizer.allows(context, Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC, topic.name):
                _hide_configuration(result)
            results.append(result)
        if not request.validate_only:
            try:
                await broker.apply(creation.records)
            except KafkaError as error:
                _fail(results, error)
    return CreateTopicsResponse(throttle_time_ms=quota.throttle_ms(), topics=results)


def _may_create(broker: Broker, context: RequestContext, name: str) -> bool:
    allows = broker.authorizer.allows
    return allows(context, Operation.CREATE, ResourceType.CLUSTER, CLUSTER_NAME) or allows(
        context, Operation.CREATE, ResourceType.TOPIC, name
    )


def _named_twice(name: str) -> CreatableTopicResult:
    return CreatableTopicResult(
        name=name, error_code=ErrorCode.INVALID_REQUEST, error_message=f"topic {name!r} is named more than once"
    )


def _forbidden(name: str) -> CreatableTopicResult:
    return CreatableTopicResult(
        name=name,
        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        error_message=f"not allowed to create topic {name!r}",
    )


def _hide_configuration(result: CreatableTopicResult) -> None:
    result.topic_config_error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    result.num_partitions = result.replication_factor = -1
    result.configs = []


def _fail(results: list[CreatableTopicResult], error: KafkaError) -> None:
    """Nothing was created: those that would have been say why."""
    for position, result in enumerate(results):
        if result.error_code == ErrorCode.NONE:
            results[position] = CreatableTopicResult(
                name=result.name, error_code=error.code, error_message=error.message
            )
