"""UpdateFeatures (key 57), versions 0 to 2. v1 upgrade types and validation; v2 no answer for single features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from barnabas.wire.records.cluster_metadata import FeatureLevelRecord
from core_broker.context import RequestContext
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

UPGRADE: Final = 1
DOWNGRADES: Final = (2, 3)  # safe and unsafe
UPGRADE_TYPE_VERSION: Final = 1
NO_RESULTS_VERSION: Final = 2


async def handle(broker: Broker, context: RequestContext, request: UpdateFeaturesRequest) -> UpdateFeaturesResponse:
    if not broker.authorizer.allows(context, Operation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME):
        code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        return UpdateFeaturesResponse(error_code=code, error_message=code.message)
    # A feature that is named twice gets the last level.
    updates = {update.feature: update for update in request.feature_updates}
    try:
        async with broker.metadata.exclusive:
            for update in updates.values():
                _check(broker, context, update)
            if not request.validate_only:
                await broker.apply(
                    [
                        FeatureLevelRecord(name=name, feature_level=update.max_version_level)
                        for name, update in updates.items()
                        if _level(broker, name) != update.max_version_level
                    ]
                )
    except KafkaError as error:
        return UpdateFeaturesResponse(error_code=error.code, error_message=error.message)
    if context.version >= NO_RESULTS_VERSION:
        return UpdateFeaturesResponse(error_message=None)
    return UpdateFeaturesResponse(
        error_message=None,
        results=[UpdatableFeatureResult(feature=name, error_message=None) for name in updates],
    )


def _level(broker: Broker, name: str) -> int:
    return broker.metadata.image.features.get(name, 0)


def _check(broker: Broker, context: RequestContext, update: FeatureUpdateKey) -> None:
    name, level = update.feature, update.max_version_level
    supported = broker.metadata.supported_features.get(name)
    current = _level(broker, name)
    kind = update.upgrade_type if context.version >= UPGRADE_TYPE_VERSION else UPGRADE
    if supported is None:
        raise _refused(f"{name} is not supported here; known is {', '.join(broker.metadata.supported_features)}")
    if not supported.low <= level <= supported.high:
        raise _refused(f"{name} cannot have level {level}; this broker supports {supported.low} to {supported.high}")
    if kind != UPGRADE and kind not in DOWNGRADES:
        raise _refused(f"upgrade type {kind} of {name} is unknown; 1 upgrades, 2 and 3 downgrade")
    if level < current and kind == UPGRADE:
        raise _refused(f"level {level} of {name} is lower than {current}, and an upgrade was asked for")
    if level > current and kind in DOWNGRADES:
        raise _refused(f"level {level} of {name} is higher than {current}, and a downgrade was asked for")


def _refused(reason: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_UPDATE_VERSION, f"no feature was updated: {reason}")
