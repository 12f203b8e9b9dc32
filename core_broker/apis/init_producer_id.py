"""InitProducerId (key 22), versions 0 to 5: a number by which the broker recognises a producer's retries.

v2 flexible; v3 producer id and epoch of a producer that comes back; v4 PRODUCER_FENCED; v5 transactions V2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.batch import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from core_broker.apis.transaction_errors import told
from core_broker.context import RequestContext
from core_broker.coordinators.transactions.transaction import Producer
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

FENCED_VERSION: Final = 4


async def handle(broker: Broker, context: RequestContext, request: InitProducerIdRequest) -> InitProducerIdResponse:
    try:
        _check(broker, context, request)
        if request.transactional_id is None:
            return InitProducerIdResponse(producer_id=await broker.producer_ids.next(), producer_epoch=0)
        expected = None
        if request.producer_id != NO_PRODUCER_ID:
            expected = Producer(request.producer_id, request.producer_epoch)
        producer = await broker.transactions.initialise(
            request.transactional_id, request.transaction_timeout_ms, expected
        )
    except KafkaError as error:
        return InitProducerIdResponse(
            error_code=told(error, context.version, FENCED_VERSION),
            producer_id=NO_PRODUCER_ID,
            producer_epoch=NO_PRODUCER_EPOCH,
        )
    return InitProducerIdResponse(producer_id=producer.producer_id, producer_epoch=producer.epoch)


def _check(broker: Broker, context: RequestContext, request: InitProducerIdRequest) -> None:
    allows = broker.authorizer.allows
    if request.transactional_id is not None:
        if not allows(context, Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id):
            raise KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    elif not allows(context, Operation.IDEMPOTENT_WRITE, ResourceType.CLUSTER, CLUSTER_NAME):
        raise KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    if (request.producer_id == NO_PRODUCER_ID) != (request.producer_epoch == NO_PRODUCER_EPOCH):
        raise KafkaError(ErrorCode.INVALID_REQUEST, "a producer id comes with its epoch, or neither does")
