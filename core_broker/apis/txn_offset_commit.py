"""TxnOffsetCommit (key 28), versions 0 to 5: offsets of a group that count when the producer's transaction commits.

v2 leader epochs; v3 flexible, with the member of the group; v4 TRANSACTION_ABORTABLE; v5 the group joins the transaction here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from core_broker.context import RequestContext
from core_broker.coordinators.transactions.decisions import Admission
from core_broker.coordinators.transactions.transaction import Producer
from core_broker.deferred import Deferred
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

LOADING_VERSION: Final = 2
ABORTABLE_VERSION: Final = 4
JOINING_VERSION: Final = 5
Codes = dict[tuple[str, int], int]


def handle(
    broker: Broker, context: RequestContext, request: TxnOffsetCommitRequest
) -> TxnOffsetCommitResponse | Deferred[TxnOffsetCommitResponse]:
    return OffsetWork(broker, context, request).start()


class OffsetWork:
    """One request. The answer waits for the offsets, and for the transaction that they belong to, to be durable."""

    def __init__(self, broker: Broker, context: RequestContext, request: TxnOffsetCommitRequest) -> None:
        self._broker = broker
        self._context = context
        self._request = request
        self._codes: Codes = {}
        self._unfinished = 0
        self._refused = False
        self._deferred: Deferred[TxnOffsetCommitResponse] | None = None

    def start(self) -> TxnOffsetCommitResponse | Deferred[TxnOffsetCommitResponse]:
        try:
            self._check()
            accepted = self._accepted()
            if accepted:
                self._commit(accepted)
        except KafkaError as error:
            self._fail(error)
            return self._response()
        if self._unfinished == 0:
            return self._response()
        self._deferred = Deferred()
        return self._deferred

    def _check(self) -> None:
        allows, request = self._broker.authorizer.allows, self._request
        if not allows(self._context, Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id):
            raise KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        if not allows(self._context, Operation.READ, ResourceType.GROUP, request.group_id):
            raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)

    def _accepted(self) -> list[TxnOffsetCommitRequestTopic]:
        """The topics and partitions that exist and may be read; the others get their codes."""
        topics = self._broker.metadata.image.topics
        accepted = []
        for topic in self._request.topics:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            count = 0
            if not self._broker.authorizer.allows(self._context, Operation.READ, ResourceType.TOPIC, topic.name):
                code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            elif topic.name in topics:
                count = len(topics[topic.name].partitions)
            partitions = []
            for partition in topic.partitions:
                if 0 <= partition.partition_index < count:
                    partitions.append(partition)
                else:
                    self._codes[topic.name, partition.partition_index] = code
            if partitions:
                accepted.append(TxnOffsetCommitRequestTopic(name=topic.name, partitions=partitions))
        return accepted

    def _commit(self, topics: list[TxnOffsetCommitRequestTopic]) -> None:
        request = self._request
        shard = self._broker.groups.shard_of(request.group_id)
        self._unfinished = 2
        self._broker.transactions.admit(
            request.transactional_id,
            shard.partition,
            Producer(request.producer_id, request.producer_epoch),
            self._admission(),
            self._joined,
        )
        if self._refused:
            self._unfinished = 0  # the transaction could not be written, so neither are its offsets
            return
        shard.state.commit_transactional_offsets(
            TxnOffsetCommitRequest(
                transactional_id=request.transactional_id,
                group_id=request.group_id,
                producer_id=request.producer_id,
                producer_epoch=request.producer_epoch,
                generation_id=request.generation_id,
                member_id=request.member_id,
                group_instance_id=request.group_instance_id,
                topics=topics,
            ),
            self._context.version,
            self._committed,
        )

    def _admission(self) -> Admission:
        if self._context.version >= JOINING_VERSION:
            return Admission.JOIN
        return Admission.VERIFY if self._context.version >= ABORTABLE_VERSION else Admission.VERIFY_OLD

    def _joined(self, error: KafkaError | None) -> None:
        if error is not None:
            self._refused = True
            self._fail(error)
        self._finished_one()

    def _committed(self, response: TxnOffsetCommitResponse) -> None:
        for topic in response.topics:
            for partition in topic.partitions:
                if partition.error_code != ErrorCode.NONE:
                    self._codes.setdefault((topic.name, partition.partition_index), partition.error_code)
        self._finished_one()

    def _finished_one(self) -> None:
        self._unfinished -= 1
        if self._unfinished == 0 and self._deferred is not None:
            self._deferred.resolve(self._response())

    def _fail(self, error: KafkaError) -> None:
        code = error.code
        if code is ErrorCode.PRODUCER_FENCED:
            code = ErrorCode.INVALID_PRODUCER_EPOCH
        for topic in self._request.topics:
            for partition in topic.partitions:
                self._codes.setdefault((topic.name, partition.partition_index), code)

    def _response(self) -> TxnOffsetCommitResponse:
        return TxnOffsetCommitResponse(
            topics=[
                TxnOffsetCommitResponseTopic(
                    name=topic.name,
                    partitions=[
                        TxnOffsetCommitResponsePartition(
                            partition_index=partition.partition_index,
                            error_code=self._told(self._codes.get((topic.name, partition.partition_index), 0)),
                        )
                        for partition in topic.partitions
                    ],
                )
                for topic in self._request.topics
            ]
        )

    def _told(self, code: int) -> int:
        """Old clients stumble over a coordinator that loads."""
        if code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and self._context.version < LOADING_VERSION:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        return code
