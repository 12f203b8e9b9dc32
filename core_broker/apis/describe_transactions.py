"""DescribeTransactions (key 65), version 0: the state of transactional ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from core_broker.context import RequestContext
from core_broker.coordinators.transactions.transaction import Transaction
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker


def handle(
    broker: Broker, context: RequestContext, request: DescribeTransactionsRequest
) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        transaction_states=[
            _describe(broker, context, transactional_id) for transactional_id in request.transactional_ids
        ]
    )


def _describe(broker: Broker, context: RequestContext, transactional_id: str) -> TransactionState:
    try:
        if not broker.authorizer.allows(context, Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, transactional_id):
            raise KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        transaction = broker.transactions.find(transactional_id)
        if transaction is None:
            raise KafkaError(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
    except KafkaError as error:
        return TransactionState(transactional_id=transactional_id, error_code=error.code)
    return TransactionState(
        transactional_id=transactional_id,
        transaction_state=transaction.status.label,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_start_time_ms=transaction.started_ms,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.epoch,
        topics=_topics(broker, context, transaction),
    )


def _topics(broker: Broker, context: RequestContext, transaction: Transaction) -> list[TopicData]:
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(transaction.partitions):
        topics.setdefault(topic, []).append(partition)
    allows = broker.authorizer.allows
    return [
        TopicData(topic=topic, partitions=partitions)
        for topic, partitions in topics.items()
        if allows(context, Operation.DESCRIBE, ResourceType.TOPIC, topic)
    ]
