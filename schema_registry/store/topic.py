"""The topic that holds the schemas: made if it is missing, checked if it is there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from barnabas.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from schema_registry.store.failures import TopicUnfit

_CLEANUP_POLICY: Final = "cleanup.policy"
_COMPACT: Final = "compact"
_TOPIC_RESOURCE: Final = 2
_CREATION_TIMEOUT_MS: Final = 30_000
_ATTEMPTS: Final = 50
_PAUSE_S: Final = 0.1

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """The topic's name, and how to make it: replicas as far as there are brokers, and further settings of the topic."""

    name: str = "_schemas"
    replication_factor: int = 3
    configs: Mapping[str, str] = field(default_factory=dict)


async def provide(client: Client, settings: TopicSettings) -> None:
    """Create the topic unless it exists; TopicUnfit when the one that exists would lose or scatter schemas."""
    for _ in range(_ATTEMPTS):
        topic, cluster = await describe(client, settings.name)
        if topic.error_code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            await _validate(client, settings, topic)
            return
        if await _create(client, settings, cluster):
            return
        await asyncio.sleep(_PAUSE_S)
    raise KafkaError(
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"topic {settings.name!r} was made elsewhere, but is not known here yet"
    )


async def _validate(client: Client, settings: TopicSettings, topic: MetadataResponseTopic) -> None:
    _check(topic.error_code, f"topic {settings.name!r} cannot be described")
    if len(topic.partitions) != 1:
        raise TopicUnfit(
            f"The schema topic {settings.name} should have only 1 partition but has {len(topic.partitions)}; "
            "the order of schemas would be lost. Choose another topic with kafkastore.topic."
        )
    policy = await _cleanup_policy(client, settings.name)
    if policy != _COMPACT:
        raise TopicUnfit(
            f"The retention policy of the schema topic {settings.name} is incorrect. Expected cleanup.policy to be "
            f"'compact' but it is {policy}: Kafka would delete schemas. Set it with kafka-configs --alter."
        )


async def describe(client: Client, name: str) -> tuple[MetadataResponseTopic, MetadataResponse]:
    """What the cluster says of a topic, its error code included, and of its brokers."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
    answer = await client.send(request, MetadataResponse)
    return answer.topics[0], answer


async def _create(client: Client, settings: TopicSettings, cluster: MetadataResponse) -> bool:
    """Create the topic; False when another instance was faster, whose topic must then be checked like any other."""
    replicas = max(1, min(settings.replication_factor, len(cluster.brokers)))
    if replicas < settings.replication_factor:
        # A lone broker is no mistake; a cluster that is smaller than somebody thought may be one.
        level = logging.INFO if replicas == 1 else logging.WARNING
        _logger.log(
            level, "topic %s has as many copies as there are brokers: %d, not %d",
            settings.name, replicas, settings.replication_factor,
        )  # fmt: skip
    configs = {**settings.configs, _CLEANUP_POLICY: _COMPACT}
    topic = CreatableTopic(
        name=settings.name,
        num_partitions=1,
        replication_factor=replicas,
        assignments=[],
        configs=[CreatableTopicConfig(name=name, value=value) for name, value in configs.items()],
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=_CREATION_TIMEOUT_MS)
    answer = await client.send(request, CreateTopicsResponse, timeout_ms=_CREATION_TIMEOUT_MS)
    result = answer.topics[0]
    if result.error_code == ErrorCode.TOPIC_ALREADY_EXISTS:
        return False
    _check(result.error_code, f"topic {settings.name!r} cannot be created: {result.error_message or ''}")
    _logger.info("created topic %s with %d replicas", settings.name, replicas)
    return True


async def _cleanup_policy(client: Client, name: str) -> str | None:
    resource = DescribeConfigsResource(
        resource_type=_TOPIC_RESOURCE, resource_name=name, configuration_keys=[_CLEANUP_POLICY]
    )
    answer = await client.send(DescribeConfigsRequest(resources=[resource]), DescribeConfigsResponse)
    result = answer.results[0]
    _check(result.error_code, f"the settings of topic {name!r} cannot be read: {result.error_message or ''}")
    return next((config.value for config in result.configs if config.name == _CLEANUP_POLICY), None)


def _check(code: int, what: str) -> None:
    if code:
        error = ErrorCode(code)
        raise KafkaError(error, f"{what} ({error.message})")
