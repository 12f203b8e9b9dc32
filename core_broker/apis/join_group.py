"""JoinGroup (key 11), versions 0 to 9.

v1 rebalance time-out; v4 clients join with the id that they are given (KIP-394); v5 static members; v6 flexible; v7 protocol type;
v8 reasons; v9 a leader may be told to leave the assignment as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from core_broker.context import RequestContext
from core_broker.coordinators.groups.caller import Caller
from core_broker.deferred import Deferred
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

REBALANCE_TIMEOUT_VERSION: Final = 1
NULLABLE_PROTOCOL_VERSION: Final = 7


def handle(
    broker: Broker, context: RequestContext, request: JoinGroupRequest
) -> JoinGroupResponse | Deferred[JoinGroupResponse]:
    version = context.version
    if version < REBALANCE_TIMEOUT_VERSION:
        request.rebalance_timeout_ms = request.session_timeout_ms
    try:
        if not broker.authorizer.allows(context, Operation.READ, ResourceType.GROUP, request.group_id):
            raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        state = broker.groups.shard_of(request.group_id).state
    except KafkaError as error:
        member_id = request.member_id if error.code == ErrorCode.INVALID_GROUP_ID else ""
        return _fit(JoinGroupResponse(member_id=member_id, error_code=error.code), version)
    # Kafka writes a client's address as Java prints it, and so do the records.
    caller = Caller(context.client_id or "", f"/{context.host}", version, context.members)
    deferred: Deferred[JoinGroupResponse] = Deferred()
    state.classic.join(caller, request, lambda response: deferred.resolve(_fit(response, version)))
    return deferred


def _fit(response: JoinGroupResponse, version: int) -> JoinGroupResponse:
    """No protocol is null where a version knows that, else an empty name."""
    response.protocol_name = response.protocol_name or (None if version >= NULLABLE_PROTOCOL_VERSION else "")
    return response
