"""WriteTxnMarkers (key 27), versions 1 to 2: ends a transaction in single partitions. v1 flexible; v2 the transaction version.

Brokers among themselves have it, and operators, who abort a transaction that hangs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from core_broker.context import RequestContext
from core_broker.coordinators.transactions.markers import EndMarker
from core_broker.deferred import Deferred
from core_broker.log.checkpoints import TopicPartition
from core_broker.log.producer_state import Marker
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

# The sender knows the leader of a partition, and of coordinators nothing.
_NOT_READY: Final = (
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
)


def handle(
    broker: Broker, context: RequestContext, request: WriteTxnMarkersRequest
) -> WriteTxnMarkersResponse | Deferred[WriteTxnMarkersResponse]:
    work = MarkerWork(broker, request)
    allows = broker.authorizer.allows
    if not allows(context, Operation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME) and not allows(
        context, Operation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME
    ):
        return work.refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    return work.start()


class MarkerWork:
    """One request: every partition is told alone, and the answer waits for the last."""

    def __init__(self, broker: Broker, request: WriteTxnMarkersRequest) -> None:
        self._broker = broker
        self._request = request
        self._unfinished = 0
        self._deferred: Deferred[WriteTxnMarkersResponse] | None = None
        self._response = WriteTxnMarkersResponse(
            markers=[
                WritableTxnMarkerResult(
                    producer_id=marker.producer_id,
                    topics=[
                        WritableTxnMarkerTopicResult(
                            name=topic.name,
                            partitions=[
                                WritableTxnMarkerPartitionResult(partition_index=index)
                                for index in topic.partition_indexes
                            ],
                        )
                        for topic in marker.topics
                    ],
                )
                for marker in request.markers
                if marker.topics
            ]
        )

    def refused(self, code: ErrorCode) -> WriteTxnMarkersResponse:
        for marker in self._response.markers:
            for topic in marker.topics:
                for partition in topic.partitions:
                    partition.error_code = code
        return self._response

    def start(self) -> WriteTxnMarkersResponse | Deferred[WriteTxnMarkersResponse]:
        self._unfinished = 1
        asked = [marker for marker in self._request.markers if marker.topics]
        for marker, result in zip(asked, self._response.markers, strict=True):
            for topic in result.topics:
                for partition in topic.partitions:
                    self._unfinished += 1
                    self._write(marker, TopicPartition(topic.name, partition.partition_index), partition)
        self._unfinished -= 1
        if self._unfinished == 0:
            return self._response
        self._deferred = Deferred()
        return self._deferred

    def _write(self, marker: WritableTxnMarker, key: TopicPartition, result: WritableTxnMarkerPartitionResult) -> None:
        def told(error: KafkaError | None) -> None:
            if error is not None:
                result.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER if error.code in _NOT_READY else error.code
            self._unfinished -= 1
            if self._unfinished == 0 and self._deferred is not None:
                self._deferred.resolve(self._response)

        if marker.producer_id < 0 or marker.producer_epoch < 0:
            told(KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "a marker has a producer id and an epoch"))
            return
        end = EndMarker(
            marker.producer_id, marker.producer_epoch, Marker(marker.transaction_result, marker.coordinator_epoch)
        )
        self._broker.transactions.markers.write(key, end, told)
