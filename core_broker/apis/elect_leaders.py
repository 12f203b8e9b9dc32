"""ElectLeaders (key 43), versions 0 to 2. v1 election types; v2 flexible. The one replica of a partition always leads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from core_broker.context import RequestContext
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

ELECTION_TYPES: Final = (0, 1)  # preferred, unclean


def handle(broker: Broker, context: RequestContext, request: ElectLeadersRequest) -> ElectLeadersResponse:
    if not broker.authorizer.allows(context, Operation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME):
        return _refuse(context, request, KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED))
    if request.election_type not in ELECTION_TYPES:
        message = f"election type {request.election_type} is unknown; 0 is preferred, 1 is unclean"
        return _refuse(context, request, KafkaError(ErrorCode.INVALID_REQUEST, message))
    topics = broker.metadata.image.topics
    if request.topic_partitions is None:
        # All partitions: those that need no election are not listed.
        return ElectLeadersResponse(replica_election_results=[ReplicaElectionResult(topic=name) for name in topics])
    return ElectLeadersResponse(
        replica_election_results=[
            ReplicaElectionResult(
                topic=asked.topic, partition_result=[_result(broker, asked.topic, index) for index in asked.partitions]
            )
            for asked in request.topic_partitions
        ]
    )


def _result(broker: Broker, name: str, index: int) -> PartitionResult:
    topic = broker.metadata.image.topics.get(name)
    if topic is None or not 0 <= index < len(topic.partitions):
        return PartitionResult(
            partition_id=index,
            error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            error_message=f"there is no partition {index} of topic {name!r}",
        )
    return PartitionResult(
        partition_id=index,
        error_code=ErrorCode.ELECTION_NOT_NEEDED,
        error_message=f"broker {broker.node_id}, the only replica, leads {name}-{index} already",
    )


def _refuse(context: RequestContext, request: ElectLeadersRequest, error: KafkaError) -> ElectLeadersResponse:
    return ElectLeadersResponse(
        error_code=error.code if context.version >= 1 else ErrorCode.NONE,
        replica_election_results=[
            ReplicaElectionResult(
                topic=asked.topic,
                partition_result=[
                    PartitionResult(partition_id=index, error_code=error.code, error_message=error.message)
                    for index in asked.partitions
                ],
            )
            for asked in request.topic_partitions or ()
        ],
    )
