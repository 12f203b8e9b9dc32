"""Which operations a client may perform on a resource, as the bits that some answers carry on request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from core_broker.context import RequestContext
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

NOT_ASKED: Final = -(1 << 31)

_TOPIC_OPERATIONS: Final = (
    Operation.READ,
    Operation.WRITE,
    Operation.CREATE,
    Operation.DELETE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)
_CLUSTER_OPERATIONS: Final = (
    Operation.CREATE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.CLUSTER_ACTION,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
    Operation.IDEMPOTENT_WRITE,
)
_GROUP_OPERATIONS: Final = (
    Operation.READ,
    Operation.DELETE,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)


def topic_operations(broker: Broker, context: RequestContext, topic: str) -> int:
    return _allowed(broker, context, _TOPIC_OPERATIONS, ResourceType.TOPIC, topic)


def cluster_operations(broker: Broker, context: RequestContext) -> int:
    return _allowed(broker, context, _CLUSTER_OPERATIONS, ResourceType.CLUSTER, CLUSTER_NAME)


def group_operations(broker: Broker, context: RequestContext, group_id: str) -> int:
    return _allowed(broker, context, _GROUP_OPERATIONS, ResourceType.GROUP, group_id)


def _allowed(
    broker: Broker, context: RequestContext, operations: Sequence[Operation], resource: ResourceType, name: str
) -> int:
    allows = broker.authorizer.allows
    return sum(1 << operation for operation in operations if allows(context, operation, resource, name))
