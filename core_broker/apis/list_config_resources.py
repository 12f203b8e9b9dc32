"""ListConfigResources (key 74), versions 0 to 1: what has configurations. v0 lists client metrics subscriptions alone; v1 any type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from core_broker.context import RequestContext
from core_broker.metadata.image import ResourceType as ConfigOwner
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

ANY_TYPE_VERSION: Final = 1
ALL_TYPES: Final = (
    ConfigOwner.GROUP,
    ConfigOwner.CLIENT_METRICS,
    ConfigOwner.BROKER_LOGGER,
    ConfigOwner.BROKER,
    ConfigOwner.TOPIC,
)


def handle(broker: Broker, context: RequestContext, request: ListConfigResourcesRequest) -> ListConfigResourcesResponse:
    if not broker.authorizer.allows(context, Operation.DESCRIBE_CONFIGS, ResourceType.CLUSTER, CLUSTER_NAME):
        return ListConfigResourcesResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    wanted = list(dict.fromkeys(request.resource_types)) or list(ALL_TYPES)
    if context.version < ANY_TYPE_VERSION:
        wanted = [ConfigOwner.CLIENT_METRICS]
    if any(owner_type not in ALL_TYPES for owner_type in wanted):
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    return ListConfigResourcesResponse(
        config_resources=[
            ConfigResource(resource_name=name, resource_type=owner_type)
            for owner_type in wanted
            for name in _names(broker, owner_type)
        ]
    )


def _names(broker: Broker, owner_type: int) -> list[str]:
    image = broker.metadata.image
    if owner_type == ConfigOwner.TOPIC:
        return list(image.topics)
    if owner_type in (ConfigOwner.BROKER, ConfigOwner.BROKER_LOGGER):
        return [str(broker.node_id)]
    return [resource.name for resource in image.configs if resource.type == owner_type]
