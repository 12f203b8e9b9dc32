"""EndTxn (key 26), versions 0 to 5: commits or aborts a transaction.

v2 PRODUCER_FENCED; v3 flexible; v4 TRANSACTION_ABORTABLE; v5 the answer carries the epoch of the next transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.batch import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from core_broker.apis.transaction_errors import told
from core_broker.context import RequestContext
from core_broker.coordinators.transactions.decisions import End
from core_broker.coordinators.transactions.transaction import V2, Producer, Transaction
from core_broker.deferred import Deferred
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

FENCED_VERSION: Final = 2
EPOCH_VERSION: Final = 5


def handle(
    broker: Broker, context: RequestContext, request: EndTxnRequest
) -> EndTxnResponse | Deferred[EndTxnResponse]:
    deferred: Deferred[EndTxnResponse] = Deferred()

    def ended(error: KafkaError | None, transaction: Transaction | None) -> None:
        if error is not None:
            deferred.resolve(_refusal(error, context.version))
        else:
            assert transaction is not None
            deferred.resolve(
                EndTxnResponse(producer_id=transaction.producer_id, producer_epoch=transaction.epoch)
                if context.version >= EPOCH_VERSION
                else EndTxnResponse()
            )

    end = End(
        Producer(request.producer_id, request.producer_epoch),
        request.committed,
        V2 if context.version >= EPOCH_VERSION else 0,
    )
    try:
        allows = broker.authorizer.allows
        if not allows(context, Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id):
            raise KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        broker.transactions.end(request.transactional_id, end, ended)
    except KafkaError as error:
        return _refusal(error, context.version)
    return deferred


def _refusal(error: KafkaError, version: int) -> EndTxnResponse:
    code = told(error, version, FENCED_VERSION)
    if version < EPOCH_VERSION:
        return EndTxnResponse(error_code=code)
    return EndTxnResponse(error_code=code, producer_id=NO_PRODUCER_ID, producer_epoch=NO_PRODUCER_EPOCH)
