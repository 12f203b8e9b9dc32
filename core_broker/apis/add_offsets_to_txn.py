"""AddOffsetsToTxn (key 25), versions 0 to 4: the producer is about to commit a group's offsets in its transaction.

v2 PRODUCER_FENCED; v3 flexible; v4 TRANSACTION_ABORTABLE.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from core_broker.apis.transaction_errors import told
from core_broker.context import RequestContext
from core_broker.coordinators.transactions.transaction import Producer
from core_broker.deferred import Deferred
from core_broker.log.checkpoints import TopicPartition
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

FENCED_VERSION: Final = 2


def handle(
    broker: Broker, context: RequestContext, request: AddOffsetsToTxnRequest
) -> AddOffsetsToTxnResponse | Deferred[AddOffsetsToTxnResponse]:
    deferred: Deferred[AddOffsetsToTxnResponse] = Deferred()

    def durable(error: KafkaError | None) -> None:
        code = ErrorCode.NONE if error is None else told(error, context.version, FENCED_VERSION)
        deferred.resolve(AddOffsetsToTxnResponse(error_code=code))

    try:
        _check(broker, context, request)
        offsets = broker.groups.topic
        broker.transactions.add(
            request.transactional_id,
            Producer(request.producer_id, request.producer_epoch),
            frozenset((TopicPartition(offsets.name, offsets.partition_of(request.group_id)),)),
            0,
            durable,
        )
    except KafkaError as error:
        return AddOffsetsToTxnResponse(error_code=told(error, context.version, FENCED_VERSION))
    return deferred


def _check(broker: Broker, context: RequestContext, request: AddOffsetsToTxnRequest) -> None:
    allows = broker.authorizer.allows
    if not allows(context, Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id):
        raise KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    if not allows(context, Operation.READ, ResourceType.GROUP, request.group_id):
        raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
