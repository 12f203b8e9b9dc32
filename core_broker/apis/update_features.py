"""UpdateFeatures (key 57), versions 0 to 2. v1 upgrade types and validation; v2 no answer for single features.

Each feature has one level here, so that an update is either no change or refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from core_broker.context import RequestContext
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

UPGRADE_TYPES: Final = (1, 2, 3)  # upgrade, safe downgrade, unsafe downgrade
UPGRADE_TYPE_VERSION: Final = 1
NO_RESULTS_VERSION: Final = 2


def handle(broker: Broker, context: RequestContext, request: UpdateFeaturesRequest) -> UpdateFeaturesResponse:
    if not broker.authorizer.allows(context, Operation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME):
        code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        return UpdateFeaturesResponse(error_code=code, error_message=code.message)
    try:
        for update in request.feature_updates:
            _check(broker, context, update)
    except KafkaError as error:
        return UpdateFeaturesResponse(error_code=error.code, error_message=error.message)
    if context.version >= NO_RESULTS_VERSION:
        return UpdateFeaturesResponse(error_message=None)
    return UpdateFeaturesResponse(
        error_message=None,
        results=[
            UpdatableFeatureResult(feature=update.feature, error_message=None) for update in request.feature_updates
        ],
    )


def _check(broker: Broker, context: RequestContext, update: FeatureUpdateKey) -> None:
    name, level = update.feature, update.max_version_level
    supported = broker.metadata.supported_features.get(name)
    if supported is None:
        raise KafkaError(
            ErrorCode.INVALID_UPDATE_VERSION,
            f"no feature was updated: {name} is not supported here; known is {', '.join(broker.metadata.supported_features)}",
        )
    if not supported.low <= level <= supported.high:
        raise KafkaError(
            ErrorCode.INVALID_UPDATE_VERSION,
            f"no feature was updated: {name} cannot have level {level}; this broker supports {supported.low} to {supported.high}",
        )
    if context.version >= UPGRADE_TYPE_VERSION and update.upgrade_type not in UPGRADE_TYPES:
        raise KafkaError(
            ErrorCode.INVALID_UPDATE_VERSION,
            f"no feature was updated: upgrade type {update.upgrade_type} of {name} is unknown; 1 upgrades, 2 and 3 downgrade",
        )
