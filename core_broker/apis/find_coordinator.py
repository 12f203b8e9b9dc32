"""FindCoordinator (key 10), versions 0 to 6: which broker coordinates a group or a transaction. It is always this one.

v1 key types; v3 flexible; v4 several keys; v6 share groups, which are not served.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from core_broker.context import RequestContext
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

GROUP: Final = 0
TRANSACTION: Final = 1
SHARE: Final = 2
SEVERAL_KEYS_VERSION: Final = 4
SHARE_VERSION: Final = 6
NO_NODE: Final = -1


async def handle(broker: Broker, context: RequestContext, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    if context.version < SEVERAL_KEYS_VERSION:
        found = await _find(broker, context, request.key_type, request.key)
        return FindCoordinatorResponse(
            error_code=found.error_code,
            error_message=found.error_message,
            node_id=found.node_id,
            host=found.host,
            port=found.port,
        )
    return FindCoordinatorResponse(
        coordinators=[await _find(broker, context, request.key_type, key) for key in request.coordinator_keys]
    )


async def _find(broker: Broker, context: RequestContext, key_type: int, key: str) -> Coordinator:
    try:
        _check(broker, context, key_type, key)
        await (broker.groups.topic if key_type == GROUP else broker.transactions.topic).ensure()
    except KafkaError as error:
        return Coordinator(
            key=key, node_id=NO_NODE, host="", port=NO_NODE, error_code=error.code, error_message=error.message
        )
    listener = context.listener
    return Coordinator(
        key=key,
        node_id=broker.node_id,
        host=listener.advertised_host,
        port=listener.advertised_port,
        error_code=ErrorCode.NONE,
        error_message="",
    )


def _check(broker: Broker, context: RequestContext, key_type: int, key: str) -> None:
    allows = broker.authorizer.allows
    if key_type == GROUP:
        if not allows(context, Operation.DESCRIBE, ResourceType.GROUP, key):
            raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    elif key_type == TRANSACTION:
        if not allows(context, Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, key):
            raise KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    elif key_type == SHARE and context.version >= SHARE_VERSION:
        if not allows(context, Operation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME):
            raise KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, "this broker does not serve share groups")
    else:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"key type {key_type} is unknown in version {context.version}; 0 is a group, 1 a transactional id, 2 a share group",
        )
