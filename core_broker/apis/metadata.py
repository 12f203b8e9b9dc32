"""Metadata (key 3), versions 0 to 13: the brokers and what topics there are.

v1 controller, racks, null means all topics; v2 cluster id; v4 whether to create topics; v8 authorized operations; v9 flexible;
v10 topic ids; v12 look-up by id; v13 an error code for the whole.

A request that has a topic id is one for ids: names in it are ignored, as in Kafka. The Java client sends an id with the name "".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.fields import ZERO_UUID
from barnabas.wire.messages.create_topics import CreatableTopic
from barnabas.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from core_broker.apis.authorized_operations import NOT_ASKED, cluster_operations, topic_operations
from core_broker.context import RequestContext
from core_broker.metadata.image import TopicImage
from core_broker.metadata.topic_names import INTERNAL_TOPICS, METADATA_TOPIC, check_topic_name
from core_broker.metadata.topic_rules import topic_rules
from core_broker.metadata.topics import DEFAULT, TopicCreation
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

NULL_MEANS_ALL_VERSION: Final = 1
AUTO_CREATION_FLAG_VERSION: Final = 4
TOPIC_IDS_VERSION: Final = 10
LOOK_UP_BY_ID_VERSION: Final = 12


async def handle(broker: Broker, context: RequestContext, request: MetadataRequest) -> MetadataResponse:
    asked = request.topics
    if context.version < NULL_MEANS_ALL_VERSION and not asked:
        asked = None
    if asked is not None and _is_malformed(context.version, asked):
        return _refuse(asked)
    if asked is None:
        topics = [
            _known(broker, context, topic, request)
            for topic in broker.metadata.image.topics.values()
            if broker.authorizer.allows(context, Operation.DESCRIBE, ResourceType.TOPIC, topic.name)
        ]
    else:
        topics = await _look_up(broker, context, request, asked)
    listener = context.listener
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(
                node_id=broker.node_id,
                host=listener.advertised_host,
                port=listener.advertised_port,
                rack=broker.settings.text_or_none("broker.rack"),
            )
        ],
        cluster_id=broker.cluster_id,
        controller_id=broker.node_id,
        topics=topics,
        cluster_authorized_operations=(
            cluster_operations(broker, context) if request.include_cluster_authorized_operations else NOT_ASKED
        ),
    )


def _is_malformed(version: int, asked: list[MetadataRequestTopic]) -> bool:
    """v10 and v11 have the field for ids, and do not allow it to be used. Where Kafka fails with a null name, this is the error."""
    has_ids = any(topic.topic_id != ZERO_UUID for topic in asked)
    if has_ids and version >= LOOK_UP_BY_ID_VERSION:
        return False
    return has_ids or any(topic.name is None for topic in asked)


def _refuse(asked: list[MetadataRequestTopic]) -> MetadataResponse:
    error = ErrorCode.INVALID_REQUEST
    return MetadataResponse(
        topics=[
            MetadataResponseTopic(error_code=error, name=topic.name or "", topic_id=topic.topic_id) for topic in asked
        ],
        error_code=error,
    )


async def _look_up(
    broker: Broker, context: RequestContext, request: MetadataRequest, asked: list[MetadataRequestTopic]
) -> list[MetadataResponseTopic]:
    ids = dict.fromkeys(topic.topic_id for topic in asked if topic.topic_id != ZERO_UUID)
    if ids:
        return _look_up_ids(broker, context, request, ids)
    names = dict.fromkeys(topic.name for topic in asked if topic.name is not None)
    return await _look_up_names(broker, context, request, names)


def _look_up_ids(
    broker: Broker, context: RequestContext, request: MetadataRequest, ids: Iterable[bytes]
) -> list[MetadataResponseTopic]:
    """Unknown ids first, then topics, then those that the client may not see: Kafka's order."""
    unknown, known, hidden = [], [], []
    for topic_id in ids:
        topic = broker.metadata.image.topic_by_id(topic_id)
        if topic is None:
            unknown.append(MetadataResponseTopic(name=None, topic_id=topic_id, error_code=ErrorCode.UNKNOWN_TOPIC_ID))
        elif not broker.authorizer.allows(context, Operation.DESCRIBE, ResourceType.TOPIC, topic.name):
            # Without its name: a client that may not see the topic learns no more than it knew.
            error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            hidden.append(MetadataResponseTopic(name=None, topic_id=topic_id, error_code=error))
        else:
            known.append(_known(broker, context, topic, request))
    return unknown + known + hidden


async def _look_up_names(
    broker: Broker, context: RequestContext, request: MetadataRequest, names: Collection[str]
) -> list[MetadataResponseTopic]:
    """Topics first, then missing ones, then those that the client may not see: Kafka's order."""
    may_create = request.allow_auto_topic_creation or context.version < AUTO_CREATION_FLAG_VERSION
    errors: dict[str, ErrorCode] = {}
    if may_create and broker.settings.boolean("auto.create.topics.enable"):
        errors = await _create_missing(broker, context, [name for name in names if _is_missing(broker, context, name)])
    known, missing, hidden = [], [], []
    for name in names:
        topic = broker.metadata.image.topics.get(name)
        if not broker.authorizer.allows(context, Operation.DESCRIBE, ResourceType.TOPIC, name):
            hidden.append(MetadataResponseTopic(name=name, error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED))
        elif topic is not None:
            known.append(_known(broker, context, topic, request))
        else:
            missing.append(_unknown(broker, context, name, errors.get(name), request))
    return known + missing + hidden


def _is_missing(broker: Broker, context: RequestContext, name: str) -> bool:
    return (
        name not in broker.metadata.image.topics
        and name not in INTERNAL_TOPICS
        and name != METADATA_TOPIC
        and broker.authorizer.allows(context, Operation.DESCRIBE, ResourceType.TOPIC, name)
    )


async def _create_missing(broker: Broker, context: RequestContext, names: list[str]) -> dict[str, ErrorCode]:
    """Creates the topics with the broker's defaults; returns why some could not be created."""
    if not names:
        return {}
    errors: dict[str, ErrorCode] = {}
    quota = broker.quotas.mutations(context, strict_since=0)
    async with broker.metadata.exclusive:
        creation = TopicCreation(broker.metadata.image, topic_rules(broker), quota.charge)
        for name in names:
            if not _may_create(broker, context, name):
                errors[name] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
                continue
            result = creation.create(CreatableTopic(name=name, num_partitions=DEFAULT, replication_factor=DEFAULT))
            if result.error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED:
                errors[name] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION  # the client asks again, later
            elif result.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
                errors[name] = ErrorCode(result.error_code)
        try:
            await broker.apply(creation.records)
        except KafkaError as error:
            return dict.fromkeys(names, error.code)
    return errors


def _may_create(broker: Broker, context: RequestContext, name: str) -> bool:
    allows = broker.authorizer.allows
    return allows(context, Operation.CREATE, ResourceType.CLUSTER, CLUSTER_NAME) or allows(
        context, Operation.CREATE, ResourceType.TOPIC, name
    )


def _known(
    broker: Broker, context: RequestContext, topic: TopicImage, request: MetadataRequest
) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=[
            MetadataResponsePartition(
                partition_index=index,
                leader_id=partition.leader,
                leader_epoch=partition.leader_epoch,
                replica_nodes=list(partition.replicas),
                isr_nodes=list(partition.isr),
            )
            for index, partition in enumerate(topic.partitions)
        ],
        topic_authorized_operations=_operations(broker, context, topic.name, request),
    )


def _unknown(
    broker: Broker, context: RequestContext, name: str, error: ErrorCode | None, request: MetadataRequest
) -> MetadataResponseTopic:
    if error is None:
        try:
            check_topic_name(name)
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        except KafkaError as invalid:
            error = invalid.code
    return MetadataResponseTopic(
        name=name,
        error_code=error,
        is_internal=name in INTERNAL_TOPICS,
        topic_authorized_operations=_operations(broker, context, name, request),
    )


def _operations(broker: Broker, context: RequestContext, name: str, request: MetadataRequest) -> int:
    return topic_operations(broker, context, name) if request.include_topic_authorized_operations else NOT_ASKED
