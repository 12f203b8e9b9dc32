"""AddPartitionsToTxn (key 24), versions 0 to 5: partitions that the producer is about to write to.

v2 PRODUCER_FENCED; v3 flexible; v4 several transactions, and verification alone, for brokers among themselves; v5 the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from core_broker.apis.transaction_errors import told
from core_broker.context import RequestContext
from core_broker.coordinators.transactions.transaction import V2, Producer
from core_broker.deferred import Deferred
from core_broker.log.checkpoints import TopicPartition
from core_broker.metadata.topic_names import INTERNAL_TOPICS
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

FENCED_VERSION: Final = 2
SEVERAL_VERSION: Final = 4
Codes = dict[TopicPartition, ErrorCode]


def handle(
    broker: Broker, context: RequestContext, request: AddPartitionsToTxnRequest
) -> AddPartitionsToTxnResponse | Deferred[AddPartitionsToTxnResponse]:
    if context.version < SEVERAL_VERSION:
        transactions = [
            AddPartitionsToTxnTransaction(
                transactional_id=request.v3_and_below_transactional_id,
                producer_id=request.v3_and_below_producer_id,
                producer_epoch=request.v3_and_below_producer_epoch,
                topics=request.v3_and_below_topics,
            )
        ]
    else:
        transactions = request.transactions
        if not broker.authorizer.allows(context, Operation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME):
            return AddPartitionsToTxnResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    return Additions(broker, context, transactions).start()


class Additions:
    """One request: its transactions are changed side by side, and the answer waits for the last one to be durable."""

    def __init__(
        self, broker: Broker, context: RequestContext, transactions: list[AddPartitionsToTxnTransaction]
    ) -> None:
        self._broker = broker
        self._context = context
        self._transactions = transactions
        self._unfinished = len(transactions)
        self._codes: list[Codes] = [{} for _ in transactions]
        self._deferred: Deferred[AddPartitionsToTxnResponse] | None = None

    def start(self) -> AddPartitionsToTxnResponse | Deferred[AddPartitionsToTxnResponse]:
        for slot, transaction in enumerate(self._transactions):
            keys = [TopicPartition(topic.name, index) for topic in transaction.topics for index in topic.partitions]
            try:
                self._begin(slot, transaction, keys)
            except KafkaError as error:
                self._end(slot, keys, error)
        if self._unfinished == 0:
            return self._response()
        self._deferred = Deferred()
        return self._deferred

    def _begin(self, slot: int, transaction: AddPartitionsToTxnTransaction, keys: list[TopicPartition]) -> None:
        refused = self._refused(transaction.transactional_id, keys)
        if refused:
            # One that cannot be added keeps all others out.
            self._codes[slot] = {key: refused.get(key, ErrorCode.OPERATION_NOT_ATTEMPTED) for key in keys}
            self._unfinished -= 1
            return
        producer = Producer(transaction.producer_id, transaction.producer_epoch)
        coordinator = self._broker.transactions
        if transaction.verify_only:
            members = coordinator.members(transaction.transactional_id, producer)
            self._codes[slot] = {
                key: ErrorCode.NONE if key in members else ErrorCode.TRANSACTION_ABORTABLE for key in keys
            }
            self._unfinished -= 1
            return
        client_version = V2 if self._context.version >= SEVERAL_VERSION else 0
        coordinator.add(
            transaction.transactional_id,
            producer,
            frozenset(keys),
            client_version,
            lambda error: self._end(slot, keys, error),
        )

    def _refused(self, transactional_id: str, keys: list[TopicPartition]) -> Codes:
        is_client = self._context.version < SEVERAL_VERSION
        allows = self._broker.authorizer.allows
        if is_client and not allows(self._context, Operation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id):
            raise KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        topics = self._broker.metadata.image.topics
        refused: Codes = {}
        for key in keys:
            if is_client and (
                key.topic in INTERNAL_TOPICS
                or not allows(self._context, Operation.WRITE, ResourceType.TOPIC, key.topic)
            ):
                refused[key] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            elif key.topic not in topics or not 0 <= key.partition < len(topics[key.topic].partitions):
                refused[key] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return refused

    def _end(self, slot: int, keys: list[TopicPartition], error: KafkaError | None) -> None:
        code = ErrorCode.NONE if error is None else told(error, self._context.version, FENCED_VERSION)
        self._codes[slot] = dict.fromkeys(keys, code)
        self._unfinished -= 1
        if self._unfinished == 0 and self._deferred is not None:
            self._deferred.resolve(self._response())

    def _response(self) -> AddPartitionsToTxnResponse:
        results = [
            AddPartitionsToTxnResult(
                transactional_id=transaction.transactional_id, topic_results=_results(transaction.topics, codes)
            )
            for transaction, codes in zip(self._transactions, self._codes, strict=True)
        ]
        if self._context.version < SEVERAL_VERSION:
            return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results[0].topic_results)
        return AddPartitionsToTxnResponse(results_by_transaction=results)


def _results(topics: list[AddPartitionsToTxnTopic], codes: Codes) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(
                    partition_index=index, partition_error_code=codes[TopicPartition(topic.name, index)]
                )
                for index in topic.partitions
            ],
        )
        for topic in topics
    ]
