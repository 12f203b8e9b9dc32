"""DescribeClientQuotas (key 48), versions 0 to 1. v1 flexible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)
from core_broker.context import RequestContext
from core_broker.metadata.quotas import QuotaFilter
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker


def handle(
    broker: Broker, context: RequestContext, request: DescribeClientQuotasRequest
) -> DescribeClientQuotasResponse:
    if not broker.authorizer.allows(context, Operation.DESCRIBE_CONFIGS, ResourceType.CLUSTER, CLUSTER_NAME):
        return _failed(KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "not allowed to see quotas"))
    try:
        wanted = QuotaFilter(request.components, strict=request.strict)
    except KafkaError as error:
        return _failed(error)
    entries = [
        EntryData(
            entity=[EntityData(entity_type=part.type, entity_name=part.name) for part in entity],
            values=[ValueData(key=name, value=limit) for name, limit in quotas.items()],
        )
        for entity, quotas in wanted.find(broker.metadata.image)
    ]
    return DescribeClientQuotasResponse(error_message=None, entries=entries)


def _failed(error: KafkaError) -> DescribeClientQuotasResponse:
    return DescribeClientQuotasResponse(error_code=error.code, error_message=error.message, entries=None)
