"""DescribeQuorum (key 55), versions 0 to 2: the controllers. v1 times of replicas; v2 directory ids, nodes and messages.

This node is the only voter, and the leader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    Node,
    ReplicaState,
    ResponsePartitionData,
    ResponseTopicData,
)
from core_broker.context import RequestContext
from core_broker.metadata.topic_names import METADATA_TOPIC
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker


def handle(broker: Broker, context: RequestContext, request: DescribeQuorumRequest) -> DescribeQuorumResponse:
    if not broker.authorizer.allows(context, Operation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME):
        return DescribeQuorumResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    asked = [
        (topic.topic_name, partition.partition_index) for topic in request.topics for partition in topic.partitions
    ]
    if asked != [(METADATA_TOPIC, 0)]:
        return _refuse(request)
    image = broker.metadata.image
    now_ms = broker.clock_ms()
    end_offset = image.offset + 1
    voter = ReplicaState(
        replica_id=broker.node_id,
        log_end_offset=end_offset,
        last_fetch_timestamp=now_ms,
        last_caught_up_timestamp=now_ms,
    )
    partition = ResponsePartitionData(
        leader_id=broker.node_id, leader_epoch=image.epoch, high_watermark=end_offset, current_voters=[voter]
    )
    return DescribeQuorumResponse(
        topics=[ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[partition])],
        nodes=[Node(node_id=broker.node_id)] if context.version >= 2 else [],
    )


def _refuse(request: DescribeQuorumRequest) -> DescribeQuorumResponse:
    """There is one quorum; whatever is not exactly that one is unknown."""
    return DescribeQuorumResponse(
        topics=[
            ResponseTopicData(
                topic_name=topic.topic_name,
                partitions=[
                    ResponsePartitionData(
                        partition_index=partition.partition_index,
                        error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                        error_message=f"the only quorum is that of {METADATA_TOPIC}-0; ask for it alone",
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
