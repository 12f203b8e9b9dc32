"""ListTransactions (key 66), versions 0 to 2: the transactional ids. v1 by how long they are open; v2 by a pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)
from core_broker.context import RequestContext
from core_broker.coordinators.groups.regular_expressions import check_regex, matching_topics
from core_broker.coordinators.transactions.transaction import LABELS, Transaction
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker


def handle(broker: Broker, context: RequestContext, request: ListTransactionsRequest) -> ListTransactionsResponse:
    if broker.transactions.topic.is_loading:
        return ListTransactionsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    matching = None
    if pattern := request.transactional_id_pattern:
        try:
            check_regex(pattern)
        except KafkaError as error:
            return ListTransactionsResponse(error_code=error.code)
        matching = matching_topics([pattern], [name for name, _ in broker.transactions.every()])[pattern]
    states = {LABELS[name] for name in request.state_filters if name in LABELS}
    producer_ids = set(request.producer_id_filters)
    now_ms = broker.clock_ms()

    def wanted(transactional_id: str, transaction: Transaction) -> bool:
        return (
            (not producer_ids or transaction.producer_id in producer_ids)
            and (not request.state_filters or transaction.status in states)
            and (request.duration_filter < 0 or now_ms - transaction.started_ms > request.duration_filter)
            and (matching is None or transactional_id in matching)
            and broker.authorizer.allows(context, Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, transactional_id)
        )

    return ListTransactionsResponse(
        unknown_state_filters=[name for name in request.state_filters if name not in LABELS],
        transaction_states=[
            TransactionState(
                transactional_id=transactional_id,
                producer_id=transaction.producer_id,
                transaction_state=transaction.status.label,
            )
            for transactional_id, transaction in broker.transactions.every()
            if wanted(transactional_id, transaction)
        ],
    )
