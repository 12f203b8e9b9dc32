"""Who may read and change configurations: the owner decides which permission that takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.context import RequestContext
from core_broker.metadata.image import ResourceType as ConfigOwner
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker


def check_access(broker: Broker, context: RequestContext, operation: Operation, owner_type: int, name: str) -> None:
    """KafkaError if the client may not do this; an owner of unknown type is refused elsewhere."""
    match owner_type:
        case ConfigOwner.TOPIC:
            resource, target, code = ResourceType.TOPIC, name, ErrorCode.TOPIC_AUTHORIZATION_FAILED
        case ConfigOwner.GROUP:
            resource, target, code = ResourceType.GROUP, name, ErrorCode.GROUP_AUTHORIZATION_FAILED
        case _:
            resource, target, code = ResourceType.CLUSTER, CLUSTER_NAME, ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    if not broker.authorizer.allows(context, operation, resource, target):
        raise KafkaError(code)
